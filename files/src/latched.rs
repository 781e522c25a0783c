//! A writer that keeps its first error until the end.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use crate::ops::OutFile;

/// A file that keeps its first error until the end and discards everything written after it.
///
/// The writer of an archive seeks back and forth to complete it, even when it is dropped. The crate `zip` panics if
/// the file is shorter than expected.
#[derive(Debug)]
pub struct Latched {
    file: BufWriter<OutFile>,
    at: u64,
    end: u64,
    error: Option<io::Error>,
}

impl Latched {
    pub(crate) fn new(file: OutFile) -> Self {
        Self { file: BufWriter::new(file), at: 0, end: 0, error: None }
    }

    /// Completes the file. Returns the first error, if any.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.attempt(|file| file.flush());
        self.error.map_or(Ok(()), Err)
    }

    fn attempt(&mut self, act: impl FnOnce(&mut BufWriter<OutFile>) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = act(&mut self.file).err();
        }
    }
}

impl Write for Latched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|file| file.write_all(bytes));
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(|file| file.flush());
        Ok(())
    }
}

impl Seek for Latched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        let at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the file"))?;
        self.attempt(|file| file.seek(SeekFrom::Start(at)).map(drop));
        self.at = at;
        Ok(at)
    }
}
