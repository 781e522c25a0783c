//! Records of points that wait while other points run.

use std::ops::Range;

use guardbit_files::FolderError;
use guardbit_reports::PointRecord;

use super::point_file;

/// Records as text, in one piece of memory. In their parsed form, their many small parts would lie between
/// the large temporary allocations of each point. The allocator could not reuse those, and memory would grow
/// by a quarter of a megabyte per point.
#[derive(Debug)]
pub(super) struct Records {
    text: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

impl Records {
    /// Creates a store for `count` records.
    pub fn new(count: usize) -> Self {
        Self { text: Vec::new(), places: vec![None; count] }
    }

    /// Stores a record.
    pub fn put(&mut self, index: usize, record: &PointRecord) -> Result<(), FolderError> {
        let start = self.text.len();
        serde_json::to_writer(&mut self.text, record).map_err(unreadable(index))?;
        self.places[index] = Some(start..self.text.len());
        Ok(())
    }

    /// Returns whether a record is stored.
    pub fn has(&self, index: usize) -> bool {
        self.places[index].is_some()
    }

    /// Returns all stored records, in order.
    pub fn all(self) -> Result<Vec<PointRecord>, FolderError> {
        let places = self.places.into_iter().enumerate().filter_map(|(index, place)| Some((index, place?)));
        places
            .map(|(index, place)| serde_json::from_slice(&self.text[place]).map_err(unreadable(index)))
            .collect()
    }
}

/// Returns the error of a record in memory that cannot be written or read, which does not happen.
fn unreadable(index: usize) -> impl Fn(serde_json::Error) -> FolderError {
    move |error| FolderError::Read { path: point_file(index).into(), source: error.into() }
}
