//! README and pages of `docs`: commands run and print what the pages show, links work, and pictures are
//! current.

use std::fs;
use std::path::Path;

use crate::common::root;
use assert_cmd::Command;

/// Command of a transcript with the output below it.
struct Step {
    command: String,
    output: Vec<String>,
}

/// Returns the `console` blocks of a Markdown file. A backslash continues a command.
fn transcript(markdown: &str) -> Vec<Step> {
    let markdown = markdown.replace(" \\\n", " ");
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut first) = (false, 0);
    for line in markdown.lines() {
        if line.starts_with("```") {
            (inside, first) = (line == "```console", steps.len());
        } else if inside {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.into(), output: Vec::new() }),
                // Lines before the first command of a block belong to no command.
                None => steps[first..].last_mut().into_iter().for_each(|step| step.output.push(line.into())),
            }
        }
    }
    steps
}

/// Returns whether `found` equals `expected`, where a line `...` matches any number of lines, and `...` after
/// text matches the rest of a line.
fn matches(expected: &[String], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=found.len()).any(|skip| matches(rest, &found[skip..])),
        Some((line, rest)) => found.split_first().is_some_and(|(first, others)| {
            let same = match line.strip_suffix("...") {
                Some(start) => first.starts_with(start),
                None => first == line,
            };
            same && matches(rest, others)
        }),
    }
}

/// Pages whose commands a newcomer runs one after the other.
const FIRST_PAGES: [&str; 3] = ["README.md", "docs/tour.md", "docs/results.md"];

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

#[test]
fn commands_print_what_the_tour_shows() {
    let out = tempfile::tempdir().unwrap();
    let tour = page("docs/tour.md");
    let steps = transcript(&tour);
    assert_eq!(steps.len(), 10, "the tour has its commands");
    steps.iter().for_each(|step| compare(step, "out/", out.path()));
    // The override on the page fits the accelerator written by the sizing before it.
    let (_, set) = tour.split_once("(`--set ").unwrap();
    let (set, _) = set.split_once('`').unwrap();
    let mut process = Command::cargo_bin("guardbit").unwrap();
    let place = |name: &str| out.path().join(name).to_string_lossy().into_owned();
    let run = ["run", "examples/digits/digits_int8.tflite", "--random", "1", "--set", set];
    let folders = ["--hw", &place("size/recommended.yaml"), "-o", &place("overridden")];
    let output = process.current_dir(root()).args(run).args(folders).output().unwrap();
    assert!(output.status.success(), "{set}\n{}", String::from_utf8_lossy(&output.stderr));
    // The custom accelerator at the end of the page is valid.
    let (_, yaml) = tour.split_once("```yaml\n").unwrap();
    let file = out.path().join("mine.yaml");
    fs::write(&file, yaml.split_once("```").unwrap().0).unwrap();
    let mut process = Command::cargo_bin("guardbit").unwrap();
    let output = process.args(["hw", "check"]).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The command at the top of `docs/results.md` writes exactly the files that the page lists for a run.
#[test]
fn the_files_of_a_run_are_those_of_the_results_page() {
    let text = page("docs/results.md").replace(" \\\n", " ");
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
    let markdown = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect::<Vec<_>>()
    };
    let pages = ["", "docs", "docs/errors", "sim", "frontends", "rtl-vectors"].map(markdown).concat();
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

/// Returns the anchors of a page's headings, as Markdown viewers generate them.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    headings.map(|heading| heading.chars().filter_map(letter).collect()).collect()
}

/// Runs a command, with `folder` instead of the path prefix `shown`, and compares the output with the part
/// that is shown.
fn compare(step: &Step, shown: &str, folder: &Path) {
    let folder = format!("{}/", folder.display());
    let place = |word: &str| match word.strip_prefix(shown) {
        Some(rest) => format!("{folder}{rest}"),
        None => word.into(),
    };
    let mut words = step.command.split_whitespace().map(place);
    assert_eq!(words.next().as_deref(), Some("guardbit"));
    let mut process = Command::cargo_bin("guardbit").unwrap();
    let output = process.current_dir(root()).args(words).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = stdout.lines().collect();
    // A blank line may precede the next command.
    let ends = step.output.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    assert!(output.status.success(), "{}", step.command);
    assert!(ends == 0 || matches(&step.output[..ends], &found), "{}\nprints\n{stdout}", step.command);
}

/// Returns the commands of a page that create and inspect a bundle, either those that run simulators or the
/// others.
fn bundle_commands(page: &str, simulator: bool) -> Vec<Step> {
    let steps = transcript(&fs::read_to_string(root().join("docs").join(page)).unwrap());
    let exports = |step: &Step| step.command.starts_with("guardbit vectors");
    let looks = |step: &Step| {
        // Mutants take long.
        step.command.starts_with("guardbit check")
            && step.command.contains("--simulator") == simulator
            && !step.command.contains("--mutate")
    };
    steps.into_iter().filter(|step| exports(step) || looks(step)).collect()
}

/// Transcripts of guardbit itself on the pages about bundles, without simulators.
#[test]
fn commands_print_what_the_pages_about_bundles_show() {
    let dir = tempfile::tempdir().unwrap();
    let steps = bundle_commands("rtl-verification.md", false);
    assert_eq!(steps.len(), 2);
    steps.iter().for_each(|step| compare(step, "bundle", &dir.path().join("bundle")));
    // Each command of that page stands alone; the bundle that it checks is damaged before.
    let steps = bundle_commands("waves.md", false);
    let exports = steps.iter().filter(|step| step.command.starts_with("guardbit vectors"));
    for (index, step) in exports.enumerate() {
        compare(step, "bundle", &dir.path().join(format!("waves{index}")));
    }
    let waves = fs::read_to_string(root().join("docs/waves.md")).unwrap();
    for name in ["vectors.fst", "vectors.vcd"] {
        let bytes = fs::metadata(dir.path().join("waves0/waves").join(name)).unwrap().len();
        assert!(waves.contains(&format!("{bytes:>6} bundle/waves/{name}\n")), "{name} has {bytes} bytes");
    }
    // Line at which a bench reports a difference.
    let bench = fs::read_to_string(root().join("rtl-vectors/bench/tb.sv")).unwrap();
    let line = bench.lines().position(|line| line.contains("\"vectors differ\"")).unwrap() + 1;
    let page = fs::read_to_string(root().join("docs/rtl-verification.md")).unwrap();
    assert!(page.contains(&format!("FATAL: tb.sv:{line}: vectors differ\n")), "it is line {line}");
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS"]
fn simulators_print_what_the_pages_about_bundles_show() {
    let dir = tempfile::tempdir().unwrap();
    for page in ["rtl-verification.md", "reference-design.md"] {
        let steps = bundle_commands(page, true);
        assert_eq!(steps.len(), 2, "{page}");
        steps.iter().for_each(|step| compare(step, "bundle", &dir.path().join(page)));
    }
}

/// Returns the words of a command; double quotes join several.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.into());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}

/// Every command of the page about sweeps prints a table with more than one point.
#[test]
fn commands_of_the_sweeps_page_run() {
    let page = fs::read_to_string(root().join("docs/sweeps.md")).unwrap();
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("guardbit ")).collect();
    assert!(commands.len() >= 5);
    for command in commands {
        let words = words(command);
        let mut process = Command::cargo_bin("guardbit").unwrap();
        let output = process.current_dir(root()).args(&words[1..]).output().unwrap();
        assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8(output.stdout).unwrap().lines().count() > 2, "{command}");
    }
}

/// Returns the number of lines of the table that a command prints first.
fn table_lines(stdout: &[u8]) -> usize {
    String::from_utf8_lossy(stdout).lines().take_while(|line| !line.is_empty()).count()
}

/// The study on that page is valid.
#[test]
fn the_study_of_the_sweeps_page_runs() {
    let page = fs::read_to_string(root().join("docs/sweeps.md")).unwrap();
    let study = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["digits_int8.tflite", "test_images.npy", "test_labels.npy"] {
        fs::copy(root().join("examples/digits").join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("study.yaml"), study.replace("labels:", "samples: 3\nlabels:")).unwrap();
    let mut process = Command::cargo_bin("guardbit").unwrap();
    let output = process.arg("sweep").arg(folder.path().join("study.yaml")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(table_lines(&output.stdout), 1 + 5 * 2 * 2);
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
fn check_picture(shown: &Path, made: &str) {
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(shown, made).unwrap();
    }
    assert!(fs::read_to_string(shown).unwrap() == made, "{} is stale: run scripts/renew", shown.display());
}

/// Tests named on the pages of the arithmetic contract, as `file::name` for `tests/file.rs` of some crate,
/// exist.
#[test]
fn the_arithmetic_contract_names_its_tests() {
    let page = |name: &str| fs::read_to_string(root().join("docs").join(name)).unwrap();
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
