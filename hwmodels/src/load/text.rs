//! Names and descriptions, which appear in reports, tables, comments of generated RTL and file names.

/// Greatest length of an accelerator's name in characters.
pub(crate) const MAX_NAME: usize = 100;
/// Greatest length of a level's name in characters.
pub(crate) const MAX_LEVEL_NAME: usize = 64;
/// Greatest length of a description in characters.
pub(crate) const MAX_DESCRIPTION: usize = 1000;

/// Characters that a name may contain in addition to letters and digits.
const MARKS: &str = " -_.+,()/:#";

/// Returns whether a text is a valid name of an accelerator.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(begins) && text.chars().all(continues) && text.chars().count() <= MAX_NAME
}

/// Returns whether a name may begin with a character: one that does not start a formula in spreadsheets.
fn begins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn continues(c: char) -> bool {
    c.is_alphanumeric() || MARKS.contains(c)
}

/// Converts any text, such as a file name, to a valid name of an accelerator: other characters become `_`.
pub fn name_of(text: &str) -> String {
    let begin = text.chars().next().filter(|&c| !begins(c)).map(|_| '_');
    let legal = text.chars().map(|c| if continues(c) { c } else { '_' });
    let name: String = begin.into_iter().chain(legal).take(MAX_NAME).collect();
    if name.is_empty() { "accelerator".into() } else { name }
}

/// Returns whether a text is a valid name of a level, which becomes part of names of files and signals.
pub(super) fn is_level_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=MAX_LEVEL_NAME).contains(&text.len()) && text.chars().all(legal)
}

/// Returns a description on one line; `None` if it is too long, or contains characters that are unprintable
/// or change the direction of text.
pub(super) fn description(text: &str) -> Option<String> {
    let line = one_line(text);
    (!line.chars().any(hides) && line.chars().count() <= MAX_DESCRIPTION).then_some(line)
}

/// Converts any text to a valid description of an accelerator.
pub fn description_of(text: &str) -> String {
    one_line(text).chars().map(|c| if hides(c) { '_' } else { c }).take(MAX_DESCRIPTION).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is unprintable, or changes the direction of text.
fn hides(c: char) -> bool {
    let formats = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || formats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_what_files_and_people_need() {
        for good in ["fpga-int14-os", "tpu-v1", "Array 16x16 (rev. 2)", "größe", "a/b: c, d+e #3", "_x", "7"]
        {
            assert!(is_name(good) && name_of(good) == good, "{good}");
        }
        let long = "x".repeat(MAX_NAME + 1);
        for bad in [
            "",
            " x",
            "-x",
            "=1+2",
            "a\nb",
            "a\"b",
            "*/",
            "`x`",
            "$(x)",
            "a\\b",
            "100%",
            "a\0",
            "\u{202e}x",
            &long,
        ] {
            assert!(!is_name(bad), "{bad:?}");
            assert!(is_name(&name_of(bad)), "{bad:?}");
        }
    }

    #[test]
    fn names_of_levels_are_short_identifiers() {
        let long = "x".repeat(MAX_LEVEL_NAME + 1);
        assert!(["acc", "inner-1", "A_2", "-a"].into_iter().all(is_level_name));
        assert!(["", "a b", "ä", "a/b", "a\n", &long].into_iter().all(|name| !is_level_name(name)));
    }

    #[test]
    fn descriptions_are_one_line() {
        assert_eq!(description("two\n lines\n").as_deref(), Some("two lines"));
        assert!(["a\u{1b}[31m", "a\0", "\u{202e}a"].into_iter().all(|text| description(text).is_none()));
        let long = "x".repeat(MAX_DESCRIPTION + 1);
        assert!(description(&long).is_none());
        for text in ["a\u{1b}[31m", &long, "two\n lines"] {
            assert_eq!(description(&description_of(text)), Some(description_of(text)));
        }
    }
}
