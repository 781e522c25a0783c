//! Parses text into the typed file, and interprets the YAML library's errors.

use std::sync::Arc;

use super::FilePlace;
use super::KeyPath;
use super::locate::{level_names, locate_second};
use super::problem::{HwError, Origin, Problem};
use super::typed;
use crate::file::AcceleratorFile;

/// Greatest size of a file in bytes.
pub(super) const MOST_BYTES: u64 = 1 << 20;

const PLAINER: &str = "write maps and lists with one entry per line";

/// Parses the text of a file.
pub(super) fn parse(text: &Arc<str>, name: &str) -> Result<AcceleratorFile, HwError> {
    if text.len() as u64 > MOST_BYTES {
        let message = format!("{name}: the text has {} bytes; expected at most {MOST_BYTES}", text.len());
        return Err(not_yaml(message, "is it an accelerator file?", Origin::Nowhere).into());
    }
    if let Err(error) = guardbit_documents::check_nesting(text) {
        let origin = Origin::File(FilePlace::new(name, text, error.line, error.column));
        let message = format!("the text is nested too deeply: {error}");
        return Err(not_yaml(message, error.help().unwrap_or(PLAINER), origin).into());
    }
    serde_yaml::from_str(text).map_err(|error| problem(text, name, &error).into())
}

fn problem(text: &Arc<str>, name: &str, error: &serde_yaml::Error) -> Problem {
    let message = error.to_string();
    let help = "the text is not YAML";
    let Some(at) = error.location() else { return not_yaml(message, help, Origin::Nowhere) };
    let origin = |line, column| Origin::File(FilePlace::new(name, text, line, column));
    let Some((path, message)) = value_message(&message, at.line(), at.column()) else {
        return not_yaml(message, help, origin(at.line(), at.column()));
    };
    let path = KeyPath::indexed(path).named("accumulation", &level_names(text));
    let repeated = typed::duplicate_field(message).map(|field| path.join(field));
    if let Some((line, column)) = repeated.as_ref().and_then(|key| locate_second(text, key)) {
        return typed::explain(message, &path, origin(line, column));
    }
    // For an unknown key the library names the containing map.
    let path = typed::unknown_field(message).map_or(path.clone(), |(field, _)| path.join(field));
    typed::explain(message, &path, origin(at.line(), at.column()))
}

fn not_yaml(message: String, help: &str, origin: Origin) -> Problem {
    Problem { code: "guardbit::hw::yaml", key: None, message, help: Some(help.into()), origin }
}

/// Splits the library's message about a value into path and message: `path: message at line L column C`.
///
/// The path is omitted for the whole file, and the position if it is the start. A syntax error has another
/// form.
fn value_message(message: &str, line: usize, column: usize) -> Option<(&str, &str)> {
    let place = format!(" at line {line} column {column}");
    let without_place = Some(message).filter(|message| !message.contains(" at line "));
    let message = message.strip_suffix(&place).or(without_place)?;
    let is_path = |path: &str| !path.contains([' ', '`', '"']);
    Some(message.split_once(": ").filter(|(path, _)| is_path(path)).unwrap_or((".", message)))
}
