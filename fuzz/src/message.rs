//! What every error has to keep to.

use std::fmt::Display;

/// More than the longest message that helps.
const LONGEST: usize = 8 << 10;

/// Fails where a message is not fit to be read.
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
