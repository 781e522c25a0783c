//! Prints results on stdout and remarks on stderr.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use serde::Serialize;

use crate::diagnostic::Failure;
use crate::printable::plain;

/// Prints a line on stderr. Errors of stderr are ignored, because they cannot be reported.
pub fn say(text: &str) {
    let _ = stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints `text`. A reader that stops reading, e.g. `head`, is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let text = if out.is_terminal() { plain(text) } else { text.into() };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let help = "check the file or program that receives the output";
            Err(Failure::usage(format!("cannot write to stdout: {error}"), help))
        }
        _ => Ok(()),
    }
}

/// Prints `value` as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    let fault = "this is a fault of guardbit: please report it with the command";
    let text = text.map_err(|error| Failure::usage(format!("cannot write JSON: {error}"), fault))?;
    print(&(text + "\n"))
}
