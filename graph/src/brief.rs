//! Short forms of lists and texts from files, for messages.

use std::borrow::Cow;
use std::fmt;

/// Maximum number of elements shown.
const ELEMENTS: usize = 16;

/// Maximum number of characters shown.
const CHARACTERS: usize = 400;

/// Displays a list as `[1, 2, 3]`. For a long list it shows the first elements and the length.
#[derive(Clone, Copy)]
pub struct Brief<'a, T>(pub &'a [T]);

impl<T: fmt::Debug> fmt::Display for Brief<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(all) = self;
        let Some((first, _)) = all.split_at_checked(ELEMENTS).filter(|(_, rest)| !rest.is_empty()) else {
            return write!(f, "{all:?}");
        };
        f.write_str("[")?;
        first.iter().try_for_each(|element| write!(f, "{element:?}, "))?;
        write!(f, "... {} in all]", all.len())
    }
}

/// Returns a text of at most 400 characters. A longer text is truncated, and its length is added.
pub fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(CHARACTERS) {
        None => text.into(),
        Some((end, _)) => format!("{}... ({} bytes in all)", &text[..end], text.len()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(Brief(&[1, 2]).to_string(), "[1, 2]");
        assert_eq!(Brief::<usize>(&[]).to_string(), "[]");
        assert_eq!(Brief(&[7; 16]).to_string(), format!("{:?}", [7; 16]));
        let long = Brief(&vec![7; 2_000_000]).to_string();
        assert_eq!(long, format!("[{}... 2000000 in all]", "7, ".repeat(16)));
        assert_eq!(brief("short"), "short");
        assert_eq!(brief(&"é".repeat(400)), "é".repeat(400));
        assert_eq!(brief(&"é".repeat(401)), format!("{}... (802 bytes in all)", "é".repeat(400)));
    }
}
