//! Points that any study can take from another: files in a folder, named by what they depend on.

use std::cell::Cell;
use std::path::Path;

use guardbit_files::{FolderError, Store, read_text};
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
}

impl Cache {
    /// The cache in a folder, which is made where it is not there. Points of each version of guardbit lie apart.
    pub fn open(folder: &Path) -> Result<Self, FolderError> {
        let name = format!("guardbit-points-{SCHEMA}-{}", crate::TOOL.version);
        Ok(Self { store: Store::open(&folder.join(name))?, hits: Cell::new(0) })
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

    /// Adds a point.
    pub fn add(&self, point: &PlannedPoint, text: &str) -> Result<(), FolderError> {
        self.store.add(&point.identity.to_string(), text.as_bytes())
    }

    /// How many points were found.
    pub fn hits(&self) -> usize {
        self.hits.get()
    }
}
