//! Every file of `scripts/` is named where it is called, and every path below `scripts/` that a text names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::root;

/// Folders with nothing that names a script: builds, environments, version control.
const SKIPPED: [&str; 4] = ["target", "out", ".git", "__pycache__"];
const TEXTS: [&str; 9] = ["rs", "md", "toml", "py", "yaml", "txt", "sh", "cc", ""];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) && !name.starts_with(".venv") {
            files(&path, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or("")
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The paths below `scripts/` that a text names.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("scripts/").map(|(at, _)| at);
    let own = starts.filter(|&at| !text[..at].ends_with(|c| is_word(c) || c == '-'));
    own.map(|at| {
        let rest = &text[at..];
        let end = rest.find(|c| !(is_word(c) || "/.-".contains(c))).unwrap_or(rest.len());
        rest[..end].trim_end_matches(['.', '/', '-'])
    })
}

#[test]
fn scripts_are_named_where_they_are_called() {
    let root = root();
    let mut found = Vec::new();
    files(&root, &mut found);
    let scripts: Vec<String> = found
        .iter()
        .filter_map(|path| path.strip_prefix(root.join("scripts")).ok())
        .map(|path| format!("scripts/{}", path.display()))
        .collect();
    assert!(scripts.len() > 50, "{} files", scripts.len());
    let mut unnamed: BTreeSet<&String> = scripts.iter().collect();
    let mut absent = Vec::new();
    for file in found.iter().filter(|path| TEXTS.contains(&extension(path))) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        let named: BTreeSet<&str> = paths(&text).collect();
        let place = file.strip_prefix(&root).unwrap();
        absent.extend(
            named
                .iter()
                .filter(|path| !root.join(path).exists())
                .map(|path| format!("{}: {path}", place.display())),
        );
        // By their names alone: imports of Python, neighbours, and families of `make_onnx_oracle.py` in Rust.
        let words: BTreeSet<&str> = text.split(|c| !is_word(c)).collect();
        unnamed.retain(|script| {
            let stem = Path::new(script).file_stem().unwrap().to_str().unwrap();
            let distinct = stem.contains('_') && script.matches('/').count() == 2;
            let family = stem.strip_prefix("onnx_").filter(|_| extension(file) == "rs");
            let by_name = distinct && words.contains(stem)
                || family.is_some_and(|family| text.contains(&format!("\"{family}\"")));
            place == Path::new(script) || !(named.contains(script.as_str()) || by_name)
        });
    }
    assert!(absent.is_empty(), "no such files:\n{}", absent.join("\n"));
    assert!(unnamed.is_empty(), "nothing names {unnamed:#?}");
}
