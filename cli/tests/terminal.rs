//! What commands show on a terminal: tables that fit, the answer, colours, and results that are kept only if asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::common::digits;

/// Folder with a network, and an empty folder for temporary files.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["work", "tmp", "bin"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for file in ["digits_int8.tflite", "test_images.npy", "test_labels.npy"] {
            fs::copy(digits(file), dir.path().join(file)).unwrap();
        }
        Self(dir)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, args: &str, set: &[(&str, &str)]) -> Output {
        let mut command = Command::cargo_bin("guardbit").unwrap();
        command.current_dir(self.path("work")).env("TMPDIR", self.path("tmp"));
        for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GUARDBIT_PROGRESS"] {
            command.env_remove(name);
        }
        command.envs(set.iter().copied()).args(args.split_whitespace()).output().unwrap()
    }

    fn succeed(&self, args: &str, set: &[(&str, &str)]) -> String {
        let output = self.call(args, set);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn is_empty(&self, folder: &str) -> bool {
        fs::read_dir(self.path(folder)).unwrap().next().is_none()
    }

    /// Puts a program into the folder of programs.
    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

const SAMPLES: &str = "../digits_int8.tflite --hw fpga-int14-os --input ../test_images.npy --samples 40 --labels ../test_labels.npy";

/// One command of each kind that may keep results.
fn commands() -> [String; 4] {
    [
        format!("run {SAMPLES}"),
        format!("sweep {SAMPLES} --bits 14..=18 --overflow wrap,saturate"),
        format!("size {SAMPLES} --budget accuracy=5%"),
        format!("explore {SAMPLES} --axis accumulation.acc.bits=14..=20 --axis array.rows=8,16"),
    ]
}

/// Returns the sentence on the first screen of a report.
fn answer_of_page(page: &Path) -> String {
    let html = fs::read_to_string(page).unwrap();
    let answer = html.split_once("class=\"answer\">").or_else(|| html.split_once("class=answer>")).unwrap().1;
    let answer = answer.split_once("</p>").unwrap().0;
    let text = answer.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: String = text.collect();
    text.replace('\u{a0}', " ").replace("&#39;", "'").replace("&amp;", "&").trim().to_owned()
}

#[test]
fn nothing_is_kept_without_a_folder_and_the_answer_is_that_of_the_report() {
    let place = Place::new();
    for command in commands() {
        let shown = place.succeed(&command, &[]);
        assert!(place.is_empty("work") && place.is_empty("tmp"), "{command} keeps files");
        let kept = place.succeed(&format!("{command} -o out"), &[]);
        assert_eq!(shown, kept, "{command}");
        let answer = answer_of_page(&place.path("work").join("out/report.html"));
        assert_eq!(shown.lines().last(), Some(answer.as_str()), "{command}");
        fs::remove_dir_all(place.path("work").join("out")).unwrap();
    }
}

/// A folder that nobody may write to is no obstacle.
#[test]
fn results_that_are_not_kept_need_no_folder() {
    let place = Place::new();
    for args in ["--dump-tensors", "--histograms", "--dump-sums 0"] {
        let refused = place.call(&format!("{} {args}", commands()[0]), &[]);
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && stderr.contains("needs --output-dir"), "{stderr}");
    }
    fs::set_permissions(place.path("work"), fs::Permissions::from_mode(0o555)).unwrap();
    for command in commands() {
        place.succeed(&command, &[("TMPDIR", "/nowhere")]);
    }
    fs::set_permissions(place.path("work"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Tables have the width of the window, and `--all` the columns of the files.
#[test]
fn tables_fit_the_window() {
    let place = Place::new();
    for command in commands() {
        for width in [60, 80, 100, 140] {
            let shown = place.succeed(&command, &[("COLUMNS", &width.to_string())]);
            let table: Vec<&str> = shown.lines().take_while(|line| !line.is_empty()).collect();
            // Sentences below a table wrap in a terminal.
            let rows =
                table.iter().take_while(|line| !line.starts_with("In every") && !line.contains("without"));
            for line in rows {
                assert!(line.chars().count() <= width, "{command}, {width}: {line}");
            }
        }
    }
    let all = place.succeed(&format!("{} --all", commands()[0]), &[("COLUMNS", "60")]);
    let head = all.lines().next().unwrap();
    assert!(head.starts_with("index") && head.ends_with("exact_required_prefix"), "{head}");
    assert_eq!(all.lines().take_while(|line| !line.is_empty()).count(), 5, "{all}");
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let place = Place::new();
    let command = &commands()[0];
    for (set, expected) in [
        (&[][..], false),
        (&[("CLICOLOR_FORCE", "1")], true),
        (&[("CLICOLOR_FORCE", "0")], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
    ] {
        assert_eq!(place.succeed(command, set).contains('\u{1b}'), expected, "{set:?}");
    }
}

/// The report is opened by the program of the system. Without one, its path is printed, and the results are kept.
#[test]
fn a_report_is_opened_in_a_browser() {
    let place = Place::new();
    let opened = place.path("opened");
    let path = place.path("bin").to_string_lossy().into_owned();
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let command = format!("{} --open", commands()[0]);
    let page = || fs::read_to_string(&opened).unwrap();

    place.program(opener, &format!("echo \"$1\" >{}", opened.display()));
    place.succeed(&format!("{command} -o out"), &[("PATH", &path)]);
    assert!(page().trim_end().ends_with("work/out/report.html"), "{}", page());
    assert!(place.is_empty("tmp"));

    let output = place.call(&command, &[("PATH", &path)]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.contains("the results are in"), "{stderr}");
    assert!(
        Path::new(page().trim_end()).starts_with(place.path("tmp").canonicalize().unwrap()),
        "{}",
        page()
    );
    assert!(Path::new(page().trim_end()).is_file());

    for script in [Some("exit 3"), None] {
        match script {
            Some(script) => place.program(opener, script),
            None => fs::remove_file(place.path("bin").join(opener)).unwrap(),
        }
        let output = place.call(&format!("{command} -o out --force"), &[("PATH", &path)]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.contains("cannot open the report"), "{stderr}");
        assert!(stderr.contains("out/report.html"), "{stderr}");
    }

    // A run that fails leaves nothing.
    fs::remove_dir_all(place.path("tmp")).unwrap();
    fs::create_dir(place.path("tmp")).unwrap();
    let failed = place.call(&format!("{command} --set accumulation.acc.overflow=trap"), &[("PATH", &path)]);
    assert!(!failed.status.success() && place.is_empty("tmp"));
}

/// With several settings of another level, the answer names the best of them and says how far the others are.
#[test]
fn a_sweep_of_two_levels_answers_for_all_settings() {
    let place = Place::new();
    let samples = SAMPLES.replace("fpga-int14-os", "inner14-outer24");
    for (inner, answer) in [
        (
            "12..=14",
            "Every setting that was run loses accuracy on 40 samples; at best, 24 bits in outer (saturate, inner.bits 14) lose",
        ),
        ("17..=20", "From 20 bits in outer on, saturate (inner.bits 17) loses no accuracy on 40 samples"),
        ("17..=20", "; the other settings, from 20 bits on"),
        ("17..=20", "; 16 bits in outer (saturate, inner.bits 18) lose"),
        // The worst of the narrowest points is named with every axis.
        (
            "18 --axis accumulation.inner.overflow=saturate,wrap",
            "; 16 bits in outer (saturate, inner.bits 18, inner.overflow wrap) lose",
        ),
        ("15..=18", "2 of the 3 other settings do not at any width that was run"),
    ] {
        let axes = format!("--axis accumulation.inner.bits={inner} --axis accumulation.outer.bits=16,20,24");
        let shown = place.succeed(&format!("sweep {samples} {axes}"), &[]);
        let last = shown.lines().last().unwrap();
        assert!(last.contains(answer), "{last}");
    }
}
