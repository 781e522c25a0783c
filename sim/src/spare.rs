//! Memory that is used again: what a layer makes is as large as what another one made before.

use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that nobody reads any more.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    buffers: Mutex<Vec<Vec<i32>>>,
}

impl Spare {
    /// Buffers that are kept, at most.
    const LIMIT: usize = 128;

    /// A buffer of `length` numbers of any value, all of which are to be written.
    pub fn take(&self, length: usize) -> Vec<i32> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Vec<i32>| buffer.capacity() >= length;
        let best = (0..buffers.len()).filter(|&i| fits(&buffers[i])).min_by_key(|&i| buffers[i].capacity());
        let Some(best) = best else { return vec![0; length] };
        let mut buffer = buffers.swap_remove(best);
        drop(buffers);
        buffer.resize(length, 0);
        buffer
    }

    /// Takes back the codes of a tensor, if nobody else has them.
    pub fn give(&self, codes: Option<Arc<Vec<i32>>>) {
        let Some(buffer) = codes.and_then(Arc::into_inner) else { return };
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < Self::LIMIT {
            buffers.push(buffer);
        }
    }
}
