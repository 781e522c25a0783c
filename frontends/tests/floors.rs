//! Tests of the stages of the readers: which folder of a reader may import which. Sources are read as text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folders below `src`, each with the folders of its reader that it may import.
///
/// `/*` stands for each file of a folder by itself: such a file imports none of the others, and exports only the
/// names in the list of `mod.rs`.
const FLOORS: &[(&str, &[&str])] = &[
    ("tflite/parse", &[]),
    ("tflite/normalise", &["tflite/parse"]),
    ("tflite/recognise/kit", &["tflite/parse", "tflite/normalise"]),
    ("tflite/recognise/ops/*", &["tflite/parse", "tflite/normalise", "tflite/recognise/kit"]),
    ("onnx/parse", &["onnx/error", "onnx/own"]),
    ("onnx/normalise", &["onnx/error", "onnx/scalar", "onnx/parse"]),
    ("onnx/recognise/kit", &["onnx/error", "onnx/scalar", "onnx/parse", "onnx/normalise"]),
    (
        "onnx/recognise/ops/*",
        &[
            "onnx/error",
            "onnx/own",
            "onnx/scalar",
            "onnx/nearest",
            "onnx/parse",
            "onnx/normalise",
            "onnx/recognise/kit",
        ],
    ),
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn floors_import_what_lies_below_them() {
    for (folder, _) in FLOORS {
        let sources = sources(&src().join(folder.trim_end_matches("/*")));
        assert!(!sources.is_empty(), "{folder} has no sources");
        for path in sources {
            let file = path.strip_prefix(src()).unwrap().to_str().unwrap();
            let found = violations(file, &std::fs::read_to_string(&path).unwrap());
            assert!(found.is_empty(), "{file}: {found:#?}");
        }
    }
}

/// Files of a stage do not import each other in a cycle.
#[test]
fn files_of_a_floor_have_an_order() {
    for (folder, _) in FLOORS {
        let paths = sources(&src().join(folder.trim_end_matches("/*")));
        let imported = paths.iter().map(|path| {
            let file = path.strip_prefix(src()).unwrap().to_str().unwrap();
            let module = file.trim_end_matches(".rs").trim_end_matches("/mod").to_owned();
            let targets = imports(&module, &code(&std::fs::read_to_string(path).unwrap()));
            (module, targets)
        });
        assert_eq!(circle(&imported.collect()), Vec::<String>::new(), "{folder}");
    }
}

#[test]
fn a_circle_is_found() {
    let imports = |of: &str| of.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let files = |last: &str| {
        [("a", "b"), ("b", "c d"), ("c", "d"), ("d", last)].map(|(a, b)| (a.to_owned(), imports(b)))
    };
    assert_eq!(circle(&files("e").into_iter().collect()), Vec::<String>::new());
    assert_eq!(circle(&files("b").into_iter().collect()), ["b", "c", "d"]);
}

/// Returns the modules that import each other in a cycle. Empty if they can be put in an order.
fn circle(imports: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut left: Vec<&String> = imports.keys().collect();
    loop {
        let open = |module: &&String| {
            let reads = |module: &str, other: &String| {
                imports[other].iter().any(|target| target == module && other != module)
            };
            let targets = imports[*module].iter().any(|target| target != *module && left.contains(&target));
            targets && left.iter().any(|other| reads(module, other))
        };
        let rest: Vec<&String> = left.iter().copied().filter(open).collect();
        if rest.len() == left.len() {
            return rest.into_iter().cloned().collect();
        }
        left = rest;
    }
}

#[test]
fn planted_violations_are_found() {
    for (file, text, problem) in [
        ("tflite/parse/tensor.rs", "use crate::tflite::normalise::fold;", "imports tflite/normalise"),
        ("tflite/parse/tensor.rs", "use super::super::recognise::{self as r};", "imports tflite/recognise"),
        ("tflite/parse/tensor.rs", "use crate::{FormatError, Profile};", "imports tflite"),
        (
            "tflite/parse/tensor.rs",
            "fn f() { crate::tflite::recognise::kit::g() }",
            "imports tflite/recognise/kit",
        ),
        ("tflite/normalise/mod.rs", "use crate::tflite::TfliteError;", "imports tflite"),
        ("tflite/normalise/mod.rs", "use crate::onnx::OnnxError;", "imports onnx"),
        ("tflite/recognise/kit/reader.rs", "use super::super::ops::find;", "imports tflite/recognise/ops"),
        ("tflite/recognise/ops/pool.rs", "use super::Reader;", "imports tflite/recognise/ops"),
        (
            "tflite/recognise/ops/pool.rs",
            "use crate::tflite::{parse::Field, recognise::{kit::NewNode, ops::{layout::pad}}};",
            "imports tflite/recognise/ops/layout",
        ),
        (
            "tflite/recognise/ops/pool.rs",
            "pub(super) fn unlisted() {}",
            "exports unlisted, which no row names",
        ),
    ] {
        assert_eq!(violations(file, text), [problem], "{text}");
    }
    let sound = "use super::flatbuffer::Field; // use crate::tflite::recognise;\npub(in crate::tflite) struct S;\n\
                 use crate::FormatError;\n#[cfg(test)]\nmod tests { use super::*; }";
    assert!(violations("tflite/parse/tensor.rs", sound).is_empty());
}

/// Returns the forbidden imports and exports of a source file.
fn violations(file: &str, text: &str) -> Vec<String> {
    let text = code(text);
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let inside = |folder: &str, of: &str| folder == of || folder.starts_with(&format!("{of}/"));
    let mut problems = Vec::new();
    for (row, allowed) in FLOORS {
        let folder = row.trim_end_matches("/*");
        // `mod.rs` with the list is above the files.
        if !inside(module, folder) || (row.ends_with("/*") && module == folder) {
            continue;
        }
        let own = match module[folder.len()..].split('/').nth(1) {
            Some(apart) if row.ends_with("/*") => format!("{folder}/{apart}"),
            _ => (*folder).to_owned(),
        };
        for target in imports(module, &text) {
            let reader = src().join(target.split('/').next().unwrap()).is_dir();
            if reader && !inside(&target, &own) && !allowed.iter().any(|below| inside(&target, below)) {
                problems.push(format!("imports {target}"));
            }
        }
        if row.ends_with("/*") {
            let list = std::fs::read_to_string(src().join(folder).join("mod.rs")).unwrap();
            let stem = own.rsplit('/').next().unwrap();
            for name in exports(&text).filter(|name| !list.contains(&format!("{stem}::{name}"))) {
                problems.push(format!("exports {name}, which no row names"));
            }
        }
    }
    problems
}

/// Returns the code of a source file, without comments and tests.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Returns the names of the items that a file exports.
fn exports(text: &str) -> impl Iterator<Item = &str> {
    const NO_NAMES: &[&str] = &[
        "pub", "super", "crate", "in", "const", "fn", "struct", "enum", "type", "mod", "use", "static",
        "trait", "",
    ];
    let items = text.lines().filter(|line| line.starts_with("pub"));
    items.filter_map(|line| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !NO_NAMES.contains(word))
    })
}

/// Returns the modules that a file of `module` imports by paths from the root of the crate or from a parent module.
///
/// They are given as folders below `src`, with `lib` for items of the root.
fn imports(module: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let before = &text[..at];
            let within = before.ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c));
            if !within && !before.ends_with("in ") {
                paths(&text[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found.into_iter().map(|path| target(module, &path)).collect()
}

/// Parses a path or a tree of paths at the start of `text`, and returns the rest.
fn paths<'a>(text: &'a str, prefix: &mut Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut inner) = text.strip_prefix('{') {
        loop {
            inner = inner.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if inner.is_empty() || inner.starts_with('}') {
                return inner.get(1..).unwrap_or_default();
            }
            inner = paths(inner, &mut prefix.clone(), found);
            let end = inner.find([',', '}']).unwrap_or(inner.len());
            inner = &inner[end..];
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*').unwrap_or(text.len());
    if end == 0 {
        found.push(prefix.clone());
        return text.get(1..).unwrap_or_default();
    }
    prefix.push(&text[..end]);
    match text[end..].strip_prefix("::") {
        Some(rest) => paths(rest, prefix, found),
        None => {
            found.push(prefix.clone());
            &text[end..]
        }
    }
}

/// Returns the deepest module on a path from `module`.
fn target(module: &str, path: &[&str]) -> String {
    let mut at: Vec<&str> = Vec::new();
    if path[0] == "super" {
        at = module.split('/').collect();
    }
    for (index, &segment) in path.iter().enumerate() {
        match segment {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            name => {
                let folder = src().join(at.join("/")).join(name);
                if folder.is_dir() || folder.with_extension("rs").exists() {
                    at.push(name);
                } else if at.is_empty() {
                    return exported(name, &path[index..]);
                } else {
                    break;
                }
            }
        }
    }
    at.join("/")
}

/// Returns the module that an item of the crate's root comes from.
fn exported(name: &str, path: &[&str]) -> String {
    let root = code(&std::fs::read_to_string(src().join("lib.rs")).unwrap());
    let mut found = Vec::new();
    for (at, _) in root.match_indices("pub use ") {
        paths(&root[at + "pub use ".len()..], &mut Vec::new(), &mut found);
    }
    let from = found.iter().find(|path| path.last() == Some(&name));
    from.map_or_else(|| format!("lib/{}", path[0]), |from| from[0].to_owned())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false => files.extend(path.extension().is_some_and(|e| e == "rs").then_some(path)),
        }
    }
    files
}
