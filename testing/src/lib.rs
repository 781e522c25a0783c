//! Helpers shared by the tests of every crate: the number of cases, and folders that several tests read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the number of cases that a property test runs.
///
/// The number is `full` if the environment has `GUARDBIT_TESTS=all` (`scripts/test --all` sets it), and otherwise a
/// quarter of `full`, but at least 12 if `full` allows. Cases differ from run to run, so many short runs find what
/// one long run finds. The variable `PROPTEST_CASES`, a number, overrides both.
pub fn cases(full: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(if is_full() { full } else { full.min((full / 4).max(12)) })
}

/// Returns whether to run every case of every grid: `GUARDBIT_TESTS=all`, which `scripts/test --all` sets.
pub fn is_full() -> bool {
    std::env::var_os("GUARDBIT_TESTS").is_some_and(|tests| tests == "all")
}

/// Returns the folder `name`, which `make` fills once for all tests of a run. Other tests wait until it is full.
///
/// A run is one run of nextest. Without nextest, each process has its own folder.
///
/// # Panics
/// If `make` panics, or the folder cannot be created.
pub fn shared(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| format!("process-{}", std::process::id()));
    let all = std::env::temp_dir().join("guardbit-tests");
    let folder = all.join(&run).join(name);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    remove_old(&all);
    // The lock is released when it is dropped, also after a panic.
    let lock = File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let done = folder.with_extension("done");
    if !done.exists() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        make(&folder);
        File::create(done).unwrap();
    }
    folder
}

/// Removes folders of runs that are more than a day old.
fn remove_old(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let age = entry.metadata().ok().and_then(|of| of.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > Duration::from_secs(24 * 60 * 60)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
