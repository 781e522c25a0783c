//! What is wrong with a document, in plain words. The YAML library's messages are interpreted here and nowhere else.

use std::borrow::Cow;
use std::fmt;

use serde::de;

use crate::{FilePlace, Path, Step};

/// Reason why a document is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub wrong: Wrong,
    /// Path of the value, or of the key that is unknown, missing or doubled.
    pub path: Path,
    /// Place of the value, if known.
    pub place: Option<Box<FilePlace>>,
    /// Name of the kind of document.
    pub(crate) owner: &'static str,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// The text is not YAML, or exceeds a limit.
    Text {
        /// The problem.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// A key does not exist.
    UnknownKey {
        /// Keys that exist.
        known: Vec<String>,
    },
    /// A required key is missing.
    MissingKey,
    /// A key occurs twice.
    DoubledKey,
    /// A value has the wrong type.
    Type {
        /// The value.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// A list has the wrong length.
    Length {
        /// What is allowed.
        expected: String,
    },
    /// A value is wrong for another reason. The text follows the path.
    Value(String),
}

/// Greatest length in characters of a quotation from a document.
const QUOTED: usize = 400;

/// Least similarity of a suggestion, from 0 (nothing in common) to 1 (equal).
const LEAST_LIKENESS: f64 = 0.6;

/// Greatest length in bytes of a key that is compared with others.
const COMPARED: usize = 64;

impl Fault {
    /// Returns the fault for a message of the YAML library about a value at `path` that is not part of a text.
    pub fn of_message(owner: &'static str, message: &str, path: Path) -> Self {
        let (path, wrong) = of_message(message, path);
        Self { wrong, path, place: None, owner }
    }

    /// Returns what is wrong, without the place.
    pub fn message(&self) -> String {
        let path = match self.path.to_string() {
            path if path.is_empty() => "the file".into(),
            path => format!("`{}`", brief(&path)),
        };
        match &self.wrong {
            Wrong::Text { message, .. } => brief(message).into(),
            Wrong::UnknownKey { .. } => format!("unknown key {path}"),
            Wrong::MissingKey => format!("missing key {path}"),
            Wrong::DoubledKey => format!("duplicate key {path}"),
            Wrong::Type { found, expected } => format!("{path} is {found}; it must be {expected}"),
            Wrong::Length { expected } => format!("{path} must be {expected}"),
            Wrong::Value(message) => format!("{path}{}", brief(message)),
        }
    }

    /// Returns what to do, if the message does not say it.
    pub fn help(&self) -> Option<String> {
        match &self.wrong {
            Wrong::Text { help, .. } => help.clone(),
            Wrong::UnknownKey { known } => self.known_keys(known),
            Wrong::MissingKey if self.path == Path::keys(&["schema"]) => {
                Some("begin with `schema: 1`".into())
            }
            Wrong::DoubledKey => Some("keep one of the two".into()),
            _ => None,
        }
    }

    /// Returns what is wrong with line and column, for a message that names the file itself.
    pub fn in_file(&self) -> String {
        match &self.place {
            Some(place) => format!("{} at line {} column {}", self.message(), place.line, place.column),
            None => self.message(),
        }
    }

    fn known_keys(&self, known: &[String]) -> Option<String> {
        let (last, parent) = self.path.steps().split_last()?;
        let owner = match parent {
            [] => self.owner.into(),
            _ => format!("`{}`", brief(&self.path.start(parent.len()).to_string())),
        };
        let keys = format!("he keys of {owner} are {}", known.join(", "));
        let Step::Key(key) = last else { return None };
        Some(match nearest(key, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? T{keys}"),
            None => format!("t{keys}"),
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.file, place.line, place.column)?;
        }
        f.write_str(&self.message())
    }
}

impl std::error::Error for Fault {}

/// Returns the name that is most similar to `key` in any case of letters, if one is similar enough.
pub fn nearest<'a>(key: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if key.len() > COMPARED {
        return None;
    }
    let key = key.to_lowercase();
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&key, &name.to_lowercase());
    let near = names.into_iter().map(|name| (likeness(name), name));
    let near = near.filter(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    near.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// Returns the text, or its beginning if it is long.
fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        None => text.into(),
        Some((end, _)) => format!("{}... ({} bytes in all)", &text[..end], text.len()).into(),
    }
}

/// Separates a key from the message of [`at_key`].
const KEY_END: char = '\0';

/// Returns an error about the value of `key` in the map that serde reads. It has the place of that value, while an error of
/// serde itself would have that of the map. `problem` can be such an error about a key of the value.
pub fn at_key<E: de::Error>(key: &str, problem: impl fmt::Display) -> E {
    E::custom(format_args!("{KEY_END}{key}{KEY_END}{problem}"))
}

/// Returns whether a message comes from [`at_key`].
pub(crate) fn is_at_key(message: &str) -> bool {
    message.starts_with(KEY_END)
}

/// Splits the library's message about a value into path and message: `path: message at line L column C`.
///
/// The library omits the path of the whole file, and the position if it is the start. Errors of syntax have another form.
pub(crate) fn value_message(message: &str, (line, column): (usize, usize)) -> Option<(&str, &str)> {
    let without_place = Some(message).filter(|message| !message.contains(" at line "));
    let message = message.strip_suffix(&position(line, column)).or(without_place)?;
    if SYNTAX.iter().any(|start| message.starts_with(start)) {
        return None;
    }
    let starts = STARTS.iter().filter_map(|start| message.find(start)).min();
    let split = match starts {
        Some(start) => message[..start].strip_suffix(": ").map(|path| (path, &message[start..])),
        None => message.split_once(": ").filter(|(path, _)| !path.contains([' ', '`', '"'])),
    };
    Some(split.unwrap_or((".", message)))
}

/// Starts of the library's messages about syntax that can have one position, like those about values.
const SYNTAX: [&str; 8] = [
    "mapping values are not allowed",
    "block ",
    "did not find ",
    "could not find ",
    "found ",
    "unknown anchor",
    "recursion limit",
    "repetition limit",
];

/// Starts of serde's own messages, and of [`at_key`].
const STARTS: [&str; 8] = [
    "invalid type: ",
    "invalid value: ",
    "invalid length ",
    "unknown field `",
    "unknown variant `",
    "missing field `",
    "duplicate field `",
    "\0",
];

fn position(line: usize, column: usize) -> String {
    format!(" at line {line} column {column}")
}

/// What to do about an error of syntax.
pub(crate) const NOT_YAML: &str = "check quotes, brackets and indentation";

/// Returns the message about an error of syntax.
pub(crate) fn not_yaml(message: &str, at: Option<(usize, usize)>) -> String {
    let position = at.map_or(String::new(), |(line, column)| position(line, column));
    format!("not YAML: {}", message.replacen(&position, "", 1))
}

/// Interprets a message about the value at `path`, and returns the path of the key or value that it is about.
pub(crate) fn of_message(message: &str, path: Path) -> (Path, Wrong) {
    if let Some((key, problem)) = message.strip_prefix(KEY_END).and_then(|rest| rest.split_once(KEY_END)) {
        return of_message(problem, path.join(key));
    }
    let variant = message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected "));
    if let Some((found, expected)) = variant {
        let expected = format!("one of {}", names(expected).join(", "));
        return (path, Wrong::Type { found: format!("`{}`", brief(found)), expected });
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "));
    if let Some((key, expected)) = unknown {
        return (path.join(key), Wrong::UnknownKey { known: names(expected) });
    }
    let quoted = |start: &str| message.strip_prefix(start)?.strip_suffix('`');
    if let Some(key) = quoted("missing field `") {
        return (path.join(key), Wrong::MissingKey);
    }
    if let Some(key) = quoted("duplicate field `") {
        return (path.join(key), Wrong::DoubledKey);
    }
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    // The found value comes first and may contain any text.
    if let Some((found, expected)) = wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        return (path, Wrong::Type { found: brief(&value(found)).into(), expected: expectation(expected) });
    }
    let length = message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "));
    if let Some((_, expected)) = length {
        return (path, Wrong::Length { expected: expectation(expected) });
    }
    (path, Wrong::Value(format!(": {message}")))
}

/// Returns the names in a message of serde, each of which is in backticks.
fn names(message: &str) -> Vec<String> {
    message.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// Returns a value that serde describes, e.g. `integer `3``, in plain words.
fn value(found: &str) -> String {
    match found {
        "map" => "a map".into(),
        "sequence" => "a list".into(),
        "unit value" => "empty".into(),
        _ => match (found.strip_prefix("string "), found.split_once('`')) {
            (Some(quoted), _) => quoted.into(),
            // The kind and the value, and for a large number a type: "integer `3`", "integer `3` as u128".
            (None, Some((_, value))) => value.split('`').next().unwrap_or_default().into(),
            (None, None) => found.into(),
        },
    }
}

/// Returns what serde expects, without names of Rust's types.
fn expectation(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0".into(),
        "i32" => "a whole number of 32 bits".into(),
        "a nonzero u64" | "a nonzero usize" => "a whole number of at least 1".into(),
        "i8" | "i16" | "i64" | "isize" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "text".into(),
        "a sequence" => "a list".into(),
        _ if expected.starts_with("struct ") => "a map of keys".into(),
        _ => match expected.strip_prefix("an array of length ") {
            Some(length) => format!("a list of {length}"),
            None => expected.into(),
        },
    }
}
