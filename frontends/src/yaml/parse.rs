//! Parsing of a text to the file type, with rewording of the YAML library's messages.

use guardbit_graph::brief;

use super::aliases;
use super::error::{Kind, YamlError};
use super::file::GraphFile;
use crate::Location;

/// Parses the text. Only types are checked.
pub(super) fn parse(text: &str) -> Result<GraphFile, YamlError> {
    guardbit_documents::check_nesting(text).map_err(|error| YamlError {
        kind: Kind::Syntax,
        problem: error.to_string(),
        help: error.help().map(String::from),
        location: Some(Location { line: error.line, column: error.column }),
    })?;
    aliases::check(text)?;
    serde_yaml::from_str(text).map_err(|error| explain(&error))
}

fn explain(error: &serde_yaml::Error) -> YamlError {
    let location = error.location().map(Location::from);
    let message = error.to_string();
    let place = location.map_or_else(String::new, |at| format!(" at line {} column {}", at.line, at.column));
    let message = message.replacen(&place, "", 1);
    let (path, message) = split_path(&message);
    let (kind, problem, help) = words(path, &brief(message));
    YamlError { kind, problem: brief(&problem).into(), help: help.map(|help| brief(&help).into()), location }
}

/// Splits off the path that the library puts before its message. It is empty for the whole document.
fn split_path(message: &str) -> (&str, &str) {
    let is_path = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.[]".contains(c));
    match message.split_once(": ") {
        Some((path, rest)) if is_path(path) => (path, rest),
        _ => ("", message),
    }
}

/// Returns kind, problem and help for a message of the library.
fn words(path: &str, message: &str) -> (Kind, String, Option<String>) {
    let owner = if path.is_empty() { "the file".into() } else { format!("`{path}`") };
    let names: Vec<_> = message.split('`').skip(1).step_by(2).collect();
    if let (Some(key), true) = (names.first(), message.starts_with("unknown field")) {
        let help = format!("its keys are {}", names[1..].join(", "));
        return (Kind::UnknownKey, format!("{owner} has no key `{key}`"), Some(help));
    }
    if let (Some(key), true) = (names.first(), message.starts_with("missing field")) {
        let help = (*key == "schema").then(|| "begin with `schema: 1`".into());
        return (Kind::MissingKey, format!("{owner} lacks the key `{key}`"), help);
    }
    if let (Some(key), true) = (names.first(), message.starts_with("duplicate")) {
        return (Kind::DuplicateKey, format!("{owner} has the key `{key}` twice"), None);
    }
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = wrong.and_then(|rest| rest.split_once(", expected ")) {
        return (
            Kind::Value,
            format!("{owner} is {}; it must be {}", article(found), type_name(expected)),
            None,
        );
    }
    if let Some((_, expected)) =
        message.split_once("invalid length ").and_then(|(_, m)| m.split_once(", expected "))
    {
        return (Kind::Count, format!("{owner} must be {}", type_name(expected)), None);
    }
    if path.is_empty() {
        return (Kind::Syntax, format!("not YAML: {message}"), None);
    }
    (Kind::Value, format!("{owner}: {message}"), None)
}

fn article(found: &str) -> String {
    match found {
        "map" => "a map".into(),
        "sequence" => "a list".into(),
        "unit value" => "empty".into(),
        _ => format!("the {found}"),
    }
}

/// Returns a plain description of a Rust type.
fn type_name(expected: &str) -> String {
    match expected {
        "usize" | "u64" => "a whole number of at least 0".into(),
        "i32" => "an integer of 32 bits".into(),
        "i64" => "an integer".into(),
        "f32" => "a number".into(),
        "a string" => "a name".into(),
        "a sequence" => "a list".into(),
        "an array of length 2" => "a list of 2".into(),
        _ if expected.starts_with("struct ") => "a map".into(),
        _ => expected.into(),
    }
}
