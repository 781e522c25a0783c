//! Finished sweeps and explorations side by side: points are joined on the axes that the manifests name.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

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

/// Creates sweeps and explorations of one network, in folders with these names.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
    let sweep = "sweep net.yaml --hw fpga-int14-os --random 3 --quiet";
    let explore = "explore net.yaml --hw fpga-int14-os --random 2 --quiet";
    for (out, args) in [
        ("bits", format!("{sweep} --bits 9..=11 --overflow wrap,saturate")),
        (
            "axes",
            format!(
                "{sweep} --axis accumulation.acc.overflow=saturate,wrap --axis accumulation.acc.bits=11,10"
            ),
        ),
        ("shifted", format!("{sweep} --bits 9..=11 --overflow wrap,saturate --set product.shift=1")),
        ("seeds", format!("{sweep} --bits 9..=10 --axis seed=1,2")),
        ("moreseeds", format!("{sweep} --bits 10..=11 --axis seed=2,3")),
        ("other", format!("{} --bits 9..=11", sweep.replace("fpga-int14-os", "exact-int32-os"))),
        ("x/designs", format!("{explore} --axis accumulation.acc.bits=9,10")),
        ("y/designs", format!("{explore} --axis accumulation.acc.bits=10,12")),
    ] {
        succeed(dir.path(), &format!("{args} -o {out}"));
    }
    dir
}

fn names(rows: &Value, key: &str) -> Vec<String> {
    let mut names: Vec<String> =
        rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap_or_default().to_owned()).collect();
    names.dedup();
    names
}

#[test]
fn points_are_joined_on_their_axes() {
    let dir = folder();
    let dir = dir.path();
    let compared = |folders: &str| -> Value {
        serde_json::from_str(&succeed(dir, &format!("compare {folders} --json"))).unwrap()
    };
    let register = ["accumulation.acc.bits", "accumulation.acc.overflow"];
    // Equal points with axes in another form and order: nothing differs.
    let same = compared("bits axes");
    assert_eq!(names(&same["rows"], "row"), [""; 0]);
    assert_eq!(serde_json::to_value(register).unwrap(), same["axes"]);
    let unmatched = ["acc.bits=9 acc.overflow=wrap", "acc.bits=9 acc.overflow=saturate"];
    assert_eq!(same["unmatched"], serde_json::to_value(unmatched).unwrap());
    assert!(same["same"].as_u64().unwrap() >= 4 * 6, "{same}");
    // Another product: points of one width and mode are compared.
    let shifted = compared("bits shifted");
    let rows = names(&shifted["rows"], "row");
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert!(rows.iter().all(|row| row.starts_with("acc.bits=")), "{rows:?}");
    assert_eq!(shifted["unmatched"], serde_json::json!([]));
    // Each figure is that of its own table.
    let summary = |folder: &str, bits: &str, overflow: &str, column: &str| {
        let mut reader = csv::Reader::from_path(dir.join(folder).join("summary.csv")).unwrap();
        let heads = reader.headers().unwrap().clone();
        let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let found = reader
            .records()
            .map(Result::unwrap)
            .find(|row| &row[at("bits")] == bits && &row[at("overflow")] == overflow);
        found.unwrap()[at(column)].to_owned()
    };
    for row in shifted["rows"].as_array().unwrap() {
        let label = row["row"].as_str().unwrap();
        let (bits, overflow) = label.split_once(' ').unwrap();
        let (bits, overflow) =
            (bits.strip_prefix("acc.bits=").unwrap(), overflow.strip_prefix("acc.overflow=").unwrap());
        let column = row["column"].as_str().unwrap();
        let expected = ["bits", "shifted"].map(|folder| summary(folder, bits, overflow, column));
        assert_eq!(row["values"], serde_json::to_value(expected).unwrap(), "{label} {column}");
    }
    let seeds = compared("seeds moreseeds");
    assert_eq!(seeds["unmatched"].as_array().unwrap().len(), 6, "{seeds}");
    // Accelerators with other names: only keys that differ are listed.
    let settings = names(&compared("bits other")["settings"], "name");
    assert!(settings.contains(&"hw.resolved.accumulation.acc.bits".to_owned()), "{settings:?}");
    assert!(settings.len() < 12, "{settings:?}");
    // Designs are joined by the axes, under labels that distinguish the folders.
    let designs = succeed(dir, "compare x/designs y/designs");
    assert!(designs.contains("x/designs") && designs.contains("not in all folders: acc.bits=9"), "{designs}");
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let dir = folder();
    let dir = dir.path();
    let refused = |folders: &str, says: &str| {
        let (is_done, text) = call(dir, &format!("compare {folders}"));
        let text = text.replace(['\n', '|'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!is_done && text.contains(says), "{folders}: {text}");
    };
    refused("seeds bits", "seeds: its points differ in seed");
    succeed(dir, "sweep net.yaml --hw fpga-int14-os --random 3 --quiet --bits 9..=11 --shard 1/2 -o shard");
    refused("bits shard", "is one shard of a sweep");
    for (folder, file) in [("axes", "summary.csv"), ("x/designs", "points.csv")] {
        let path = dir.join(folder).join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("10", "11", 1)).unwrap();
        refused(&format!("{folder} {folder}"), "changed since guardbit wrote it");
    }
}

/// A terminal shows what differs most, within its width, and the answer last; `--all` has every figure.
#[test]
fn the_text_leads_to_the_answer() {
    let dir = folder();
    let dir = dir.path();
    let [short, all] = ["", " --all"].map(|all| succeed(dir, &format!("compare bits shifted{all}")));
    for text in [&short, &all] {
        let last = text.trim_end().lines().next_back().unwrap();
        assert!(last.starts_with("Against bits, shifted"), "{text}");
        assert!(text.contains("product.shift"), "{text}");
    }
    assert!(short.contains("Values of bits \u{2192} shifted:"), "{short}");
    assert!(short.lines().count() < all.lines().count(), "{short}");
    let answer = short.trim_end().lines().next_back().unwrap();
    let table = short.lines().filter(|line| *line != answer);
    assert!(table.map(|line| line.chars().count()).all(|length| length <= 100), "{short}");
}

/// A report of a comparison is one file, which replaces only reports of comparisons.
#[test]
fn a_comparison_has_a_page() {
    let dir = folder();
    let dir = dir.path();
    succeed(dir, "compare bits shifted -o page.html");
    let page = fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(page.contains("<p class=\"answer\">Against bits, shifted: "), "an answer");
    assert!(page.contains("6 points in all of them"), "the points that both have");
    let (is_done, text) = call(dir, "compare bits shifted -o page.html");
    assert!(!is_done && text.contains("page.html already exists"), "{text}");
    succeed(dir, "compare bits axes -o page.html --force");
    assert!(
        fs::read_to_string(dir.join("page.html")).unwrap().contains("that they have in common are equal")
    );
    let (is_done, text) = call(dir, "compare bits shifted -o page.txt");
    assert!(!is_done && text.contains("expected a file that ends in .html"), "{text}");
    fs::write(dir.join("mine.html"), "mine").unwrap();
    let (is_done, _) = call(dir, "compare bits shifted -o mine.html --force");
    assert!(!is_done);
    assert_eq!(fs::read_to_string(dir.join("mine.html")).unwrap(), "mine");
}
