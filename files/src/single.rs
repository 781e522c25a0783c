//! Results that are a single file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::gate::{self, Open};
use crate::{Existing, FolderError, lock, ops};

/// A file for results, which is there when it is complete.
#[derive(Debug)]
pub struct SingleFile {
    path: PathBuf,
    existing: Existing,
}

impl SingleFile {
    /// A file at `path`, whose folder has to be there: absent, or with [`Existing::Replace`] one that `is_ours` knows as
    /// guardbit's own.
    ///
    /// # Errors
    /// [`FolderError::FileExists`] and [`FolderError::ForeignFile`], and those of the operating system.
    pub fn new(
        path: &Path,
        existing: Existing,
        is_ours: impl Fn(&Path) -> bool,
    ) -> Result<Self, FolderError> {
        let parent = lock::parent(path);
        fs::metadata(parent).map_err(FolderError::write(parent))?;
        let ours = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(FolderError::read(path)(error)),
            Ok(found) => Some(found.is_file() && is_ours(path)),
        };
        match (ours, existing) {
            (None, _) | (Some(true), Existing::Replace) => Ok(Self { path: path.into(), existing }),
            (Some(ours), Existing::Refuse) => Err(FolderError::FileExists { path: path.into(), ours }),
            (Some(false), Existing::Replace) => Err(FolderError::ForeignFile { path: path.into() }),
        }
    }

    /// Writes it: under a hidden name first, then put in place by one rename.
    ///
    /// # Errors
    /// [`FolderError::Write`], and [`FolderError::FileExists`] if another process was faster.
    pub fn write(&self, bytes: &[u8]) -> Result<(), FolderError> {
        let parent = lock::parent(&self.path);
        let hidden = ops::create_unique_dir(parent, ".guardbit-file-".as_ref(), 12)
            .map_err(FolderError::write(parent))?;
        let _registered = gate::register(Open::Scratch(hidden.clone()));
        let _gone = Gone(&hidden);
        let made = hidden.join("file");
        let mut file = ops::create_file(&made).map_err(FolderError::write(&self.path))?;
        file.write_all(bytes).and_then(|()| file.sync()).map_err(FolderError::write(&self.path))?;
        let placed = match self.existing {
            Existing::Replace => ops::rename(&made, &self.path),
            Existing::Refuse => ops::rename_new(&made, &self.path),
        };
        placed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FolderError::FileExists { path: self.path.clone(), ours: false },
            _ => FolderError::write(&self.path)(error),
        })
    }
}

/// Removes the hidden folder whatever happens.
struct Gone<'a>(&'a Path);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let _ = ops::remove_tree(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(existing: Existing, before: Option<&str>) -> Result<String, FolderError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        if let Some(text) = before {
            fs::write(&path, text).unwrap();
        }
        let ours = |path: &Path| fs::read_to_string(path).unwrap().starts_with("own");
        let result = SingleFile::new(&path, existing, ours).and_then(|file| file.write(b"own new"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
        let text = fs::read_to_string(&path).unwrap();
        result.map(|()| text.clone()).inspect_err(|_| assert_eq!(Some(text.as_str()), before))
    }

    #[test]
    fn a_file_is_written_whole_and_replaces_only_its_own() {
        assert_eq!(check(Existing::Refuse, None).unwrap(), "own new");
        assert_eq!(check(Existing::Replace, Some("own old")).unwrap(), "own new");
        let refused = |existing, before| check(existing, Some(before)).unwrap_err();
        assert!(matches!(refused(Existing::Refuse, "own old"), FolderError::FileExists { ours: true, .. }));
        assert!(matches!(refused(Existing::Refuse, "other"), FolderError::FileExists { ours: false, .. }));
        assert!(matches!(refused(Existing::Replace, "other"), FolderError::ForeignFile { .. }));
    }
}
