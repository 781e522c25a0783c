//! Invalid and doubtful accelerator files: messages about them, with their places.

mod keys;
mod values;
mod warnings;

use guardbit_hwmodels::{Origin, PRESETS, Problem, check_yaml};
use proptest::prelude::*;
use proptest::sample::select;

/// Returns code, message, the offending line with the value underlined, and hint.
fn rendered(problem: &Problem) -> String {
    let mut lines = vec![problem.code().to_owned(), problem.to_string()];
    if let Origin::File(place) = problem.origin() {
        let line = place.text.lines().nth(place.line - 1).unwrap_or_default();
        lines.push(format!("  | {line}"));
        lines.push(format!(
            "  | {:indent$}{}",
            "",
            "^".repeat(place.span.len().max(1)),
            indent = place.column - 1
        ));
    }
    lines.push(format!("help: {}", problem.help()));
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// Returns the error or the warnings for a file with these overrides.
fn report(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    match check_yaml(text, "hw.yaml", &sets) {
        (Err(error), _) => rendered(&error),
        (Ok(_), warnings) if warnings.is_empty() => "fine".into(),
        (Ok(_), warnings) => warnings.iter().map(rendered).collect::<Vec<_>>().join("\n"),
    }
}

/// Generates a preset with parts of it replaced.
fn mangled() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "",
        " ",
        "\n",
        "\n  ",
        ":",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\"",
        "'",
        "#",
        "&a",
        "*a",
        "<<",
        "!x",
        "14",
        "-1",
        "1e400",
        "0x1F",
        "~",
        "é",
        "漢字",
        "accumulation",
        "acc",
        "terms",
        "\t",
        "\r\n",
        "\u{feff}",
        "|",
    ]);
    let edit = (any::<prop::sample::Index>(), 0..12usize, piece);
    (select(PRESETS), prop::collection::vec(edit, 1..4)).prop_map(|(preset, edits)| {
        let mut chars: Vec<char> = preset.text.chars().collect();
        for (at, length, piece) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + length).min(chars.len());
            chars.splice(start..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn every_text_gives_an_accelerator_or_an_error_with_a_place(text in mangled()) {
        if let (Err(error), _) = check_yaml(&text, "hw.yaml", &[]) {
            prop_assert!(!error.code().is_empty() && !error.message().is_empty());
            prop_assert!(!error.help().is_empty());
            if let Origin::File(place) = error.origin() {
                prop_assert!(place.text.get(place.span.clone()).is_some());
            }
        }
    }

    #[test]
    fn every_override_gives_an_accelerator_or_an_error(
        key in prop::collection::vec(select(vec![
            "accumulation", "acc", "chain", "bits", "terms", "array", "rows", "layers", "conv1", "bias", "at", "0",
            "reduction_order", "axes", "walk", "offload", "name", "", "memory", "x y",
        ]), 1..5),
        value in select(vec!["", "3", "-3", "1.5", "x", "[]", "{}", "[1, {a: 2}]", "{bits: 3}", "~", "all", "[", "reverse"]),
        preset in select(PRESETS),
    ) {
        let set = format!("{}={value}", key.join("."));
        let text = format!("schema: 1\nextends: {}\n", preset.name);
        if let (Err(error), _) = check_yaml(&text, "hw.yaml", std::slice::from_ref(&set)) {
            prop_assert_eq!(error.origin(), &Origin::Set(set));
        }
    }
}
