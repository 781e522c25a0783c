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
        say(&format!("{clear}{}", message(&kept)));
        std::process::exit(INTERRUPTED);
    });
}

/// What is said, with what is kept of every target.
fn message(kept: &[String]) -> String {
    let kept: Vec<&str> = kept.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let colon = if kept.is_empty() { "" } else { ": " };
    format!("guardbit was interrupted{colon}{}", kept.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_named() {
        assert_eq!(message(&[]), "guardbit was interrupted");
        let kept = ["nothing was written to a", "", "b is unchanged"].map(String::from);
        assert_eq!(message(&kept), "guardbit was interrupted: nothing was written to a; b is unchanged");
    }
}
