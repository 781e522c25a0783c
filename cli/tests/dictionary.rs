//! `docs/reference/columns.md` against the files that commands write. Each table and array is on the page, with its
//! columns, keys and dtypes, and everything on the page is written by some command here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::common;
use crate::common::{digits, root, succeed};
use ndarray::Array1;
use ndarray_npy::write_npy;

/// File as described on the page.
#[derive(Default)]
struct Section {
    /// Columns of a table.
    columns: Vec<String>,
    /// Keys of an archive with their dtypes.
    keys: Vec<(String, String)>,
}

/// Returns the page by command and name of the file.
fn page() -> BTreeMap<(String, String), Section> {
    let text = fs::read_to_string(root().join("docs/reference/columns.md")).unwrap();
    let mut sections: BTreeMap<(String, String), Section> = BTreeMap::new();
    let (mut file, mut place) = (String::new(), None);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### ").or_else(|| line.strip_prefix("## ")) {
            (file, place) = (name.to_owned(), None);
        } else if let Some(rest) = line.strip_prefix("Written by `guardbit ") {
            let command = rest.split('`').next().unwrap().to_owned();
            place = Some((command, file.clone()));
            sections.entry(place.clone().unwrap()).or_default();
        } else if let (Some(place), Some(row)) = (&place, line.strip_prefix("| `")) {
            let section = sections.get_mut(place).unwrap();
            let cells: Vec<&str> = row.split(" | ").collect();
            let name = cells[0].trim_end_matches('`').to_owned();
            if file.ends_with(".csv") {
                section.columns.push(name);
            } else {
                section.keys.push((name, cells[1].trim_matches('`').to_owned()));
            }
        }
    }
    assert!(sections.len() > 20, "{} sections", sections.len());
    sections
}

/// Returns whether a name matches a pattern, in which words in capitals match anything.
fn is_like(name: &str, pattern: &str) -> bool {
    const WORDS: [&str; 4] = ["NAME", "LEVEL", "NNNNN", "INDEX"];
    let word = WORDS.iter().filter_map(|word| Some((pattern.find(word)?, word.len()))).min();
    let Some((start, len)) = word else { return name == pattern };
    let (before, after) = (&pattern[..start], &pattern[start + len..]);
    let ends = (start + 1..=name.len()).filter(|&end| name.is_char_boundary(end));
    name.starts_with(before) && ends.into_iter().any(|end| is_like(&name[end..], after))
}

/// Returns the arrays of an archive, with their dtypes.
fn arrays(path: &Path) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let members = archive.len();
    let read = |index| {
        let mut member = archive.by_index(index).unwrap();
        let mut start = Vec::new();
        member.by_ref().take(128).read_to_end(&mut start).unwrap();
        let header = String::from_utf8_lossy(&start).into_owned();
        let descr = header.split("'descr': '").nth(1).unwrap().split('\'').next().unwrap();
        let dtype = match descr {
            "|i1" => "int8",
            "|u1" => "uint8",
            "<i4" => "int32",
            "<i8" => "int64",
            "<f4" => "float32",
            other => panic!("{}: dtype {other}", path.display()),
        };
        (member.name().trim_end_matches(".npy").to_owned(), dtype.to_owned())
    };
    (0..members).map(read).collect()
}

/// Checks every table and archive of a folder; returns the names found, where keys include their file.
fn check(page: &BTreeMap<(String, String), Section>, command: &str, folder: &Path) -> BTreeSet<String> {
    let mut met = BTreeSet::new();
    for name in
        common::contents(folder).keys().filter(|name| name.ends_with(".csv") || name.ends_with(".npz"))
    {
        let found = page.iter().find(|((of, file), _)| of == command && is_like(name, file));
        let ((_, file), section) =
            found.unwrap_or_else(|| panic!("{command}: {name} is not in docs/reference/columns.md"));
        met.insert(format!("{command} {file}"));
        if name.ends_with(".csv") {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
            assert!(header.len() >= section.columns.len(), "{name}");
            assert_eq!(
                header[..section.columns.len()],
                section.columns,
                "{name}: axes stand behind all columns"
            );
            let axes = ["summary.csv", "sweep.csv", "aligned.csv", "points.csv", "pareto.csv"]
                .contains(&name.as_str());
            assert!(axes || header.len() == section.columns.len(), "{name}: {header:?}");
            continue;
        }
        for (key, dtype) in arrays(&folder.join(name)) {
            let listed = section.keys.iter().find(|(pattern, _)| is_like(&key, pattern));
            let (pattern, wanted) =
                listed.unwrap_or_else(|| panic!("{name}: {key} is not in docs/reference/columns.md"));
            assert!(
                *wanted == dtype || wanted == "dtype of the codes",
                "{name}: {key} is {dtype}, not {wanted}"
            );
            met.insert(format!("{command} {file} {pattern}"));
        }
    }
    met
}

const DETECTOR: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 6], dtype: int8, scale: 0.5, zero_point: -3}
constants:
  - {name: w, shape: [6, 6], dtype: int8, scale: 0.02, random: {seed: 1}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: y, dtype: int8, scale: 0.75, zero_point: 2}}
outputs: [y]
";

#[test]
fn every_file_is_in_the_dictionary() {
    let (page, dir) = (page(), tempfile::tempdir().unwrap());
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (model, images, labels) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    fs::write(path("detector.yaml"), DETECTOR).unwrap();
    write_npy(path("flags.npy"), &Array1::from_iter((0..8i64).map(|i| i % 2))).unwrap();
    let detector = path("detector.yaml");
    let all = ["--hw", "inner14-outer24", "--input", &images, "--labels", &labels, "--samples", "12"];
    let detects = ["--hw", "fpga-int14-os", "--random", "8", "--labels", &path("flags.npy")];
    let floats = digits("digits_fp8.onnx");
    let of_floats = ["--hw", "ada-mma-e4m3", "--random", "2"];
    let sums = ["--dump-tensors", "--histograms", "--dump-sums", "0,1", "--cost", "aladdin-40nm"];
    let mut met = BTreeSet::new();
    for (name, command, model, settings, more) in [
        ("run", "run", &model, &all[..], &sums[..]),
        ("floats", "run", &floats, &of_floats, &[]),
        ("detected", "run", &detector, &detects, &[]),
        ("sweep", "sweep", &model, &all, &["--axis", "accumulation.inner.bits=12,13", "--stats", "full"]),
        ("float_sweep", "sweep", &floats, &of_floats, &["--axis", "float_accumulation.fraction_bits=8,13"]),
        ("detected_sweep", "sweep", &detector, &detects, &["--bits", "8..=9"]),
        ("explore", "explore", &model, &all, &["--axis", "accumulation.inner.bits=12,13"]),
        ("size", "size", &model, &all, &["--budget", "mismatch=10%"]),
        ("random_size", "size", &detector, &detects[..4], &[]),
        ("float_size", "size", &floats, &of_floats, &[]),
    ] {
        let out = path(name);
        let args = [&[command, model.as_str()][..], settings, more, &["--quiet", "-o", &out]].concat();
        succeed(&args);
        met.extend(check(&page, command, Path::new(&out)));
    }
    let listed = page.iter().filter(|((command, _), _)| command != "quantize").flat_map(
        |((command, file), section)| {
            let keys = section.keys.iter().map(move |(key, _)| format!("{command} {file} {key}"));
            keys.chain([format!("{command} {file}")])
        },
    );
    let missing: Vec<String> = listed.filter(|name| !met.contains(name)).collect();
    assert!(missing.is_empty(), "never written: {missing:#?}");
}

#[test]
fn patterns_are_read() {
    assert!(
        is_like("exact/a/b/acc", "exact/NAME/LEVEL")
            && is_like("predictions/00012.npz", "predictions/NNNNN.npz")
    );
    assert!(
        !is_like("exact/a", "exact/NAME/LEVEL")
            && !is_like("exact/", "exact/NAME")
            && !is_like("labels", "label")
    );
}
