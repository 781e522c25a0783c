//! `guardbit explain` and `guardbit help`: the pages have an entry for every code, and their examples cause the
//! codes that they explain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{NpzWriter, WritableElement, WriteNpyExt};

use crate::common::sources::for_sources;
use crate::common::{guardbit, root, succeed};

/// Crates whose sources have codes.
const CRATES: [&str; 12] = [
    "cli",
    "documents",
    "files",
    "frontends",
    "graph",
    "hwmodels",
    "library",
    "quantize",
    "reports",
    "rtl-vectors",
    "sim",
    "study",
];

/// Codes that no example causes, by reason. Their entries say so.
const WITHOUT_EXAMPLE: &[(&str, &[&str])] = &[
    (
        "a fault of guardbit or of a pass or method, not of the input",
        &[
            "patch::cycle",
            "patch::graph",
            "patch::output_name",
            "patch::replaced_twice",
            "patch::still_read",
            "patch::type",
            "patch::unknown",
            "quantize::method",
            "quantize::network",
            "reports::plot",
            "vectors::mutant",
        ],
    ),
    (
        "a full disk, a signal, a race, a missing tool or another build",
        &[
            "folder::busy",
            "folder::read",
            "interrupted",
            "reports::npz",
            "reports::table",
            "size::area",
            "study::parquet",
            "vectors::write",
            "vectors::yosys",
        ],
    ),
    (
        "only calls of the library",
        &[
            "hw::extends",
            "level",
            "quantize::accelerator",
            "quantize::host",
            "quantize::samples",
            "quantize::scale",
            "sim",
            "tensor",
            "vectors::data",
        ],
    ),
    (
        "a TFLite file with states or with hundreds of operators",
        &["graph_yaml::export", "input::steps", "quantize::states", "tflite::unfolds"],
    ),
    (
        "an input that is too large, or that other checks refuse first",
        &[
            "lower::too_many_products",
            "merge::unlisted",
            "onnx::graph",
            "quantize::memory",
            "reports::parquet",
            "vectors::empty",
        ],
    ),
];

/// Section of a page of `docs/errors`.
struct Entry {
    code: String,
    text: String,
    /// Part of the page before the first section, with the files of several examples.
    top: String,
}

/// Pages of `docs/errors`, in the order of their names.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs/errors")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = entries.filter(|path| !path.ends_with("README.md")).collect();
    pages.sort();
    pages
}

fn entries(page: &Path) -> Vec<Entry> {
    let text = fs::read_to_string(page).unwrap();
    let mut parts = text.split("\n## ");
    let top = parts.next().unwrap().to_owned();
    let entry = |part: &str| {
        let (code, text) = part.split_once('\n').unwrap();
        Entry { code: code.into(), text: text.into(), top: top.clone() }
    };
    parts.map(entry).collect()
}

fn all_entries() -> Vec<Entry> {
    pages().iter().flat_map(|page| entries(page)).collect()
}

/// Returns the first line and the content of every block.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    text.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect()
}

/// Checks that the command contains the current pages; `scripts/renew` renews them.
pub fn check_copies() {
    let errors: String = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let topics = fs::read_to_string(root().join("docs/topics.md")).unwrap();
    for (name, text) in [("errors.md", errors), ("topics.md", topics)] {
        let copy = root().join("cli/src/pages").join(name);
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            fs::write(&copy, &text).unwrap();
        }
        assert!(fs::read_to_string(&copy).unwrap() == text, "{} is stale: run scripts/renew", copy.display());
    }
}

/// Returns every code in the sources.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for_sources(&CRATES, |_, text| {
        for after in text.split("\"guardbit::").skip(1) {
            let code = after.split('"').next().unwrap();
            let is_code = !code.is_empty()
                && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c));
            if is_code && !code.ends_with(':') {
                codes.insert(format!("guardbit::{code}"));
            }
        }
    });
    codes
}

#[test]
fn every_code_has_an_entry_and_every_entry_a_code() {
    let codes = codes();
    let listed: Vec<String> = all_entries().into_iter().map(|entry| entry.code).collect();
    let explained: BTreeSet<String> = listed.iter().cloned().collect();
    assert!(codes.len() > 180);
    assert_eq!(explained.len(), listed.len(), "a code has two entries");
    let missing: Vec<_> = codes.difference(&explained).collect();
    let unknown: Vec<_> = explained.difference(&codes).collect();
    assert!(missing.is_empty(), "codes without an entry in docs/errors: {missing:?}");
    assert!(unknown.is_empty(), "entries of docs/errors whose code does not exist: {unknown:?}");
}

/// Every entry has a cause, a cure, and an example or a reason why it has none.
#[test]
fn entries_are_complete() {
    let without: BTreeSet<String> = WITHOUT_EXAMPLE
        .iter()
        .flat_map(|(_, codes)| *codes)
        .map(|code| format!("guardbit::{code}"))
        .collect();
    for Entry { code, text, .. } in all_entries() {
        let (has, says) = (text.contains("```console"), text.contains("\nNo example: "));
        assert_eq!((has, says), (!without.contains(&code), without.contains(&code)), "{code}");
        assert!(text.contains("\nCure: "), "{code} has no cure");
        assert!(
            !["```", "No example: ", "Cure: "].iter().any(|start| text.trim().starts_with(start)),
            "{code} has no cause"
        );
    }
}

/// Writes the files of an example: named blocks, and arrays that a block of Python saves.
fn write_files(folder: &Path, text: &str) {
    for (info, content) in blocks(text) {
        if let Some((_, name)) = info.split_once(' ') {
            fs::write(folder.join(name), content).unwrap();
        } else if info == "python" {
            content.lines().for_each(|line| save(folder, line));
        }
    }
}

/// Runs a line such as `np.save("x.npy", np.full((4, 16), 3, np.int8))` or
/// `np.savez("x.npz", name=np.zeros((4, 16), np.int8))`.
fn save(folder: &Path, line: &str) {
    let (start, rest) = line.split_once("(\"").unwrap();
    let (name, rest) = rest.split_once("\", ").unwrap();
    let (key, array) = rest.split_once("np.").unwrap();
    let (make, rest) = array.split_once("((").unwrap();
    let (shape, rest) = rest.split_once("), ").unwrap();
    let shape: Vec<usize> =
        shape.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
    let arguments: Vec<&str> =
        rest.trim_end_matches(')').split(", ").map(|word| word.trim_start_matches("np.")).collect();
    let (value, dtype) = match (make, &arguments[..]) {
        ("zeros", [dtype]) => (0.0, *dtype),
        ("full", [value, dtype]) => (value.parse::<f64>().unwrap(), *dtype),
        _ => panic!("{line}"),
    };
    let key = (start == "np.savez").then(|| key.trim_end_matches('='));
    let path = folder.join(name);
    match dtype {
        "int8" => write(&path, key, &shape, value as i8),
        "int64" => write(&path, key, &shape, value as i64),
        "float32" => write(&path, key, &shape, value as f32),
        "float64" => write(&path, key, &shape, value),
        _ => panic!("{line}"),
    }
}

fn write<T: WritableElement + Clone>(path: &Path, key: Option<&str>, shape: &[usize], value: T) {
    let array = ArrayD::from_elem(IxDyn(shape), value);
    let file = fs::File::create(path).unwrap();
    match key {
        None => array.write_npy(file).unwrap(),
        Some(key) => {
            let mut archive = NpzWriter::new(file);
            archive.add_array(key, &array).unwrap();
            archive.finish().unwrap();
        }
    }
}

/// Copies the files of the sources that a command names.
fn copy_named(folder: &Path, command: &str) {
    for word in command.split_whitespace().filter(|word| word.contains('/') && !word.starts_with(['/', '.']))
    {
        let from = root().join(word);
        if from.is_file() {
            fs::create_dir_all(folder.join(word).parent().unwrap()).unwrap();
            fs::copy(from, folder.join(word)).unwrap();
        }
    }
}

/// Runs the commands of an example in an empty folder with its files; returns the output of the last one. All
/// others must succeed.
fn run(entry: &Entry) -> Output {
    let dir = tempfile::tempdir().unwrap();
    write_files(dir.path(), &entry.top);
    write_files(dir.path(), &entry.text);
    let program = assert_cmd::cargo::cargo_bin("guardbit");
    let path = std::env::join_paths(
        [program.parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let commands: Vec<&str> = blocks(&entry.text)
        .into_iter()
        .filter(|(info, _)| *info == "console")
        .flat_map(|(_, content)| content.lines().filter_map(|line| line.strip_prefix("$ ")))
        .collect();
    let outputs = commands.iter().map(|command| {
        copy_named(dir.path(), command);
        Command::new("sh").args(["-c", command]).current_dir(dir.path()).env("PATH", &path).output().unwrap()
    });
    let mut outputs: Vec<Output> = outputs.collect();
    let last = outputs.pop().unwrap();
    for (command, output) in commands.iter().zip(outputs) {
        assert!(
            output.status.success(),
            "{}: {command}\n{}",
            entry.code,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    last
}

/// Checks that the example of every entry prints its code: as a warning, or as an error with exit code 1 or 2.
fn check_page(name: &str) {
    let entries = entries(&root().join("docs/errors").join(name).with_extension("md"));
    for entry in entries.iter().filter(|entry| entry.text.contains("```console")) {
        let output = run(entry);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_warning = entry.text.trim().starts_with("Warning");
        let expected: &[i32] = if is_warning { &[0] } else { &[1, 2] };
        assert!(
            expected.contains(&output.status.code().unwrap()),
            "{}: {:?}\n{stderr}",
            entry.code,
            output.status
        );
        assert!(
            stderr.lines().any(|line| line.trim_end() == entry.code),
            "not {}, but\n{stderr}",
            entry.code
        );
    }
}

/// Declares a test per page, and the list of pages.
macro_rules! examples {
    ($($page:ident)*) => {
        mod examples {
            $(
                #[test]
                fn $page() {
                    super::check_page(stringify!($page));
                }
            )*
        }

        #[test]
        fn every_page_is_tested() {
            let names: Vec<_> = pages().iter().map(|page| page.file_stem().unwrap().to_string_lossy().into_owned()).collect();
            assert_eq!(names, [$(stringify!($page)),*]);
        }
    };
}

examples! { commands cost files graph_yaml hw hw_warnings input lower model onnx patch quantize study tflite vectors }

#[test]
fn explain_shows_one_code_a_group_or_all() {
    let bits = succeed(&["explain", "guardbit::hw::bits"]);
    assert!(bits.starts_with("guardbit::hw::bits\n\n") && bits.contains("\nCure: "), "{bits}");
    assert_eq!(bits, succeed(&["explain", "hw::bits"]));
    // The files at the top of a page belong to the examples that read them.
    let output = succeed(&["explain", "output"]);
    assert!(output.contains("    net.yaml:\n\n    schema: 1\n") && !output.contains("```"), "{output}");
    let cut = succeed(&["explain", "cut"]);
    assert!(cut.contains("guardbit::cut::nothing") && !cut.contains("guardbit::model::io"), "{cut}");
    let all = succeed(&["explain"]);
    for Entry { code, .. } in all_entries() {
        assert!(all.lines().any(|line| line.trim() == code), "{code}");
        let text = succeed(&["explain", &code]);
        // Blocks and quoted texts are not wrapped.
        let too_long =
            |line: &&str| line.chars().count() > 80 && !line.starts_with("    ") && !line.contains('`');
        assert_eq!(text.lines().find(too_long), None, "{code}");
        assert!(!text.contains("](") && !text.contains("```"), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&succeed(&["explain", "--json"])).unwrap();
    assert_eq!(json.as_array().unwrap().len(), codes().len());
}

#[test]
fn unknown_codes_are_refused() {
    let output = guardbit(&["explain", "hw::bit"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("did you mean `guardbit::hw::bits`?") && text.contains("graph_yaml"), "{text}");
    for other in ["nonsense", &"x".repeat(100_000)] {
        let output = guardbit(&["explain", other]);
        assert_eq!(output.status.code(), Some(2));
        assert!(!String::from_utf8(output.stderr).unwrap().contains("did you mean"), "{other:.20}");
    }
}

#[test]
fn help_has_topics_and_commands() {
    let overview = succeed(&["help"]);
    let page = fs::read_to_string(root().join("docs/topics.md")).unwrap();
    let topics: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(
        ["levels", "overflow", "words", "formats", "exit-codes"].iter().all(|topic| topics.contains(topic))
    );
    for topic in topics {
        assert!(overview.contains(&format!("\n  {topic}\n")), "{topic}");
        let text = succeed(&["help", topic]);
        assert!(
            (5..45).contains(&text.lines().count()) && !text.contains("](") && !text.contains("<!--"),
            "{text}"
        );
    }
    for command in [&["run"][..], &["hw"], &["hw", "check"]] {
        let by_help = succeed(&[&["help"], command].concat());
        assert_eq!(by_help, succeed(&[command, &["--help"]].concat()), "{command:?}");
    }
    let unknown = guardbit(&["help", "overflw"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("did you mean `overflow`?"));
}
