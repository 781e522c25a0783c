//! Shows Markdown in a terminal.

use std::io::{IsTerminal, stdout};

use crate::wrap::wrapped;

/// Columns of a text that is not shown in a terminal, and least and most columns in a terminal.
const COLUMNS: usize = 80;
const NARROWEST: usize = 40;
const WIDEST: usize = 100;

/// Returns Markdown as plain text that fits the terminal: paragraphs and lists are wrapped, and marks of
/// blocks, links and comments are removed.
pub fn shown(markdown: &str) -> String {
    rendered(markdown, columns())
}

/// Returns a paragraph that fits the terminal, with all lines indented by `indent`.
pub fn hanging(text: &str, indent: usize) -> String {
    indented(text, indent, indent, columns())
}

fn columns() -> usize {
    let of_terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width.into());
    match stdout().is_terminal() {
        true => of_terminal().unwrap_or(COLUMNS).clamp(NARROWEST, WIDEST),
        false => COLUMNS,
    }
}

fn rendered(markdown: &str, columns: usize) -> String {
    let (mut out, mut paragraph, mut in_block) = (String::new(), String::new(), false);
    for line in markdown.lines().filter(|line| !line.starts_with("<!--")) {
        if let Some(info) = line.strip_prefix("```") {
            flush(&mut out, &mut paragraph, columns);
            in_block = !in_block;
            if let Some((_, file)) = info.split_once(' ') {
                out += &format!("    {file}:\n\n");
            }
        } else if in_block {
            out += &if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
        } else if line.is_empty() {
            flush(&mut out, &mut paragraph, columns);
            out.push('\n');
        } else {
            if line.starts_with("- ") {
                flush(&mut out, &mut paragraph, columns);
            } else if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph += line.trim_start();
        }
    }
    flush(&mut out, &mut paragraph, columns);
    out.trim_matches('\n').to_owned() + "\n"
}

/// Ends a paragraph, or an item of a list.
fn flush(out: &mut String, paragraph: &mut String, columns: usize) {
    if !paragraph.is_empty() {
        let indent = if paragraph.starts_with("- ") { 2 } else { 0 };
        *out += &indented(&unlinked(paragraph), 0, indent, columns);
        out.push('\n');
        paragraph.clear();
    }
}

/// Returns a wrapped text whose first line is indented by `first`, and the others by `indent`.
fn indented(text: &str, first: usize, indent: usize, columns: usize) -> String {
    let lines = wrapped(text, columns - indent.max(first));
    " ".repeat(first) + &lines.replace('\n', &format!("\n{}", " ".repeat(indent)))
}

/// Returns a text in which links are their texts.
fn unlinked(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, (label, after))) = link(rest) {
        out = out + before + label;
        rest = after;
    }
    out + rest
}

/// Returns the text before the first link, its label, and the text after it.
fn link(text: &str) -> Option<(&str, (&str, &str))> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((&text[..start], (&text[start + 1..middle], &text[end + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed_and_paragraphs_wrapped() {
        let markdown = "\nSome words of [a page](../page.md#at)\nin two lines.\n\n- an item of\n  two lines\n- b\n\n\
                        <!-- made: c -->\n```yaml a.yaml\nkey: a value that is not wrapped\n\nlast: 1\n```\n\nCure: `x`.\n";
        assert_eq!(
            rendered(markdown, 20),
            "Some words of a page\nin two lines.\n\n- an item of two\n  lines\n- b\n\n    a.yaml:\n\n    key: a value \
             that is not wrapped\n\n    last: 1\n\nCure: `x`.\n"
        );
    }
}
