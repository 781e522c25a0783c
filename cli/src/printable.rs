//! Text of strangers on its way to a terminal: no control characters, and not too much of it.

use std::borrow::Cow;
use std::fmt::Write;

/// Most characters of a message.
const MOST: usize = 4000;

/// The text with every character that could do something to a terminal, or hide something on it, written as its code.
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

/// The start of a message, and how much more of it there is.
pub fn bounded(message: String) -> String {
    let Some((end, _)) = message.char_indices().nth(MOST) else { return message };
    let more = message[end..].chars().count();
    format!("{} ... ({more} more characters)", &message[..end])
}

/// Whether a character is for a terminal and not for people: control characters, and marks that change the direction
/// of text or have no width.
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
