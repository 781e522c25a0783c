//! A store of files named by a hash of their inputs.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::{Existing, FolderError, SingleFile, ops};

/// Waiting time for another process that writes an equal file: ten seconds in total.
const TURNS: u32 = 1000;
const TURN: Duration = Duration::from_millis(10);

/// A folder of files that several processes fill at once. A file is complete or absent, and never changes.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the store in a folder, and creates the folder if necessary.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn open(folder: &Path) -> Result<Self, FolderError> {
        make(folder)?;
        Ok(Self { folder: folder.into() })
    }

    /// Returns the path for a key, whether the file exists or not. A key is a word of hexadecimal digits.
    pub fn path(&self, key: &str) -> PathBuf {
        // Keeps the number of files per folder small, because some file systems are slow with many.
        self.folder.join(key.get(..2).unwrap_or_default()).join(format!("{key}.json"))
    }

    /// Adds the file of a key, unless it exists.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn add(&self, key: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.path(key);
        make(path.parent().unwrap_or(&self.folder))?;
        let add = || SingleFile::new(&path, Existing::Refuse, |_| true).and_then(|file| file.write(bytes));
        let mut added = add();
        for _ in 0..TURNS {
            match added {
                // An existing file of this name has equal content.
                Err(FolderError::FileExists { .. }) => return Ok(()),
                // Another process is writing an equal file.
                Err(FolderError::Busy { .. }) => thread::sleep(TURN),
                other => return other,
            }
            added = add();
        }
        added
    }
}

/// Creates a folder. Another process may do so at the same time.
fn make(folder: &Path) -> Result<(), FolderError> {
    match ops::create_dirs(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(FolderError::write(folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Many writers at once: each file is complete, and the first version of a file stays.
    #[test]
    fn writers_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/store");
        let key = |i: usize| format!("{:02x}{:062x}", i % 3, i % 7);
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let (path, key) = (&path, &key);
                scope.spawn(move || {
                    let store = Store::open(path).unwrap();
                    for i in 0..20 {
                        store.add(&key(i), &vec![b'a' + writer; 1 << 12]).unwrap();
                        let found = fs::read(store.path(&key(i))).unwrap();
                        assert!(found.len() == 1 << 12 && found.iter().all(|&byte| byte == found[0]));
                    }
                });
            }
        });
        let store = Store::open(&path).unwrap();
        let before = fs::read(store.path(&key(0))).unwrap();
        store.add(&key(0), b"new").unwrap();
        assert_eq!(fs::read(store.path(&key(0))).unwrap(), before);
        for sub in fs::read_dir(&path).unwrap() {
            let names = fs::read_dir(sub.unwrap().path()).unwrap().map(|file| file.unwrap().file_name());
            assert!(
                names.into_iter().all(|name| name.to_string_lossy().ends_with(".json")),
                "nothing else is left"
            );
        }
    }
}
