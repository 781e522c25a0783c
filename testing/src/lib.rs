//! What the tests of every crate share: how many cases they run, and folders that several of them read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns how many cases a property test runs.
///
/// `full` with `GUARDBIT_TESTS=all` in the environment (`scripts/test --all` sets it), otherwise a quarter of it, but not
/// fewer than 12: cases differ from run to run, so that many short runs find what a long one does. `PROPTEST_CASES`, a
/// number, comes before both.
pub fn cases(full: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(if is_full() { full } else { full.min((full / 4).max(12)) })
}

/// Whether every case of every grid is to be run: `GUARDBIT_TESTS=all`, which `scripts/test --all` sets.
pub fn is_full() -> bool {
    std::env::var_os("GUARDBIT_TESTS").is_some_and(|tests| tests == "all")
}

/// Returns a folder of that name which `make` has filled once for all tests of a run that ask for it: other tests wait
/// meanwhile. A run is one of nextest; without it each process makes its own.
///
/// # Panics
/// If `make` does, or the folder cannot be made.
pub fn shared(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| format!("process-{}", std::process::id()));
    let all = std::env::temp_dir().join("guardbit-tests");
    let folder = all.join(&run).join(name);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    remove_old(&all);
    // Unlocked when it is dropped, whatever happens.
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

/// Removes what runs of yesterday have left.
fn remove_old(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let age = entry.metadata().ok().and_then(|of| of.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > Duration::from_secs(24 * 60 * 60)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
