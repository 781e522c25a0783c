//! One new file.

use std::io;
use std::path::Path;

use crate::gate::{self, Open};
use crate::{FolderError, ops};

/// Writes a file that is not there yet: whole, or not at all.
///
/// # Errors
/// [`FolderError::FileExists`] if something has its name, [`FolderError::Write`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => FolderError::FileExists { path: path.into() },
        _ => FolderError::Write { path: path.into(), source },
    };
    if path.symlink_metadata().is_ok() {
        return Err(FolderError::FileExists { path: path.into() });
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = ops::create_unique_dir(parent, ".guardbit-".as_ref(), 12).map_err(failed)?;
    let _registered = gate::register(Open::Scratch(folder.clone()));
    let part = folder.join("part");
    let written = ops::write_file(&part, bytes).and_then(|file| file.sync());
    let placed = written.and_then(|()| ops::rename_new(&part, path));
    // What cannot be removed is an empty folder.
    let _ = ops::remove_tree(&folder);
    placed.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_new_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        write_new(&path, b"first").unwrap();
        assert!(matches!(write_new(&path, b"second"), Err(FolderError::FileExists { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert!(matches!(write_new(&folder.path().join("no/net.onnx"), b""), Err(FolderError::Write { .. })));
        // Nothing else stays.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
