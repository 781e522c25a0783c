//! `guardbit plot`: columns of finished results in one picture, with its table.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const NETWORK: &str = include_str!("../../study/tests/net.yaml");

fn call(dir: &Path, args: &str) -> (bool, String) {
    let mut command = Command::cargo_bin("guardbit").unwrap();
    let output = command.current_dir(dir).args(args.split_whitespace()).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn succeed(dir: &Path, args: &str) -> String {
    let (is_done, text) = call(dir, args);
    assert!(is_done, "{args}: {text}");
    text
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect()
}

#[test]
fn finished_results_are_drawn_together() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("net.yaml"), NETWORK).unwrap();
    let sweep = "sweep net.yaml --hw fpga-int14-os --random 3 --quiet";
    for (out, args) in [
        ("bits", format!("{sweep} --bits 9..=11 --overflow wrap,saturate")),
        ("other", format!("{} --bits 10..=11", sweep.replace("fpga-int14-os", "exact-int32-os"))),
        ("run", "run net.yaml --hw fpga-int14-os --random 3 --quiet".into()),
        ("again", "run net.yaml --hw fpga-int14-os --random 3 --seed 2 --quiet".into()),
        (
            "designs",
            "explore net.yaml --hw fpga-int14-os --random 2 --quiet --axis accumulation.acc.bits=9,10".into(),
        ),
        ("paper", format!("{sweep} --bits 9..=10 --plot-style paper --plot-size 120x70mm")),
    ] {
        succeed(dir, &format!("{args} -o {out}"));
    }

    // The table of the picture has the figures of the sweep's own table.
    let args = "plot bits --x bits --y output_mismatch --by overflow -o a.svg";
    succeed(dir, args);
    let table = rows(&dir.join("a.csv"));
    let columns = [
        "folder",
        "curve",
        "overflow",
        "bits",
        "output_mismatch",
        "output_mismatch_low",
        "output_mismatch_high",
    ];
    assert_eq!(table[0], columns);
    let summary = rows(&dir.join("bits/summary.csv"));
    let at = |name: &str| summary[0].iter().position(|column| column == name).unwrap();
    let expected: Vec<[String; 3]> = summary[1..]
        .iter()
        .map(|row| ["overflow", "bits", "output_mismatch"].map(|name| row[at(name)].clone()))
        .collect();
    let found: Vec<[String; 3]> =
        table[1..].iter().map(|row| [row[2].clone(), row[3].clone(), row[4].clone()]).collect();
    assert_eq!(found, expected);
    let svg = fs::read_to_string(dir.join("a.svg")).unwrap();
    for text in ["output mismatch", "accumulator width (bits)", "saturate", "wrap"] {
        assert!(svg.contains(text), "{text}");
    }

    // Equal input gives equal bytes, and files of others stay.
    let (is_done, error) = call(dir, args);
    assert!(!is_done && error.contains("a.svg"), "{error}");
    succeed(dir, &format!("{args} --force"));
    assert_eq!(fs::read_to_string(dir.join("a.svg")).unwrap(), svg);
    fs::write(dir.join("b.pdf"), "mine").unwrap();
    let (is_done, error) = call(dir, "plot bits --y output_mismatch --by overflow -o b.pdf --force");
    assert!(!is_done && error.contains("b.pdf") && !dir.join("b.csv").exists(), "{error}");

    // Folders of several accelerators and commands.
    succeed(
        dir,
        "plot bits other --x bits --y output_mismatch --by hw,overflow -o several.pdf --plot-style paper",
    );
    assert!(fs::read(dir.join("several.pdf")).unwrap().starts_with(b"%PDF-"));
    assert_eq!(rows(&dir.join("several.csv")).len(), 1 + 6 + 2);
    succeed(dir, "plot run again --x index --y output_mismatch -o layers.png");
    assert!(fs::read(dir.join("layers.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(succeed(dir, "plot designs --y cycles").contains("cycles"));
    let json = succeed(dir, "plot designs --x accumulation.acc.bits --y cycles --json");
    assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&json).unwrap().len(), 2);

    // Plots of a paper are PDF files too, and have the requested size; the report keeps its own.
    let svg = fs::read_to_string(dir.join("paper/plots/output_mismatch.svg")).unwrap();
    assert!(
        svg.starts_with("<svg width=\"120mm\" height=\"") && !svg.contains("differ from the exact"),
        "{}",
        &svg[..90]
    );
    assert!(fs::read(dir.join("paper/plots/output_mismatch.pdf")).unwrap().starts_with(b"%PDF-"));
    assert!(fs::read_to_string(dir.join("paper/sweep.json")).unwrap().contains("plots/output_mismatch.pdf"));
    assert!(!dir.join("bits/plots/output_mismatch.pdf").exists());

    for (args, expected) in [
        ("plot bits --y no_such", "unknown axis or column `no_such`"),
        ("plot bits --y no_such", "output_mismatch"),
        ("plot bits --y overflow", "which is not a number"),
        ("plot bits --y output_mismatch", "what varies is accumulation.acc.overflow"),
        ("plot bits other --y output_mismatch --by hw -o x.svg", "distinguish them with --by"),
        ("plot nowhere", "does not exist"),
        ("plot bits --y output_mismatch --by overflow -o x.jpg", "ends in .svg, .pdf or .png"),
        ("plot bits --y output_mismatch --by overflow --plot-size 85", "invalid size `85`"),
        ("plot bits --y output_mismatch --by overflow --plot-font 60pt --plot-size 85mm", "are too large"),
        ("plot bits --y output_mismatch --by overflow --plot-title maybe", "possible values: on, off"),
    ] {
        let (is_done, error) = call(dir, args);
        let error =
            error.split_whitespace().filter(|word| !["│", "|"].contains(word)).collect::<Vec<_>>().join(" ");
        assert!(!is_done && error.contains(expected), "{args}: {error}");
    }
    assert!(!dir.join("x.svg").exists() && !dir.join("x.csv").exists());

    // What changed is not drawn.
    let path = dir.join("bits/summary.csv");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\n").unwrap();
    assert!(
        call(dir, "plot bits --y output_mismatch --by overflow")
            .1
            .contains("changed since guardbit wrote it")
    );
}
