//! Arguments as JSON, with the names of the command line.

use std::fmt::Display;
use std::str::FromStr;

use guardbit_study::{Arguments, Command, StudyError};

use crate::error::{Ended, Failure};

/// Reads the arguments of a command.
///
/// # Errors
/// Text that is not a JSON object of such arguments.
pub fn read(command: Command, json: &str) -> Result<Arguments, Failure> {
    let values = serde_json::from_str(json).map_err(|error| Failure::usage(error.to_string()))?;
    Arguments::of_json(command, &values).map_err(|misuse| Ended::from(StudyError::from(misuse)).failure())
}

/// Parses several words.
pub fn each<T: FromStr<Err: Display>>(what: &str, words: &[String]) -> Result<Vec<T>, Failure> {
    let one = |word: &String| word.parse().map_err(|error| Failure::usage(format!("{what}: {error}")));
    words.iter().map(one).collect()
}
