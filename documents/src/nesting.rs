//! Limits the nesting of a YAML or JSON text before it is parsed.
//!
//! The YAML library visits every open bracket for every token, so its time grows with tokens times depth. Texts that
//! are small enough are not checked. In larger texts brackets are counted. Large texts in which counting could go
//! wrong are rejected: quotes or brackets inside plain text, block scalars, and quoted texts over several lines.

use std::fmt;

/// Maximum nesting depth of lists and maps.
const DEEPEST: usize = 64;

/// Product of brackets and bytes up to which a text is not checked. Parsing such a text takes well below a second.
const UNSEEN: usize = 1 << 27;

/// Error for a text that is not parsed because of its nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NestingError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Deep,
    Unclear,
}

impl fmt::Display for NestingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Deep => write!(f, "lists and maps are nested more than {DEEPEST} levels deep"),
            Reason::Unclear => f.write_str(
                "brackets cannot be counted reliably in a text with this many \
                 of them",
            ),
        }
    }
}

impl std::error::Error for NestingError {}

impl NestingError {
    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        match self.reason {
            Reason::Deep => "check that every bracket is closed",
            Reason::Unclear => {
                "quote texts that contain quotes or brackets and keep each on one line, as in JSON; or use \
                 fewer brackets: long lists of numbers can be flat"
            }
        }
    }
}

/// Checks that a YAML or JSON text is not nested so deeply that parsing would take long.
///
/// # Errors
/// [`NestingError`] with the position.
pub fn check_nesting(text: &str) -> Result<(), NestingError> {
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if brackets.saturating_mul(text.len()) <= UNSEEN {
        return Ok(());
    }
    Scan::new(text).run().map_err(|(at, reason)| {
        let before = &text.as_bytes()[..at];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        NestingError { line, column, reason }
    })
}

/// A scanner that keeps track of quotes and brackets.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// Number of open brackets.
    depth: usize,
    /// The last two bytes that are neither blank nor part of a comment, the later one first.
    last: [u8; 2],
    /// Whether blanks follow the last of them.
    blank: bool,
    /// Whether this line holds nothing but `-` and `?` so far.
    begins: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        // The start of a document is equivalent to the position after a colon.
        Self { text: text.as_bytes(), at: 0, depth: 0, last: *b": ", blank: true, begins: true }
    }

    fn run(mut self) -> Result<(), (usize, Reason)> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' => self.blank = true,
                b'\n' => (self.blank, self.begins) = (true, true),
                b'#' if self.blank => {
                    self.at = self.end_of_line();
                    continue;
                }
                b'"' | b'\'' if self.may_quote() => self.skip_quoted(byte)?,
                b'[' | b'{' if self.may_open() => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err((self.at, Reason::Deep));
                    }
                    self.seen(byte);
                }
                b'"' | b'\'' | b'[' | b'{' => return Err((self.at, Reason::Unclear)),
                b'|' | b'>' if self.depth == 0 && self.value_follows() => {
                    return Err((self.at, Reason::Unclear));
                }
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.seen(byte);
                }
                other => self.seen(other),
            }
            self.at += 1;
        }
        Ok(())
    }

    fn seen(&mut self, byte: u8) {
        self.begins &= matches!(byte, b'-' | b'?');
        self.last = [byte, if self.blank { b' ' } else { self.last[0] }];
        self.blank = false;
    }

    /// Returns whether a value starts here, after `: ` or after `- ` at the start of a line.
    fn value_follows(&self) -> bool {
        self.blank && (self.last[0] == b':' || self.begins && matches!(self.last[0], b'-' | b'?'))
    }

    /// Returns whether a bracket here opens a list or a map.
    fn may_open(&self) -> bool {
        match self.depth {
            0 => self.value_follows(),
            _ => matches!(self.last[0], b'[' | b'{' | b',' | b':'),
        }
    }

    /// Returns whether a quote here starts a quoted text.
    fn may_quote(&self) -> bool {
        match (self.depth, self.last) {
            (0, _) => self.begins || self.value_follows(),
            (_, [b'[' | b'{' | b',', _]) => true,
            (_, [b':', before]) => self.blank || before == b'"',
            _ => false,
        }
    }

    /// Moves to the closing quote, which must be on the same line.
    fn skip_quoted(&mut self, quote: u8) -> Result<(), (usize, Reason)> {
        let start = self.at;
        loop {
            self.at += 1;
            match self.text.get(self.at) {
                None | Some(b'\n') => return Err((start, Reason::Unclear)),
                Some(b'\\') if quote == b'"' && self.text.get(self.at + 1) != Some(&b'\n') => self.at += 1,
                Some(&byte) if byte == quote => {
                    if quote == b'"' || self.text.get(self.at + 1) != Some(&quote) {
                        break;
                    }
                    self.at += 1;
                }
                Some(_) => {}
            }
        }
        self.begins = false;
        (self.last, self.blank) = ([b'"', b' '], false);
        Ok(())
    }

    fn end_of_line(&self) -> usize {
        let rest = &self.text[self.at..];
        rest.iter().position(|&byte| byte == b'\n').map_or(self.text.len(), |length| self.at + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans a text. The error holds the position where brackets cannot be counted, and the reason.
    fn scan(text: &str) -> Result<(), (usize, Reason)> {
        Scan::new(text).run()
    }

    #[test]
    fn plain_texts_are_counted() {
        let deep = "[".repeat(DEEPEST) + &"]".repeat(DEEPEST);
        for text in [
            "a: [1, [2, 3], {b: c}]\nd:\n  - [1]\n  - e: [x]\n    'f[': \"g]\\\"[[\"\n",
            "{\"a\":[\"b[\",{\"c\":\"it's\"}],\"d\":1}",
            "# it's [[[ a comment\n---\n{a: 'it''s [', b: [1,2]} # [[[\n- [1]\n- - [2]\n",
            "a:\n  [1,\n   2]\n\"b\": [3]\n? [4]\n: [5]\n",
            &format!("a: {deep}\nb: {deep}\n"),
        ] {
            assert_eq!(scan(text), Ok(()), "{text}");
        }
        assert_eq!(scan(&format!("a: {}", "[".repeat(65))), Err((67, Reason::Deep)));
        assert_eq!(scan(&format!("- {}", "{a: ".repeat(65))), Err((2 + 4 * 64, Reason::Deep)));
    }

    /// Texts that could hide brackets are rejected.
    #[test]
    fn unclear_texts_are_refused() {
        for (text, at) in [
            ("a: b[ \"\nx: [", 4),
            ("a: it's\n", 5),
            ("a: |\n  ]]]\n", 3),
            ("- >\n  ]]]\n", 2),
            ("a: \"over\n lines\"\n", 3),
            ("[a', ']]]]', b']", 2),
            ("[a:', ']]]]']", 3),
            ("[a- \", \"]", 4),
            ("k: a - [", 7),
            ("k: a\n  [", 7),
            ("a:[", 2),
            ("a, \"x: [[[[ \"", 3),
            ("&a [1]", 3),
            ("'x' [", 4),
            ("\"abc\\", 0),
        ] {
            assert_eq!(scan(text), Err((at, Reason::Unclear)), "{text}");
        }
    }

    #[test]
    fn the_place_is_told() {
        let text = format!("schema: 1\n# é\né: {}", "[".repeat(20_000));
        let error = check_nesting(&text).unwrap_err();
        assert_eq!((error.line, error.column), (3, 4 + DEEPEST));
        assert_eq!(error.to_string(), "lists and maps are nested more than 64 levels deep");
        assert!(check_nesting(&"[".repeat(1000)).is_ok(), "the parser has a limit of its own");
    }
}
