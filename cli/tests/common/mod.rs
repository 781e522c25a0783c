//! Helpers that run the real binary.
#![allow(dead_code)]

pub mod bundles;
pub mod sources;
pub mod writers;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use ndarray::{ArrayD, IxDyn, OwnedRepr};
use ndarray_npy::NpzReader;

/// Returns the project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

pub fn digits(file: &str) -> String {
    root().join("examples/digits").join(file).to_string_lossy().into_owned()
}

/// Returns a file of the shared models; `None`, with a message, if they are absent.
pub fn shared_model(file: &str) -> Option<String> {
    let path = root().join("../shared/models").join(file);
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    }
    Some(path.to_string_lossy().into_owned())
}

/// Returns the value of an environment variable that names a required tool; tests that need it are ignored by
/// default.
pub fn needed(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set; see scripts/test"))
}

pub fn guardbit(args: &[&str]) -> Output {
    Command::cargo_bin("guardbit").unwrap().args(args).output().unwrap()
}

/// Runs the binary; it must succeed. Returns stdout.
pub fn succeed(args: &[&str]) -> String {
    let output = guardbit(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "guardbit {args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns every array of an archive of int8 arrays.
pub fn int8_arrays(path: &Path) -> Vec<(String, ArrayD<i8>)> {
    let mut archive = NpzReader::new(File::open(path).unwrap()).unwrap();
    let names = archive.names().unwrap();
    names.into_iter().map(|name| (name.clone(), int8_array(&mut archive, &name))).collect()
}

pub fn int8_array(archive: &mut NpzReader<File>, name: &str) -> ArrayD<i8> {
    let array = archive.by_name::<OwnedRepr<i8>, IxDyn>(name);
    array.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Cells of a row of a table, by column.
pub type Row = BTreeMap<String, String>;

/// Returns the rows of a CSV file, in order.
pub fn csv_rows(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Returns every file below `folder` with its bytes.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                // Reading a pipe would block forever.
                let bytes = if entry.path().is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
                files.insert(name, bytes);
            }
        }
    }
    files
}

/// Checks that both folders have equal files.
pub fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (contents(a), contents(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(bytes == &b[name], "{name} differs");
    }
}
