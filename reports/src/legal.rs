//! Removes characters that SVG, HTML and CSV may not contain from names of files and layers. This is the only
//! place that does so; markup is escaped where it is written.

use std::borrow::Cow;

/// Returns `document` with U+FFFD instead of every character that XML 1.0 does not allow or that changes the
/// direction of text.
///
/// Source: <https://www.w3.org/TR/xml/#charsets>
pub fn legal(document: String) -> String {
    if document.chars().all(is_legal) {
        return document;
    }
    document.chars().map(|c| if is_legal(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Returns a table cell cleaned by [`legal`], so that a terminal does not execute any control character in
/// it.
pub fn legal_cell(cell: &str) -> Cow<'_, str> {
    if cell.chars().all(is_legal) { Cow::Borrowed(cell) } else { Cow::Owned(legal(cell.to_owned())) }
}

fn is_legal(c: char) -> bool {
    let is_xml = matches!(c, '\t' | '\n' | '\r' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    is_xml && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_allowed_is_shown_as_such() {
        for (text, expected) in [
            ("<b>ä\n\u{1f600}</b>", "<b>ä\n\u{1f600}</b>"),
            ("a\0b\u{1b}c", "a\u{fffd}b\u{fffd}c"),
            ("\u{202e}x\u{ffff}\u{85}", "\u{fffd}x\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(legal(text.into()), expected);
        }
    }
}
