//! Pages of the documentation that the command contains: the codes of errors and warnings, and the topics of
//! the help.

mod text;

use std::sync::LazyLock;

pub use text::{hanging, shown};

/// The pages of `docs/errors` one after the other, and `docs/topics.md`. A package has no files outside of its
/// crate, so a test keeps these copies equal to the documentation, and `scripts/renew` renews them.
const ERRORS: &str = include_str!("errors.md");
const TOPICS: &str = include_str!("topics.md");

/// Least similarity of a suggestion, from 0 (nothing in common) to 1 (equal).
const LEAST_LIKENESS: f64 = 0.6;
/// Maximum bytes of a name that is compared with others.
const COMPARED: usize = 200;

/// Section of a page.
#[derive(Debug)]
pub struct Entry {
    /// Title of the page.
    pub page: &'static str,
    /// Heading of the section: a code or a topic.
    pub name: &'static str,
    /// Text of the section in Markdown, with the files of its example.
    pub text: String,
}

/// Every code, in the order of the pages.
pub static CODES: LazyLock<Vec<Entry>> = LazyLock::new(|| entries(ERRORS));
/// Every topic.
pub static HELP: LazyLock<Vec<Entry>> = LazyLock::new(|| entries(TOPICS));

impl Entry {
    /// Returns the first sentence.
    pub fn about(&self) -> String {
        let lines: Vec<&str> = self.text.trim().lines().take_while(|line| !line.is_empty()).collect();
        let mut text = lines.join(" ");
        let mut ends = text.match_indices(". ").map(|(at, _)| at);
        if let Some(end) = ends.find(|&at| !text[..at].ends_with("e.g")) {
            text.truncate(end + 1);
        }
        text
    }
}

/// Returns the name that is most similar to `wanted`, if one is similar enough.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &str| match wanted.len() {
        ..=COMPARED => strsim::normalized_damerau_levenshtein(wanted, name),
        _ => 0.0,
    };
    let near = names.map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    near.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// Returns the sections of pages.
fn entries(pages: &'static str) -> Vec<Entry> {
    let sections = |(page, body): (&'static str, &'static str)| {
        let mut sections = parts(body, "## ").into_iter();
        let (_, top) = sections.next().unwrap_or_default();
        sections.map(move |(name, text)| Entry { page, name, text: with_files(text, top) })
    };
    parts(pages, "# ").into_iter().skip(1).flat_map(sections).collect()
}

/// Returns the parts of a text at its headings, each with its heading; the first part has none.
fn parts<'a>(text: &'a str, mark: &str) -> Vec<(&'a str, &'a str)> {
    let (mut parts, mut heading, mut start, mut at, mut in_block) = (Vec::new(), "", 0, 0, false);
    for line in text.split_inclusive('\n') {
        in_block ^= line.starts_with("```");
        if let (false, Some(next)) = (in_block, line.strip_prefix(mark)) {
            parts.push((heading, &text[start..at]));
            (heading, start) = (next.trim_end(), at + line.len());
        }
        at += line.len();
    }
    parts.push((heading, &text[start..]));
    parts
}

/// Returns a section with the files from the top of its page that its example reads.
fn with_files(section: &str, top: &str) -> String {
    let mut text = section.to_owned();
    // Every second part between fences is a block.
    for block in top.split("```").skip(1).step_by(2) {
        let (_, name) = block.lines().next().and_then(|line| line.split_once(' ')).unwrap_or_default();
        if !name.is_empty() && section.contains(name) {
            text = text.replacen("```console", &format!("```{block}```\n\n```console"), 1);
        }
    }
    text
}
