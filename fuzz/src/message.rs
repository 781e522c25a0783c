//! Checks that every error message must pass.

use std::fmt::Display;

/// Upper limit for the length of a helpful message, in bytes.
const LONGEST: usize = 8 << 10;

/// Panics if a message cannot be read on a terminal.
pub(crate) fn check(error: impl Display) {
    let text = error.to_string();
    assert!(!text.is_empty(), "a message says something");
    assert!(
        text.len() <= LONGEST,
        "a message of {} bytes: {}",
        text.len(),
        &text[..text.floor_char_boundary(200)]
    );
}
