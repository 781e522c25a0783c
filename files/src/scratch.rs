//! Places for what is needed only for a while.

use std::io;
use std::path::{Path, PathBuf};

use crate::gate::{Open, Registered};
use crate::ops::{self, OutFile};

/// A folder among the system's temporary files, removed with all that is in it when it is dropped, or when the process
/// is interrupted.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _registered: Registered,
}

impl Scratch {
    /// A new folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let open = |path: &Path| Open::Scratch(path.into());
        let (path, registered) = ops::create_unique_dir(&std::env::temp_dir(), prefix.as_ref(), 12, open)?;
        Ok(Self { path, _registered: registered })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = ops::remove_tree(&self.path);
    }
}

/// A file in `folder` that cannot be seen there, and is gone when it is closed, however the process ends.
///
/// # Errors
/// Those of the operating system.
pub fn nameless(folder: &Path) -> io::Result<OutFile> {
    ops::create_nameless(folder)
}
