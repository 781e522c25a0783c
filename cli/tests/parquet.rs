//! Parquet tables as read by pyarrow and pandas equal the CSV files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{assert_same, digits, needed, root, succeed};

/// Runs the digits network at `bits`, by a command with more arguments.
fn tables(command: &str, more: &[&str], out: &Path) {
    let (model, images, labels) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    let args = [command, &model, "--hw", "inner14-outer24", "--input", &images, "--labels", &labels];
    let out = out.to_string_lossy();
    succeed(&[&args[..], &["--samples", "20", "--format", "parquet", "--quiet", "-o", &out], more].concat());
}

const AXES: [&str; 4] = ["--axis", "accumulation.inner.bits=13..=15", "--axis", "mode=propagated,isolated"];

#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn pandas_reads_what_the_csv_files_say() {
    let dir = tempfile::tempdir().unwrap();
    for (command, more, tables_there) in
        [("run", &[][..], 7), ("sweep", &AXES, 4), ("size", &["--budget", "mismatch=10%"], 5)]
    {
        let out = dir.path().join(command);
        tables(command, more, &out);
        let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let parquet = names.filter(|path| path.extension().is_some_and(|extension| extension == "parquet"));
        assert_eq!(parquet.count(), tables_there, "{command}");
        let script = root().join("scripts/oracles/check_parquet.py");
        let output =
            Command::new(needed("GUARDBIT_STATISTICS_PYTHON")).arg(script).arg(&out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let cells: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        assert!(cells > 100, "{command}: {cells} cells");
    }
}

/// All tables are written as Parquet.
#[test]
fn every_csv_file_has_its_parquet_file() {
    let dir = tempfile::tempdir().unwrap();
    for (command, more) in [
        ("run", &["--cost", "horowitz-45nm", "--histograms"][..]),
        ("sweep", &AXES),
        ("size", &["--budget", "mismatch=10%"]),
    ] {
        let out = dir.path().join(command);
        tables(command, more, &out);
        let named = |extension: &str| -> BTreeSet<String> {
            let paths = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
            let paths = paths.filter(|path| path.extension().is_some_and(|of| of == extension));
            paths.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert!(named("csv").len() >= 4, "{command}");
        assert_eq!(named("csv"), named("parquet"), "{command}");
    }
}

/// A folder can be resumed with or without Parquet tables, and loses none.
#[test]
fn a_sweep_keeps_its_parquet_tables() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    tables("sweep", &AXES, &first);
    tables("sweep", &AXES, &second);
    assert_same(&first, &second);
    let plain = |out: &Path| {
        let (model, images, labels) =
            (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
        let args = ["sweep", &model, "--hw", "inner14-outer24", "--input", &images, "--labels", &labels];
        let out = out.to_string_lossy();
        succeed(&[&args[..], &["--samples", "20", "--quiet", "-o", &out], &AXES].concat());
    };
    plain(&second);
    assert_same(&first, &second);
    // Created without Parquet tables, which are requested later.
    let third = dir.path().join("third");
    plain(&third);
    assert!(!third.join("summary.parquet").exists());
    tables("sweep", &AXES, &third);
    assert_same(&first, &third);
}
