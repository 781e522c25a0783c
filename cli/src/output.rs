//! Prints results on stdout and remarks on stderr.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use serde::Serialize;

use crate::diagnostic::Failure;
use crate::printable::plain;
use crate::terminal::{has_colours, width};
use crate::wrap::wrapped;

/// Prints a line on stderr. Errors of stderr are ignored, because they cannot be reported.
pub fn say(text: &str) {
    let _ = stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints `text`. A reader that stops reading, e.g. `head`, is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    write(&if stdout().is_terminal() { plain(text) } else { text.into() })
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let help = "check the file or program that receives the output";
            Err(Failure::usage(format!("cannot write to stdout: {error}"), help))
        }
        _ => Ok(()),
    }
}

/// Prints the tables and figures of a result, and as the last line the sentence that answers its question.
pub fn print_results(tables: &[String], figures: &str, answer: &str) -> Result<(), Failure> {
    let bold = |text: &str| {
        if has_colours(&stdout()) { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    };
    let lines = |text: &str| if stdout().is_terminal() { wrapped(text, width()) } else { text.to_owned() };
    // Texts of files are made harmless before control characters are added.
    let safe = |text: &str| if stdout().is_terminal() { plain(text).into_owned() } else { text.to_owned() };
    let mut parts = Vec::new();
    for table in tables.iter().filter(|table| !table.is_empty()) {
        let table = safe(table);
        let (head, rows) = table.split_once('\n').unwrap_or((&table, ""));
        parts.push(format!("{}\n{rows}", bold(head)));
    }
    parts.push(lines(&safe(figures)));
    parts.push(if answer.is_empty() { String::new() } else { bold(&lines(&safe(answer))) + "\n" });
    parts.retain(|part| !part.is_empty());
    write(&parts.join("\n"))
}

/// Prints `value` as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    let fault = "this is a fault of guardbit: please report it with the command";
    let text = text.map_err(|error| Failure::usage(format!("cannot write JSON: {error}"), fault))?;
    print(&(text + "\n"))
}
