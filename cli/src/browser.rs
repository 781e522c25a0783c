//! Opens a page in the user's browser.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The system's program that opens a file with the program for its kind.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Time for which the opener may fail; a browser itself may run as long as it likes.
const WAITED: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(50);

/// Opens a page.
///
/// # Errors
/// The reason why no browser was started.
pub fn open(page: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{OPENER}: {error}");
    // An absolute path is never taken for an option.
    let page = page.canonicalize().map_err(failed)?;
    let mut opener = Command::new(OPENER);
    opener.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut opener = opener.spawn().map_err(failed)?;
    for _ in 0..WAITED.as_millis() / STEP.as_millis() {
        match opener.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{OPENER} ended with {status}")),
            None => sleep(STEP),
        }
    }
    Ok(())
}
