use std::collections::BTreeSet;
use std::path::Path;

use super::mutant::Patch;
use super::registers::FIT_FAULTS;
use super::{array, unit};

/// Every patch has one row, and fits the file that it changes in exactly one way.
#[test]
fn every_patch_has_a_row_and_fits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mutants = unit::MUTANTS.iter().chain(array::MUTANTS).map(|mutant| &mutant.patch);
    let patches: Vec<&Patch> = mutants.chain(FIT_FAULTS.iter().map(|fault| &fault.patch)).collect();
    let mut listed = BTreeSet::new();
    for patch in patches {
        let text = std::fs::read_to_string(root.join(patch.file())).unwrap();
        let changed = patch.apply(&text);
        assert!(changed.as_ref().is_ok_and(|changed| *changed != text), "{}: {changed:?}", patch.path);
        assert!(listed.insert(format!("{}.patch", patch.path)), "{} has two rows", patch.path);
    }
    let mut found = BTreeSet::new();
    // Those of floating-point accumulators are in `aligned`.
    let modules = std::fs::read_dir(root.join("mutants")).unwrap().map(Result::unwrap);
    for module in modules.filter(|module| !module.file_name().to_string_lossy().starts_with("gb_aligned")) {
        for file in std::fs::read_dir(module.path()).unwrap().map(Result::unwrap) {
            found.insert(format!("{}/{}", module.file_name().display(), file.file_name().display()));
        }
    }
    assert_eq!(listed, found);
}
