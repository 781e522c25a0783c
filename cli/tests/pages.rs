//! Pages of `docs`: every command runs, and prints what its page shows.
//!
//! The blocks `sh` and `console` of a page run from top to bottom in one folder, which has the project's files. Lines of
//! `console` that begin with `$ ` are commands, and the lines below are what stdout shows; `...` stands for anything.
//! Comments above a block direct the test:
//!
//! - `<!-- file NAME -->`: the block is the content of this file.
//! - `<!-- first: COMMAND -->`: runs before the block; pages need no bundle of another page.
//! - `<!-- exit N -->`: the last command of the block ends with this code, and the block shows stderr too.
//! - `<!-- needs PROGRAM -->`: a name of `PROGRAMS`; this block and those below it run in a test that needs it. Where
//!   the program is here, that test runs the whole page, and no other one does.
//! - `<!-- slow -->`: this block runs with `scripts/test --all`; no block below may need what it makes.
//! - `<!-- not run: REASON -->`: for example because it would install something.
//!
//! `<!-- picture FILE -->` above an image: the commands so far have drawn it. `scripts/renew` renews the image. Without
//! `--all`, a picture of a slow block is not compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::root;
use crate::readme::pages_of_docs;
use guardbit_testing::is_full;
use tempfile::TempDir;

/// What blocks may need, with the variable that `scripts/test` sets. A variable may hold the path of a Python, which
/// is then `python3`.
const PROGRAMS: [(&str, &str); 5] = [
    ("simulators", "GUARDBIT_SIMULATORS"),
    ("numpy", "GUARDBIT_STATISTICS_PYTHON"),
    ("onnx", "GUARDBIT_ONNX_PYTHON"),
    ("torch", "GUARDBIT_BREVITAS_PYTHON"),
    ("pictures", "GUARDBIT_FIGURES_PYTHON"),
];

/// Returns the environment variable that says that a program is here.
fn variable(program: &str) -> &'static str {
    PROGRAMS.iter().find(|(known, _)| *known == program).unwrap().1
}

/// Command of a transcript with the output below it.
struct Step {
    command: String,
    output: Vec<String>,
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

/// Block of code of a page, with the directions above it.
struct Block {
    line: usize,
    language: String,
    directions: Vec<String>,
    text: String,
}

impl Block {
    /// Returns the rest of a direction that begins with `word`.
    fn direction(&self, word: &str) -> Option<&str> {
        self.directions.iter().find_map(|direction| direction.strip_prefix(word)).map(str::trim)
    }

    fn is_run(&self) -> bool {
        ["sh", "console"].contains(&self.language.as_str()) && self.direction("not run:").is_none()
    }

    /// Returns the commands. Those of `sh` are one, without output.
    fn steps(&self) -> Vec<Step> {
        if self.language == "sh" {
            return vec![Step { command: self.text.clone(), output: Vec::new() }];
        }
        let mut steps: Vec<Step> = Vec::new();
        for line in self.text.replace(" \\\n", " ").lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.into(), output: Vec::new() }),
                (None, Some(step)) => step.output.push(line.into()),
                (None, None) => panic!("line {}: output without a command: {line}", self.line),
            }
        }
        steps
    }
}

/// Returns the path of the image that a line consists of.
fn image(line: &str) -> Option<&str> {
    line.strip_prefix("![")?.split_once("](")?.1.strip_suffix(')')
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut inside, mut directions) = (false, Vec::new());
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                let directions = std::mem::take(&mut directions);
                blocks.push(Block {
                    line: index + 1,
                    language: language.into(),
                    directions,
                    text: String::new(),
                });
            }
        } else if inside {
            blocks.last_mut().unwrap().text += &format!("{line}\n");
        } else if let (Some(image), false) = (image(line), directions.is_empty()) {
            let directions = std::mem::take(&mut directions);
            blocks.push(Block { line: index + 1, language: "image".into(), directions, text: image.into() });
        } else if let Some(direction) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))
        {
            directions.push(direction.into());
        } else if !line.is_empty() {
            directions.clear();
        }
    }
    blocks
}

/// Folder in which the commands of a page run.
struct Place {
    folder: TempDir,
    at: PathBuf,
    path: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&at).unwrap();
        for entry in fs::read_dir(root()).unwrap().map(|entry| entry.unwrap()) {
            if !["out", ".git"].contains(&entry.file_name().to_string_lossy().as_ref()) {
                std::os::unix::fs::symlink(entry.path(), at.join(entry.file_name())).unwrap();
            }
        }
        let binary = assert_cmd::cargo::cargo_bin("guardbit");
        let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
        Place { folder, at, path }
    }

    /// Writes a file that a page shows, never through a link to the project.
    fn write(&self, name: &str, text: &str) {
        let path = self.at.join(name);
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        assert!(
            folder.canonicalize().unwrap().starts_with(self.folder.path().canonicalize().unwrap()),
            "{name}"
        );
        fs::write(path, text).unwrap();
    }

    /// Runs a command in the folder in which the previous one ended.
    fn run(&mut self, command: &str) -> Output {
        let ended = self.folder.path().join("ended");
        let script = format!("trap 'pwd >\"$ENDED\"' EXIT; set -e\n{command}")
            .replace("cargo run --release -- ", "guardbit ");
        let mut bash = Command::new("bash");
        bash.arg("-c").arg(script).current_dir(&self.at).env("PATH", &self.path).env("ENDED", &ended);
        let output = bash.env("HOME", self.folder.path()).output().unwrap();
        self.at = fs::read_to_string(ended).unwrap().trim_end().into();
        output
    }

    /// Runs a block and returns what differs from the page.
    fn differences(&mut self, block: &Block) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(command) = block.direction("first:") {
            let output = self.run(command);
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let steps = block.steps();
        for (index, step) in steps.iter().enumerate() {
            let exit = block.direction("exit ").filter(|_| index + 1 == steps.len());
            let code = exit.map_or(0, |code| code.parse().unwrap());
            let output = self.run(&step.command);
            let [stdout, stderr] =
                [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let found = if exit.is_some() { stdout.clone() + &stderr } else { stdout.clone() };
            let found: Vec<&str> = found.lines().collect();
            // A blank line may precede the next command.
            let ends = step.output.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
            let shown = ends == 0 || matches(&step.output[..ends], &found);
            if output.status.code() != Some(code) || !shown {
                let status = output.status;
                problems.push(format!("$ {}\nends with {status}\n{stdout}{stderr}", step.command));
                break;
            }
        }
        problems
    }
}

/// Runs a page, with what its blocks need or up to the first block that needs something.
fn check(page: &Path, text: &str, with_programs: bool) -> Vec<String> {
    let mut place = Place::new();
    let (mut problems, mut skipped) = (Vec::new(), false);
    for block in blocks(text) {
        if let Some(name) = block.direction("file ") {
            place.write(name, &block.text);
        }
        if let Some(made) =
            block.direction("picture ").filter(|made| !skipped || place.at.join(made).exists())
        {
            let made = fs::read_to_string(place.at.join(made)).unwrap();
            crate::readme::check_picture(&page.parent().unwrap().join(&block.text), &made);
        }
        if !block.is_run() {
            continue;
        }
        if let Some(name) = block.direction("needs ") {
            if !with_programs {
                break;
            }
            let value = crate::common::needed(variable(name));
            if let (true, Some(bin)) = (value.contains('/'), Path::new(&value).parent()) {
                place.path = format!("{}:{}", bin.display(), place.path);
            }
        }
        if block.direction("slow").is_some() && !is_full() {
            skipped = true;
            continue;
        }
        let found = place.differences(&block);
        if !found.is_empty() {
            let page = page.strip_prefix(root()).unwrap_or(page).display();
            problems.extend(found.into_iter().map(|found| format!("{page}:{}\n{found}", block.line)));
            break;
        }
    }
    problems
}

/// Returns the pages whose blocks run here. `explain::examples` runs the other pages of `docs/errors`, one entry at a time.
fn own_pages() -> impl Iterator<Item = PathBuf> {
    let errors = root().join("docs/errors");
    pages_of_docs().into_iter().filter(move |page| !page.starts_with(&errors) || page.ends_with("README.md"))
}

/// Folders of `docs` that a test below runs.
const FOLDERS: [&str; 8] =
    ["", "errors", "start", "tutorials", "how-to", "reference", "explanation", "gallery"];

/// Returns the programs that blocks of a page need.
fn programs(text: &str) -> impl Iterator<Item = String> {
    blocks(text).into_iter().filter_map(|block| block.direction("needs ").map(str::to_owned))
}

/// Returns whether a program that the page needs is here: then a test of its own runs the whole page.
fn is_run_whole(text: &str) -> bool {
    programs(text).any(|name| std::env::var_os(variable(&name)).is_some())
}

/// Runs the pages of a folder of `docs`.
fn check_folder(folder: &str) {
    assert!(FOLDERS.contains(&folder));
    let folder = root().join("docs").join(folder);
    let pages: Vec<PathBuf> = own_pages().filter(|page| page.parent() == Some(folder.as_path())).collect();
    assert!(!pages.is_empty(), "{}", folder.display());
    let texts = pages.iter().map(|page| (page, fs::read_to_string(page).unwrap()));
    let here = texts.filter(|(_, text)| !is_run_whole(text));
    let problems: Vec<String> = here.flat_map(|(page, text)| check(page, &text, false)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn first_pages() {
    check_folder("");
    check_folder("errors");
    check_folder("start");
    let page = root().join("README.md");
    assert_eq!(check(&page, &fs::read_to_string(&page).unwrap(), false), [""; 0]);
}

#[test]
fn tutorials() {
    check_folder("tutorials");
}

#[test]
fn how_to() {
    check_folder("how-to");
}

#[test]
fn reference() {
    check_folder("reference");
}

#[test]
fn explanation() {
    check_folder("explanation");
}

#[test]
fn gallery() {
    check_folder("gallery");
}

/// Runs the pages with a block that needs one of the chosen programs.
fn check_pages_with(is_chosen: impl Fn(&str) -> bool) {
    let mut problems = Vec::new();
    for page in own_pages() {
        let text = fs::read_to_string(&page).unwrap();
        if programs(&text).any(|name| is_chosen(&name)) {
            problems.extend(check(&page, &text, true));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS"]
fn pages_that_need_simulators() {
    check_pages_with(|program| program == "simulators");
}

#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON, GUARDBIT_ONNX_PYTHON, GUARDBIT_BREVITAS_PYTHON, GUARDBIT_FIGURES_PYTHON"]
fn pages_that_need_python_packages() {
    check_pages_with(|program| program != "simulators");
}

/// Folders of pages are those that a test above runs; each block is code of a known kind, and a file that is shown
/// has a name, so that a command can use it.
#[test]
fn no_block_is_left_out() {
    let mut problems = Vec::new();
    for page in own_pages() {
        let folder = page.parent().unwrap();
        let shown = page.strip_prefix(root()).unwrap().display().to_string();
        if !FOLDERS.iter().any(|known| root().join("docs").join(known) == folder) {
            problems.push(format!("{shown}: no test runs this folder"));
        }
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let named = block.direction("file ").is_some() || block.direction("not run:").is_some();
            let known = match block.language.as_str() {
                "sh" | "console" | "rust" | "text" | "image" => true,
                // Tests of the Python package run the code of the page.
                "python" => {
                    named
                        || ["python.md", "paper-figure.md", "golden-model.md"]
                            .iter()
                            .any(|name| page.ends_with(name))
                }
                _ => named,
            };
            if !known {
                problems.push(format!("{shown}:{}: {} without a name", block.line, block.language));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The test of pages fails on a page that is wrong.
#[test]
fn wrong_pages_are_found() {
    let page = |text: &str| check(Path::new("page.md"), text, false).len();
    assert_eq!(page("```console\n$ echo a; echo b\na\n...\n```\n"), 0);
    assert_eq!(page("```console\n$ echo a\nb\n```\n"), 1, "other output");
    assert_eq!(page("```sh\nfalse\ntrue\n```\n"), 1, "a command that fails");
    assert_eq!(page("<!-- exit 2 -->\n```console\n$ guardbit run\n...\n```\n"), 0);
    assert_eq!(page("<!-- exit 1 -->\n```console\n$ guardbit run\n```\n"), 1, "another exit code");
    assert_eq!(page("<!-- file a.txt -->\n```yaml\nx: 1\n```\n```console\n$ cat a.txt\nx: 1\n```\n"), 0);
    assert_eq!(page("```console\n$ cd examples\n$ ls digits/study.yaml\ndigits/study.yaml\n```\n"), 0);
    assert_eq!(page("<!-- not run: installs -->\n```sh\nfalse\n```\n"), 0);
    assert_eq!(page("<!-- not run: installs -->\n\nText.\n```sh\nfalse\n```\n"), 1, "it is above the text");
}
