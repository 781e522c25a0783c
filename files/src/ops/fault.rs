//! Faults for tests. They exist only in builds with debug assertions.
//!
//! The environment variable `GUARDBIT_FAULT` is a comma-separated list of
//! - `fail:N`: operation N (from 1) does nothing, or half of a write, and returns an error;
//! - `kill:N`: the process ends there without any clean-up;
//! - `signal:N`: the process behaves as after a signal as soon as operation N is done;
//! - `pause:N`: the process stops there, but still receives signals;
//! - `until:FILE`: a stopped process continues as soon as FILE exists;
//! - `plain-renames`: renames behave as on a file system without `renameat2`;
//! - `log:FILE`: each operation appends a line to FILE.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug, Default)]
struct Faults {
    fail: Option<u64>,
    kill: Option<u64>,
    signal: Option<u64>,
    pause: Option<u64>,
    until: Option<PathBuf>,
    plain_renames: bool,
    log: Option<File>,
    reached: AtomicU64,
}

fn faults() -> Option<&'static Faults> {
    static FAULTS: OnceLock<Option<Faults>> = OnceLock::new();
    let read = || std::env::var("GUARDBIT_FAULT").ok().map(|text| parse(&text));
    FAULTS.get_or_init(read).as_ref()
}

fn parse(text: &str) -> Faults {
    let mut faults = Faults::default();
    for fault in text.split(',') {
        let (name, value) = fault.split_once(':').unwrap_or((fault, ""));
        match name {
            "fail" => faults.fail = value.parse().ok(),
            "kill" => faults.kill = value.parse().ok(),
            "signal" => faults.signal = value.parse().ok(),
            "pause" => faults.pause = value.parse().ok(),
            "until" => faults.until = Some(value.into()),
            "plain-renames" => faults.plain_renames = true,
            "log" => faults.log = OpenOptions::new().append(true).create(true).open(value).ok(),
            _ => {}
        }
    }
    faults
}

/// Returns whether renames must not use flags.
pub(super) fn plain_renames() -> bool {
    faults().is_some_and(|faults| faults.plain_renames)
}

thread_local! {
    /// The number of this thread's last operation.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// Called after every operation.
pub(super) fn done() {
    if faults().is_some_and(|faults| faults.signal == Some(OWN.get())) {
        // The clean-up's own operations must not trigger the fault again.
        OWN.set(0);
        crate::gate::interrupt();
        std::process::exit(130);
    }
}

/// Counts an operation. `half` performs a part of it if it is to fail.
pub(super) fn reach(name: &str, path: &Path, half: impl FnOnce()) -> io::Result<()> {
    let Some(faults) = faults() else { return Ok(()) };
    let number = faults.reached.fetch_add(1, Ordering::SeqCst) + 1;
    OWN.set(number);
    if let Some(mut log) = faults.log.as_ref() {
        let _ = log.write_all(format!("{number} {name} {}\n", path.display()).as_bytes());
    }
    while faults.pause == Some(number) && !faults.until.as_ref().is_some_and(|file| file.exists()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    if faults.kill == Some(number) {
        half();
        std::process::abort();
    }
    if faults.fail == Some(number) {
        half();
        return Err(io::Error::new(io::ErrorKind::StorageFull, "a fault made by a test"));
    }
    Ok(())
}
