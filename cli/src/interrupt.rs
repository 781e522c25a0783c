//! The end by a signal: nothing unfinished stays, and it is said what is kept.

use std::io::{IsTerminal, stderr};

use crate::output::say;

/// Exit code of a process that SIGINT ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// Catches SIGINT, SIGTERM and SIGHUP, unless one of them is ignored already (by `nohup`, or in a
/// background job of a shell): then all of them act as ever.
pub fn install() {
    let _ = ctrlc::try_set_handler(|| {
        let kept = guardbit_files::interrupt();
        // A line with a progress bar may be on the screen.
        let clear = if stderr().is_terminal() { "\r\x1b[2K" } else { "" };
        let kept: String =
            kept.iter().filter(|text| !text.is_empty()).map(|text| format!(": {text}")).collect();
        say(&format!("{clear}guardbit was interrupted{kept}"));
        std::process::exit(INTERRUPTED);
    });
}
