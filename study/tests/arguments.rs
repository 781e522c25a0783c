//! Checks the files generated from the table of arguments.

use std::fs;
use std::path::Path;

use guardbit_study::{Command, Row, arguments_text, python_text};

/// `scripts/renew` renews the files.
#[test]
fn the_committed_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = python_text().map(|(name, text)| (format!("python/guardbit/{name}"), text));
    for (name, text) in
        python.into_iter().chain([("docs/reference/arguments.md".to_owned(), arguments_text())])
    {
        let path = root.join(&name);
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "scripts/renew renews {name}");
    }
}

/// Rust's number parser accepts texts that a user would not mean as numbers.
#[test]
fn numbers_are_finite() {
    let row = Row::find(Command::Quantize, "least_sqnr").unwrap();
    assert_eq!(row.check("12.5"), Ok(()));
    for text in ["nan", "inf", "1e999", ""] {
        assert_eq!(row.check(text), Err(format!("`{text}`: expected a number")));
    }
}
