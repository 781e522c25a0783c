//! Tests of reading paths that are not regular files, and files that are too large.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use guardbit_files::{open, read, read_text};

fn check(path: &Path, expected: ErrorKind) {
    assert_eq!(open(path).unwrap_err().kind(), expected, "{}", path.display());
    assert_eq!(read(path, 10).unwrap_err().kind(), expected, "{}", path.display());
}

#[test]
fn only_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    check(&pipe, ErrorKind::InvalidInput);
    check(Path::new("/dev/zero"), ErrorKind::InvalidInput);
    check(dir.path(), ErrorKind::IsADirectory);
    check(&dir.path().join("absent"), ErrorKind::NotFound);
}

#[test]
fn a_limit_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "0123456789").unwrap();
    assert_eq!(read(&path, 10).unwrap(), b"0123456789");
    let error = read(&path, 9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(error.to_string(), "has 10 bytes; expected at most 9");
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "\u{feff}schema: 1").unwrap();
    assert_eq!(read_text(&path, 100).unwrap(), "schema: 1");
    std::fs::write(&path, b"\xff").unwrap();
    assert_eq!(read_text(&path, 100).unwrap_err().kind(), ErrorKind::InvalidData);
}
