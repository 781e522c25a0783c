//! Wraps messages at blanks, never within a path or a quoted name.

/// Maximum characters of a word that is kept whole.
const LONGEST: usize = 280;

/// Wraps `text` to lines of at most `width` characters. A word, a part in backquotes, and a path before the
/// first colon stay whole, up to [`LONGEST`] characters, so that they can be found and copied.
pub fn wrapped(text: &str, width: usize) -> String {
    let path = leading_path(text);
    let lines = text.split('\n').enumerate().map(|(at, line)| match at {
        0 => line_of(line, path, width),
        _ => line_of(line, 0, width),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the bytes of the path at the start of a message such as `/a folder/net.onnx: ...`; 0 without one.
fn leading_path(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    // The colon after a Windows drive letter has no blank behind it.
    line.find(": ")
        .filter(|&end| line[..end].contains(['/', '\\']) && !line[..end].contains('`'))
        .unwrap_or(0)
}

fn line_of(line: &str, whole: usize, width: usize) -> String {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let (mut out, mut column, mut first) = (line[..indent].to_owned(), indent, true);
    for word in words(text, whole.saturating_sub(indent)).into_iter().flat_map(pieces) {
        let length = word.chars().count();
        if !first && column + 1 + length > width {
            out.push('\n');
            (column, first) = (0, true);
        }
        if !first {
            out.push(' ');
            column += 1;
        }
        out += word;
        (column, first) = (column + length, false);
    }
    out
}

/// Returns a word, or its pieces if it is longer than any name or path.
fn pieces(word: &str) -> Vec<&str> {
    let mut ends: Vec<usize> = word.char_indices().map(|(at, _)| at).step_by(LONGEST).collect();
    ends.push(word.len());
    if word.is_empty() { vec![word] } else { ends.windows(2).map(|ends| &word[ends[0]..ends[1]]).collect() }
}

/// Returns the parts of a line between blanks. The first part has at least `whole` bytes, and text in
/// backquotes is one part.
fn words(line: &str, whole: usize) -> Vec<&str> {
    let (mut words, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        quoted ^= c == '`';
        if c == ' ' && at >= whole && !(quoted && line[at..].contains('`')) {
            words.push(&line[start..at]);
            start = at + 1;
        }
    }
    words.push(&line[start..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_stay_whole() {
        for (text, expected) in [
            ("a message of some words", "a message\nof some\nwords"),
            ("/a-b/c d/e.onnx: no such file", "/a-b/c d/e.onnx:\nno such\nfile"),
            ("C:\\a b\\c.onnx: no such", "C:\\a b\\c.onnx:\nno such"),
            ("node `a name of blanks` is", "node\n`a name of blanks`\nis"),
            ("one ` alone is no quote", "one `\nalone is\nno quote"),
            ("two\nlines of it", "two\nlines of\nit"),
            ("one\n  two of it", "one\n  two of\nit"),
            ("", ""),
        ] {
            assert_eq!(wrapped(text, 10), expected);
        }
    }
}
