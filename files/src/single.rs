//! Results that consist of a single file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::gate::Registered;
use crate::lock::{self, Lock};
use crate::ops::MadeDir;
use crate::unfinished::{self, MARKER, RANDOM};
use crate::{Existing, FolderError, ops};

/// An output file, which exists only when it is complete. No other process writes to it as long as this value lives.
#[derive(Debug)]
pub struct SingleFile {
    path: PathBuf,
    existing: Existing,
    /// Dropped before `made`, because it lies in its folder.
    _lock: Lock,
    registered: Registered,
    _made: Made,
}

/// Folders made for the file. Removed when dropped, unless something is in them.
#[derive(Debug)]
struct Made(Vec<MadeDir>);

impl Drop for Made {
    fn drop(&mut self) {
        ops::remove_made(&self.0);
    }
}

impl SingleFile {
    /// Prepares a file at `path` and makes its folder if it is missing. Removes what killed processes left next to it.
    ///
    /// The file must not exist, or, with [`Existing::Replace`], `is_ours` must confirm that guardbit wrote it.
    ///
    /// # Errors
    /// [`FolderError::FileExists`] and [`FolderError::ForeignFile`]; [`FolderError::Busy`] without waiting if another
    /// process writes to it; and those of the operating system.
    pub fn new(
        path: &Path,
        existing: Existing,
        is_ours: impl Fn(&Path) -> bool,
    ) -> Result<Self, FolderError> {
        let parent = lock::parent(path);
        if path.is_dir() {
            return Err(refused(path, existing, false));
        }
        let made = Made(ops::create_dirs(parent).map_err(FolderError::write(parent))?);
        let kept = format!("nothing was written to {}", path.display());
        let (lock, registered) = Lock::take(path, path, &kept)?;
        unfinished::tidy_all(path)?;
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FolderError::read(path)(error)),
            Ok(found) => {
                let ours = found.is_file() && is_ours(path);
                if !ours || existing == Existing::Refuse {
                    return Err(refused(path, existing, ours));
                }
                registered.keeps(format!("{} is unchanged", path.display()));
            }
        }
        Ok(Self { path: path.into(), existing, _lock: lock, registered, _made: made })
    }

    /// Writes the file next to its place and puts it in place by one rename.
    ///
    /// # Errors
    /// [`FolderError::Write`], and [`FolderError::FileExists`] if another file took its place meanwhile.
    pub fn write(&self, bytes: &[u8]) -> Result<(), FolderError> {
        let parent = lock::parent(&self.path);
        let entry = |folder: &Path| unfinished::open(folder, &self.path);
        let (folder, _registered) = ops::create_unique_dir(parent, &lock::beside(&self.path), RANDOM, entry)
            .map_err(FolderError::write(parent))?;
        let _gone = Gone { folder: &folder, target: &self.path };
        self.place(&folder, bytes).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FolderError::FileExists { path: self.path.clone(), ours: false },
            _ => FolderError::write(&self.path)(error),
        })?;
        self.registered.keeps(format!("{} is complete", self.path.display()));
        Ok(())
    }

    fn place(&self, folder: &Path, bytes: &[u8]) -> io::Result<()> {
        ops::create_file(&folder.join(MARKER))?;
        let part = folder.join("part");
        let mut file = ops::create_file(&part)?;
        file.write_all(bytes)?;
        file.sync()?;
        match self.existing {
            Existing::Replace => ops::rename(&part, &self.path),
            Existing::Refuse => ops::rename_new(&part, &self.path),
        }
    }
}

/// Returns the error for an existing file that cannot be replaced.
fn refused(path: &Path, existing: Existing, ours: bool) -> FolderError {
    match existing {
        Existing::Refuse => FolderError::FileExists { path: path.into(), ours },
        Existing::Replace => FolderError::ForeignFile { path: path.into() },
    }
}

/// Removes a staging folder when dropped. The next run removes what cannot be removed now.
struct Gone<'a> {
    folder: &'a Path,
    target: &'a Path,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let _ = unfinished::tidy(self.folder, self.target);
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

    /// Folders on the way to a file appear with it, and only then.
    #[test]
    fn the_folder_of_a_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/out");
        let next = || SingleFile::new(&path, Existing::Refuse, |_| true).unwrap();
        drop(next());
        assert!(!folder.path().join("a").exists());
        next().write(b"own").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"own");
        let below_a_file = SingleFile::new(&path.join("c/out"), Existing::Refuse, |_| true).unwrap_err();
        assert!(matches!(below_a_file, FolderError::Write { .. }), "{below_a_file}");
    }

    #[test]
    fn a_file_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let next = || SingleFile::new(&path, Existing::Refuse, |_| true);
        let first = next().unwrap();
        assert!(matches!(next().unwrap_err(), FolderError::Busy { .. }));
        first.write(b"own").unwrap();
        assert!(matches!(next().unwrap_err(), FolderError::Busy { .. }));
        drop(first);
        assert!(matches!(next().unwrap_err(), FolderError::FileExists { ours: true, .. }));
        fs::remove_file(&path).unwrap();
        assert!(next().is_ok());
    }
}
