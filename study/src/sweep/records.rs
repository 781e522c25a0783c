//! The records of points while others are run.

use std::ops::Range;

use guardbit_files::FolderError;
use guardbit_reports::PointRecord;

use super::point_file;

/// Records as text, in one piece of memory. As they are, their many small parts would lie between the large pieces that each point
/// takes for a moment: the allocator could not use those again, and memory would grow by a quarter of a megabyte per point.
#[derive(Debug)]
pub(super) struct Records {
    text: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

impl Records {
    /// None of `count` records.
    pub fn new(count: usize) -> Self {
        Self { text: Vec::new(), places: vec![None; count] }
    }

    /// Keeps a record.
    pub fn put(&mut self, index: usize, record: &PointRecord) -> Result<(), FolderError> {
        let start = self.text.len();
        serde_json::to_writer(&mut self.text, record).map_err(unreadable(index))?;
        self.places[index] = Some(start..self.text.len());
        Ok(())
    }

    /// Whether there is a record.
    pub fn has(&self, index: usize) -> bool {
        self.places[index].is_some()
    }

    /// All records that there are, in order.
    pub fn all(self) -> Result<Vec<PointRecord>, FolderError> {
        let places = self.places.into_iter().enumerate().filter_map(|(index, place)| Some((index, place?)));
        places
            .map(|(index, place)| serde_json::from_slice(&self.text[place]).map_err(unreadable(index)))
            .collect()
    }
}

/// What is written to memory is read again: neither fails.
fn unreadable(index: usize) -> impl Fn(serde_json::Error) -> FolderError {
    move |error| FolderError::Read { path: point_file(index).into(), source: error.into() }
}
