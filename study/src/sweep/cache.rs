//! Cache of points shared by studies: files in a folder, named by what they depend on.

use std::cell::Cell;
use std::path::Path;

use guardbit_files::{Store, read_text};
use guardbit_reports::PointRecord;

use super::plan::PlannedPoint;
use super::stored::{self, SCHEMA};
use crate::Progress;
use crate::point_store::LIMIT;

/// Folder of points. Several processes may use it at once: files appear as a whole and never change.
#[derive(Debug)]
pub(super) struct Cache {
    store: Store,
    hits: Cell<usize>,
    /// Whether adding failed: then the cache is only read.
    is_closed: Cell<bool>,
}

impl Cache {
    /// Opens the cache in a folder, and creates the folder if needed. Each version of guardbit has its own
    /// subfolder. An unusable folder is noted, and the sweep runs without a cache.
    pub fn open(folder: &Path, progress: &dyn Progress) -> Option<Self> {
        let name = format!("guardbit-points-{SCHEMA}-{}", crate::TOOL.version);
        match Store::open(&folder.join(name)) {
            Ok(store) => Some(Self { store, hits: Cell::new(0), is_closed: Cell::new(false) }),
            Err(error) => {
                progress.note(&format!("warning: cannot use the cache: {error}"));
                None
            }
        }
    }

    /// Returns the record of a point, and its text, if it is stored.
    pub fn found(&self, point: &PlannedPoint, progress: &dyn Progress) -> Option<(PointRecord, String)> {
        let path = self.store.path(&point.identity.to_string());
        let text = read_text(&path, LIMIT).ok()?;
        let Some(stored) = stored::read(&text, point.identity) else {
            progress.note(&format!("{}: is damaged and ignored; remove it", path.display()));
            return None;
        };
        self.hits.set(self.hits.get() + 1);
        Some((stored.record(&point.point), text))
    }

    /// Adds a point. After the first failure, which is noted, nothing more is added.
    pub fn add(&self, point: &PlannedPoint, text: &str, progress: &dyn Progress) {
        if self.is_closed.get() {
            return;
        }
        if let Err(error) = self.store.add(&point.identity.to_string(), text.as_bytes()) {
            self.is_closed.set(true);
            progress.note(&format!("warning: cannot add more points to the cache: {error}"));
        }
    }

    /// Returns how many points were found.
    pub fn hits(&self) -> usize {
        self.hits.get()
    }
}
