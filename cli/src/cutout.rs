//! Excerpt of a file for an error message: the line of the error and its neighbours; long lines are cut
//! around the position.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::printable::acts;

/// Maximum characters of a line that are shown.
const WIDTH: usize = 160;
/// Characters shown before the position.
const BEFORE: usize = 60;
/// Mark for omitted characters.
const GAP: &str = "... ";

/// Excerpt of a few lines of a file.
#[derive(Debug)]
pub struct Cutout {
    file: String,
    lines: String,
    /// First line of the excerpt in the file, from 0.
    first: usize,
    /// Line and column of the position in the file, from 0.
    line: usize,
    column: usize,
    /// Offset of the position in `lines`, in bytes.
    offset: usize,
    length: usize,
}

impl Cutout {
    /// Returns the lines around the bytes `offset..offset + length` of a text. Both are limited to the text
    /// and its line.
    pub fn new(file: String, text: &str, offset: usize, length: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = text[..offset].matches('\n').count();
        let here = text[start..].split('\n').next().unwrap_or_default();
        let column = text[start..offset].chars().count();
        let marked = text.floor_char_boundary(offset.saturating_add(length));
        let marked = text.get(offset..marked.min(start + here.len())).unwrap_or_default().chars().count();

        let before =
            text[..start].strip_suffix('\n').map(|before| before.rsplit('\n').next().unwrap_or_default());
        let after = text[start + here.len()..].strip_prefix('\n').map(|after| after.split('\n').next());
        let skipped = if column + marked.min(WIDTH - BEFORE) <= WIDTH { 0 } else { column - BEFORE };
        let mut lines = String::new();
        if let Some(before) = before {
            show(before, 0, &mut lines);
            lines.push('\n');
        }
        let begin = lines.len();
        show(here, skipped, &mut lines);
        let gap = if skipped > 0 { GAP.chars().count() } else { 0 };
        let at = |chars: usize| {
            let mut places = lines[begin..].char_indices().map(|(at, _)| begin + at);
            places.nth(chars).unwrap_or(lines.len())
        };
        let (offset, end) =
            (at(gap + column - skipped), at((gap + column - skipped + marked).min(gap + WIDTH)));
        if let Some(after) = after.flatten() {
            lines.push('\n');
            show(after, 0, &mut lines);
        }
        let first = if before.is_some() { line - 1 } else { line };
        Self { file, lines, first, line, column, offset, length: end.saturating_sub(offset) }
    }

    /// Returns the span of the position in the excerpt.
    pub fn span(&self) -> SourceSpan {
        (self.offset, self.length).into()
    }
}

/// Adds a line without its first `skipped` characters, at most as many as are shown; control characters
/// become `?`.
fn show(line: &str, skipped: usize, lines: &mut String) {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if skipped > 0 {
        lines.push_str(GAP);
    }
    let mut rest = line.chars().skip(skipped);
    lines.extend(rest.by_ref().take(WIDTH).map(|c| if acts(c) { '?' } else { c }));
    if rest.next().is_some() {
        lines.push_str(" ...");
    }
}

impl SourceCode for Cutout {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let shown = self.lines.read_span(span, before, after)?;
        let line = self.first + shown.line();
        let column = if shown.span().offset() == self.offset && line == self.line { self.column } else { 0 };
        let file = self.file.clone();
        let contents = MietteSpanContents::new_named(
            file,
            shown.data(),
            *shown.span(),
            line,
            column,
            shown.line_count(),
        );
        Ok(Box::new(contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the excerpt, and the part of it that is marked.
    fn check(text: &str, offset: usize, length: usize, expected: &str, marked: &str, place: (usize, usize)) {
        let cut = Cutout::new("file".into(), text, offset, length);
        assert_eq!(cut.lines, expected);
        assert_eq!(&cut.lines[cut.offset..cut.offset + cut.length], marked);
        assert_eq!((cut.line, cut.column), place);
    }

    #[test]
    fn lines_around_the_place() {
        check("a: 1\nb: 2\nc: 3\nd: 4\n", 8, 1, "a: 1\nb: 2\nc: 3", "2", (1, 3));
        check("a: 1\r\nb: 2\r\n", 3, 1, "a: 1\nb: 2", "1", (0, 3));
        check("a: 1", 3, 100, "a: 1", "1", (0, 3));
        check("", 5, 1, "", "", (0, 0));
        check("ä: \u{1b}[1m", 4, 4, "ä: ?[1m", "?[1m", (0, 3));
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}\n{}bad, {}\nnext", "x".repeat(500), "y".repeat(70_000), "z".repeat(500));
        let offset = 501 + 70_000;
        let shown =
            format!("{} ...\n... {}bad, {} ...\nnext", "x".repeat(160), "y".repeat(60), "z".repeat(95));
        check(&text, offset, 3, &shown, "bad", (1, 70_000));
        let long = Cutout::new("file".into(), &"w".repeat(100_000), 0, 100_000);
        assert_eq!((long.offset, long.length), (0, 160));
    }
}
