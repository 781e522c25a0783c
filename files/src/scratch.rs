//! Temporary files and folders.

use std::io;
use std::path::{Path, PathBuf};

use crate::gate::{Open, Registered};
use crate::ops::{self, OutFile};

/// A temporary folder of the system, removed with its contents when it is dropped or when the process is interrupted,
/// unless it is kept.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    is_kept: bool,
    _registered: Registered,
}

impl Scratch {
    /// Creates a folder whose name starts with `prefix`.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let open = |path: &Path| {
            let path = path.to_owned();
            Open::new(move || drop(ops::remove_tree(&path)))
        };
        let (path, registered) = ops::create_unique_dir(&std::env::temp_dir(), prefix.as_ref(), 12, open)?;
        Ok(Self { path, is_kept: false, _registered: registered })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the folder with its contents to the user.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = ops::remove_tree(&self.path);
        }
    }
}

/// Creates a file in `folder` that has no name and vanishes when it is closed, however the process ends.
///
/// # Errors
/// Errors of the operating system.
pub fn nameless(folder: &Path) -> io::Result<OutFile> {
    ops::create_nameless(folder)
}
