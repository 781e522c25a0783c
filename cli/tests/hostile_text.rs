//! Text with a meaning in another language, in every string of every input that reaches generated files. It
//! is refused or appears as text. Nothing is executed, and nothing ends a comment or a string.
//!
//! The simulators run if `GUARDBIT_SIMULATORS` is set.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use crate::common::{contents, digits};
use assert_cmd::Command;

/// Texts that end comments, strings and lines, are expanded, or are not printable.
const TEXTS: &[&str] = &[
    "x\nmodule pwn; initial $system(\"touch PWNED\"); endmodule\nbind gb_dut pwn pwn_i();\n//",
    "x\n\t$(shell touch PWNED)\r`touch PWNED`",
    "*/ (* x *) \"'; touch PWNED; \\",
    "%s%n%d %0d {} ${PATH}",
    "`include \"/etc/passwd\"",
    "</title><script>x</script>]]>&amp;",
    "=cmd|' /C x'!A0",
    "-1+1",
    "a\u{0}b\u{1b}[31m\u{7}",
    "\u{202e}gpj.exe\u{2066}",
];

fn texts() -> Vec<String> {
    TEXTS.iter().map(|text| (*text).to_owned()).chain(["x".repeat(5000)]).collect()
}

/// Returns a network of two layers, an input and an output with these names.
fn network(names: &[String; 4]) -> String {
    let name = |index: usize| serde_json::to_string(&names[index]).unwrap();
    let (net, x, y0, y1) = (name(0), name(1), name(2), name(3));
    format!(
        "schema: 1\nname: {net}\ninputs:\n  - {{name: {x}, shape: [1, 2], dtype: int8, scale: 1.0, zero_point: 0}}\n\
         constants:\n  - {{name: w, shape: [2, 2], dtype: int8, scale: 1.0, zero_point: 0, values: [1, 2, 3, 4]}}\n\
         nodes:\n  - op: fully_connected\n    inputs: [{x}, w]\n    \
         output: {{name: {y0}, dtype: int8, scale: 8.0, zero_point: 0}}\n  \
         - op: fully_connected\n    inputs: [{y0}, w]\n    output: {{name: {y1}, dtype: int8, scale: 64.0, zero_point: 0}}\n\
         outputs: [{y1}]\n"
    )
}

/// Returns an accelerator with this name, description and level.
fn accelerator(name: &str, description: &str, level: &str) -> String {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    format!(
        "schema: 1\nextends: fpga-int14-os\nname: {}\ndescription: {}\narray: {{rows: 2, cols: 2}}\naccumulation:\n  \
         - {{name: {}, reduce: serial, terms: all, bits: 14, overflow: saturate}}\n",
        json(name),
        json(description),
        json(level)
    )
}

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("guardbit").unwrap().current_dir(dir).args(args).output().unwrap()
}

/// Returns whether a command succeeded; otherwise checks that it was refused with a short message.
fn is_done(output: &Output, what: &str) -> bool {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{what}: {:?} {message}", output.status);
    assert!(message.len() < 16 << 10, "{what}: {} bytes", message.len());
    output.status.success()
}

/// Returns the lines of every generated text of a bundle, without names in comments and strings.
fn code(bundle: &Path) -> BTreeMap<String, usize> {
    let is_code = |path: &str| {
        [".sv", ".vhd", ".py", "Makefile", "cases.txt", "tiles.txt"].iter().any(|end| path.ends_with(end))
    };
    let files = contents(bundle).into_iter().filter(|(path, _)| is_code(path));
    files.map(|(path, bytes)| (path, check_code(bytes))).collect()
}

/// Returns the number of lines of a generated text, which is printable ASCII.
fn check_code(bytes: Vec<u8>) -> usize {
    assert!(bytes.iter().all(|&b| b == b'\n' || b == b'\t' || (32..127).contains(&b)));
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// Checks that a document is valid XML and contains no markup from a name.
fn check_document(path: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let is_bad = |c: &char| c.is_control() && !"\t\r\n".contains(*c) || ('\u{202a}'..='\u{202e}').contains(c);
    assert_eq!(text.chars().find(is_bad), None, "{path}");
    // Pages have scripts of their own.
    assert!(!text.contains("<script>x"), "{path}");
}

/// Runs vectors, their check, a run with its report, a sweep and sizing.
fn check_all(dir: &Path, model: &str, hw: &str, layer: &str, what: &str) -> usize {
    let common = [model, "--hw", hw, "--random", "2"];
    let with = |command: &str, more: &[&str]| {
        is_done(&run(dir, &[&[command], &common[..], more].concat()), &format!("{command}, {what}"))
    };
    let mut done = 0;
    if with("vectors", &["--layer", layer, "--cases", "2", "-o", "bundle"]) {
        done += 1;
        let simulators = std::env::var_os("GUARDBIT_SIMULATORS").is_some();
        let simulator = if simulators { "icarus" } else { "none" };
        let checked = run(dir, &["check", "bundle", "--simulator", simulator]);
        assert!(checked.status.success(), "{what}: {}", String::from_utf8_lossy(&checked.stdout));
        assert_eq!(code(&dir.join("bundle")), *REFERENCE, "{what}: as many lines as with plain names");
    }
    for (command, more) in [
        ("run", &["-o", "run"][..]),
        ("sweep", &["--bits", "13..=14", "-o", "sweep"]),
        ("size", &["-o", "size"]),
    ] {
        if with(command, more) {
            done += 1;
            for (path, bytes) in contents(&dir.join(command)) {
                if path.ends_with(".svg") || path.ends_with(".html") {
                    check_document(&path, &bytes);
                }
            }
        }
    }
    for folder in [".", "bundle", "run"] {
        assert!(!dir.join(folder).join("PWNED").exists(), "{what}: a command was run");
    }
    done
}

/// Line counts of a bundle with plain names.
static REFERENCE: LazyLock<BTreeMap<String, usize>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let names = ["net", "x", "y0", "y1"].map(String::from);
    fs::write(dir.path().join("net.yaml"), network(&names)).unwrap();
    fs::write(dir.path().join("hw.yaml"), accelerator("plain", "plain", "acc")).unwrap();
    let args = [
        "vectors", "net.yaml", "--hw", "hw.yaml", "--random", "2", "--layer", "1", "--cases", "2", "-o",
        "bundle",
    ];
    assert!(run(dir.path(), &args).status.success());
    code(&dir.path().join("bundle"))
});

#[test]
fn names_in_graphs_are_text() {
    let plain = ["net", "x", "y0", "y1"];
    let mut done = 0;
    for text in texts() {
        for place in 0..plain.len() {
            let mut names = plain.map(String::from);
            names[place].clone_from(&text);
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("net.yaml"), network(&names)).unwrap();
            fs::write(dir.path().join("hw.yaml"), accelerator("plain", "plain", "acc")).unwrap();
            done +=
                check_all(dir.path(), "net.yaml", "hw.yaml", "1", &format!("{} is {text:?}", plain[place]));
        }
    }
    assert!(done > 0, "some names are taken");
}

/// Names of accelerators and levels, and descriptions, from files and from the command line.
#[test]
fn names_of_accelerators_are_restricted() {
    let names = ["net", "x", "y0", "y1"].map(String::from);
    for text in texts() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("net.yaml"), network(&names)).unwrap();
        let hostile = [
            (accelerator(&text, "plain", "acc"), "guardbit::hw::name"),
            (accelerator("plain", "plain", &text), "guardbit::hw::level_name"),
        ];
        for (yaml, code) in hostile {
            fs::write(dir.path().join("hw.yaml"), yaml).unwrap();
            let args =
                ["vectors", "net.yaml", "--hw", "hw.yaml", "--random", "2", "--layer", "1", "-o", "bundle"];
            let output = run(dir.path(), &args);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code() == Some(2) && message.contains(code), "{text:?}: {message}");
            assert!(message.len() < 8 << 10 && !message.contains('\u{1b}'), "{text:?}: {message}");
            assert!(!dir.path().join("bundle").exists());
        }
        fs::write(dir.path().join("hw.yaml"), accelerator("plain", &text, "acc")).unwrap();
        check_all(dir.path(), "net.yaml", "hw.yaml", "1", &format!("the description is {text:?}"));
    }
}

/// Names of the files themselves, if the system accepts them.
#[test]
fn names_of_files_are_text() {
    let names = ["net", "x", "y0", "y1"].map(String::from);
    for text in texts() {
        let dir = tempfile::tempdir().unwrap();
        let name = text.replace(['/', '\0'], "_").chars().take(80).collect::<String>();
        let (model, hw) = (format!("./{name}.yaml"), format!("./hw {name}.yaml"));
        fs::write(dir.path().join(&model), network(&names)).unwrap();
        fs::write(
            dir.path().join(&hw),
            accelerator("plain", "plain", "acc").replace("name: \"plain\"\n", ""),
        )
        .unwrap();
        let done = check_all(dir.path(), &model, &hw, "1", &format!("files are called {text:?}"));
        assert_eq!(done, 4, "{text:?}");
        // A network in another format, named after its file.
        let tflite = dir.path().join(format!("{name}.tflite"));
        fs::copy(digits("digits_int8.tflite"), &tflite).unwrap();
        let args = ["run", &tflite.to_string_lossy(), "--hw", &hw, "--random", "1", "-o", "digits"];
        assert!(is_done(&run(dir.path(), &args), &text));
    }
}

/// Values on the command line are accepted as text, or refused.
#[test]
fn arguments_are_text() {
    let names = ["net", "x", "y0", "y1"].map(String::from);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), network(&names)).unwrap();
    for text in texts().iter().filter(|text| !text.contains('\0')) {
        let set = format!("name={text}");
        for more in [["--set", &set], ["--output", text], ["--requantize", text], ["--set", text]] {
            let args =
                [&["run", "net.yaml", "--hw", "fpga-int14-os", "--random", "1", "-o", "run"][..], &more]
                    .concat();
            let what = format!("{more:?}");
            if is_done(&run(dir.path(), &args), &what) {
                fs::remove_dir_all(dir.path().join("run")).unwrap();
            }
            assert!(!dir.path().join("PWNED").exists(), "{what}");
        }
    }
}
