//! Makes untrusted text safe for a terminal: no control characters, and bounded length.

use std::borrow::Cow;
use std::fmt::Write;

/// Maximum characters of a message.
const MOST: usize = 4000;

/// Returns the text with every character that could control a terminal or hide text replaced by its code.
/// Line breaks and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) {
            // Writing to a string does not fail.
            let _ = write!(plain, "{}", c.escape_unicode());
        } else {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

/// Returns the start of a message, and the number of omitted characters.
pub fn bounded(message: String) -> String {
    let Some((end, _)) = message.char_indices().nth(MOST) else { return message };
    let more = message[end..].chars().count();
    format!("{} ... ({more} more characters)", &message[..end])
}

/// Returns whether a character affects a terminal instead of being displayed: control characters, and marks
/// that change the direction of text or have no width.
pub fn acts(c: char) -> bool {
    let stays = matches!(c, '\n' | '\t');
    let hides = matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    !stays && (c.is_control() || hides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        for (text, expected) in [
            ("plain\n\ttext, ünïcode 層", "plain\n\ttext, ünïcode 層"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\u{8}c\0", "a\\u{d}b\\u{8}c\\u{0}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn messages_are_bounded() {
        assert_eq!(bounded("x".repeat(MOST)), "x".repeat(MOST));
        let cut = bounded("ü".repeat(1_000_000));
        assert!(cut.ends_with("ü ... (996000 more characters)"), "{}", &cut[cut.len() - 60..]);
        assert!(cut.len() < 3 * MOST);
    }
}
