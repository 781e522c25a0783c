//! README and pages of `docs`: links work, and pictures are current. `pages.rs` runs their commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::root;
use assert_cmd::Command;

/// Pages whose commands a newcomer runs one after the other.
const FIRST_PAGES: [&str; 4] =
    ["README.md", "docs/start/first.md", "docs/start/tour.md", "docs/reference/results.md"];

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// A newcomer who runs all commands of the first pages in order never uses an existing output folder.
#[test]
fn no_two_commands_of_the_first_pages_write_one_folder() {
    let text = FIRST_PAGES.map(page).concat();
    let folders: Vec<&str> =
        text.split(" -o ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    let twice = folders.iter().enumerate().find(|(at, folder)| folders[..*at].contains(folder));
    assert_eq!((folders.len() > 8, twice), (true, None));
}

/// The first page stays short enough to be read completely.
#[test]
fn the_readme_is_short() {
    let words = page("README.md").split_whitespace().count();
    assert!(words < 1500, "README.md has {words} words");
}

/// The command at the top of `docs/reference/results.md` writes exactly the files that the page lists for a run.
#[test]
fn the_files_of_a_run_are_those_of_the_results_page() {
    let text = page("docs/reference/results.md").replace(" \\\n", " ");
    let command =
        text.lines().find(|line| line.starts_with("guardbit run ")).unwrap().replace("-o out/results", "");
    let (_, table) = text.split_once("## The files of a run\n").unwrap();
    let (table, _) = table.split_once("\n[").unwrap();
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    let cells: String = table.lines().map(first).collect();
    let mut listed: Vec<&str> =
        cells.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/')).collect();
    let out = tempfile::tempdir().unwrap();
    let mut process = Command::cargo_bin("guardbit").unwrap();
    process.current_dir(root()).args(command.split_whitespace().skip(1)).arg("-o");
    assert!(process.arg(out.path().join("first")).output().unwrap().status.success());
    let entries = fs::read_dir(out.path().join("first")).unwrap();
    let mut found: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(listed, found);
}

/// Links of Markdown pages lead to existing files and headings.
#[test]
fn links_of_pages_lead_somewhere() {
    let folders = ["", "sim", "frontends", "rtl-vectors"].map(|folder| root().join(folder));
    let mut pages = folders.map(|folder| markdown(&folder)).concat();
    pages.extend(pages_of_docs());
    let mut broken = Vec::new();
    let mut links = 0;
    for path in pages {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let there = target.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(&anchor.to_owned()));
            if !there {
                broken.push(format!("{}: {link}", path.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(links > 50 && broken.is_empty(), "{links} links, broken: {broken:#?}");
}

/// Returns the Markdown files of a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// Returns the pages of the documentation, in all its folders, in order.
pub fn pages_of_docs() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        pages.extend(markdown(&folder));
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
    }
    pages.sort();
    pages
}

/// Returns the anchors of a page's headings, as Markdown viewers generate them: the second of one name ends with `-1`.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    let mut anchors: Vec<String> = Vec::new();
    let mut times = BTreeMap::new();
    for heading in headings {
        let anchor: String = heading.chars().filter_map(letter).collect();
        let before: &mut usize = times.entry(anchor.clone()).or_default();
        anchors.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
        *before += 1;
    }
    anchors
}

/// Returns the number of lines of the table that a command prints first.
fn table_lines(stdout: &[u8]) -> usize {
    String::from_utf8_lossy(stdout).lines().take_while(|line| !line.is_empty()).count()
}

/// The digits sweep, which the README names first, also creates the pictures.
#[test]
fn pictures_are_those_of_the_digits_sweep() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("digits");
    let study = root().join("examples/digits/study.yaml");
    let output = Command::cargo_bin("guardbit")
        .unwrap()
        .arg("sweep")
        .arg(study)
        .arg("-o")
        .arg(&folder)
        .arg("--all")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(table_lines(&output.stdout), 1 + 17 * 2, "a header, and a row per width and mode");
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(!report.contains("0.00000000"), "small probabilities have an exponent");
    for name in ["accuracy", "overflow_rate"] {
        let made = fs::read_to_string(folder.join("plots").join(format!("{name}.svg"))).unwrap();
        let shown = root().join("docs/images").join(format!("digits_{name}.svg"));
        check_picture(&shown, &made);
    }
    for file in ["summary.csv", "sweep.csv", "sweep.json", "report.html", "plots/accuracy.png"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
}

/// Compares a picture with the committed one; `scripts/renew` renews it.
pub fn check_picture(shown: &Path, made: &str) {
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(shown, made).unwrap();
    }
    assert!(fs::read_to_string(shown).unwrap() == made, "{} is stale: run scripts/renew", shown.display());
}

/// Tests named on the pages of the arithmetic contract, as `file::name` for `tests/file.rs` of some crate,
/// exist.
#[test]
fn the_arithmetic_contract_names_its_tests() {
    let page = |name: &str| fs::read_to_string(root().join("docs/reference").join(name)).unwrap();
    let pages = ["arithmetic.md", "orders.md", "statistics.md"].map(page).concat();
    // Code blocks contain spaces.
    let quoted = pages.split('`').skip(1).step_by(2).filter(|text| !text.contains(char::is_whitespace));
    let named: Vec<(&str, &str)> = quoted.filter_map(|text| text.split_once("::")).collect();
    assert!(named.len() > 40, "{}", named.len());
    for (file, name) in named {
        let (krate, file) = file.split_once('/').map_or((None, file), |(krate, file)| (Some(krate), file));
        let crates = krate.map_or(vec!["sim", "cli"], |krate| vec![krate]);
        let sources =
            crates.iter().map(|krate| root().join(krate).join("tests").join(file).with_extension("rs"));
        let source: String = sources.filter_map(|path| fs::read_to_string(path).ok()).collect();
        assert!(source.contains(&format!("fn {name}(")), "the arithmetic contract names {file}::{name}");
    }
}
