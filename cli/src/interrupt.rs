//! Signal handling: removes unfinished files and prints what was kept.

use std::io::{IsTerminal, stderr};

use crate::output::say;

/// Exit code of a process that SIGINT ended, by convention of shells.
const INTERRUPTED: i32 = 130;

/// Catches SIGINT, SIGTERM and SIGHUP, unless one of them is already ignored (by `nohup`, or in a background
/// job of a shell). In that case all of them keep their behaviour.
pub fn install() {
    let _ = ctrlc::try_set_handler(|| {
        let kept = guardbit_files::interrupt();
        // Clear the line, which may show a progress bar.
        let clear = if stderr().is_terminal() { "\r\x1b[2K" } else { "" };
        say(&format!("{clear}{}", message(&kept)));
        std::process::exit(INTERRUPTED);
    });
}

/// Returns the message, which states what was kept of every target.
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
