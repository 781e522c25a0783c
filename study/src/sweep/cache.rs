//! Points that any study can take from another: files in a folder, named by what they depend on.

use std::cell::Cell;
use std::path::Path;

use guardbit_files::{Store, read_text};
use guardbit_reports::PointRecord;

use super::plan::PlannedPoint;
use super::stored::{self, LIMIT, SCHEMA};
use crate::Progress;

/// A folder of points. Several processes may use it at once: a file is there as a whole or not at all, and no file is
/// ever changed.
#[derive(Debug)]
pub(super) struct Cache {
    store: Store,
    hits: Cell<usize>,
    /// Whether nothing could be added to it: it is only read then.
    is_closed: Cell<bool>,
}

impl Cache {
    /// The cache in a folder, which is made where it is not there. Points of each version of guardbit lie apart. A folder that
    /// cannot be used is noted: a sweep does without it.
    pub fn open(folder: &Path, progress: &dyn Progress) -> Option<Self> {
        let name = format!("guardbit-points-{SCHEMA}-{}", crate::TOOL.version);
        match Store::open(&folder.join(name)) {
            Ok(store) => Some(Self { store, hits: Cell::new(0), is_closed: Cell::new(false) }),
            Err(error) => {
                progress.note(&format!("warning: the cache is not used: {error}"));
                None
            }
        }
    }

    /// What there is of a point: its record, and the text that it stands in.
    pub fn found(&self, point: &PlannedPoint, progress: &dyn Progress) -> Option<(PointRecord, String)> {
        let path = self.store.path(&point.identity.to_string());
        let text = read_text(&path, LIMIT).ok()?;
        let Some(record) = stored::read(&text, point.identity, &point.point) else {
            progress.note(&format!("{}: is damaged and not used; remove it", path.display()));
            return None;
        };
        self.hits.set(self.hits.get() + 1);
        Some((record, text))
    }

    /// Adds a point. After the first one that cannot be added, which is noted, none is.
    pub fn add(&self, point: &PlannedPoint, text: &str, progress: &dyn Progress) {
        if self.is_closed.get() {
            return;
        }
        if let Err(error) = self.store.add(&point.identity.to_string(), text.as_bytes()) {
            self.is_closed.set(true);
            progress.note(&format!("warning: no more points are added to the cache: {error}"));
        }
    }

    /// How many points were found.
    pub fn hits(&self) -> usize {
        self.hits.get()
    }
}
