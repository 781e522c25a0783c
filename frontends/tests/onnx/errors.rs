//! Tests of errors: rejected files report the problem, the node and what to do (`scripts/goldens/make_onnx_goldens.py` writes
//! them).

use std::fmt::Write as _;
use std::path::Path;

use guardbit_frontends::{Frontend, onnx::Onnx, read_onnx};
use proptest::prelude::*;

#[test]
fn messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/bad");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let error =
            Onnx.read(&path, "net").err().unwrap_or_else(|| panic!("{} must be refused", path.display()));
        let name = path.file_stem().unwrap().to_string_lossy();
        writeln!(text, "{name}: {}\n  {}", error.code(), error.message()).unwrap();
    }
    insta::assert_snapshot!(text);
}

/// The help of an unsupported operator lists every supported one.
#[test]
fn help_lists_the_operators() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/bad/operator.onnx");
    let help = Onnx.read(&path, "net").map(|_| ()).unwrap_err().help();
    assert!(
        help.contains("Conv, ") && help.contains("QLinearAdd, ") && help.contains("BipolarQuant, "),
        "{help}"
    );
}

proptest! {
    /// Damaged files give a network or an error, never a panic.
    #[test]
    fn damage_does_not_panic(which in any::<prop::sample::Index>(), edits in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..8), cut in any::<prop::sample::Index>()) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden");
        let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "onnx")).collect();
        paths.sort();
        let mut bytes = std::fs::read(&paths[which.index(paths.len())]).unwrap();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(error) = read_onnx(&bytes, "net") {
            prop_assert!(error.message().len() < 4000);
        }
    }
}
