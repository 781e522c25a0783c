//! Build profiles with arithmetic overflow checks.

use std::hint::black_box;

/// Manifest of the workspace.
const MANIFEST: &str = include_str!("../../Cargo.toml");

/// Crates with inner loops over products, which release builds do not check. All others compute on values
/// from files.
const UNCHECKED: [&str; 3] = ["guardbit-graph", "guardbit-num", "guardbit-sim"];

/// The tests detect wrapping sums only with overflow checks, in every profile in which they are built.
#[test]
fn the_suite_runs_with_overflow_checks() {
    let sum = std::panic::catch_unwind(|| black_box(u8::MAX) + black_box(1));
    assert!(sum.is_err(), "a sum wraps: run the tests in a profile with `overflow-checks = true`");
    let of_tests = MANIFEST.split_once("[profile.release]").unwrap().0;
    assert!(!of_tests.contains("overflow-checks"));
}

#[test]
fn releases_check_what_computes_on_files() {
    let sections: Vec<(&str, &str)> =
        MANIFEST.split("\n[").filter_map(|section| section.split_once("]\n")).collect();
    let keys = |name: &str| sections.iter().find(|(section, _)| *section == name).map(|(_, keys)| *keys);
    assert!(keys("profile.release").unwrap().contains("overflow-checks = true"));
    let crates = sections.iter().filter_map(|(section, keys)| {
        Some((
            section.strip_prefix("profile.release.package.guardbit")?,
            keys.contains("overflow-checks = false"),
        ))
    });
    let unchecked: Vec<String> =
        crates.filter(|(_, off)| *off).map(|(name, _)| format!("guardbit{name}")).collect();
    assert_eq!(
        unchecked.iter().collect::<std::collections::BTreeSet<_>>(),
        UNCHECKED.map(String::from).iter().collect()
    );
    let inherits = sections.iter().filter(|(_, keys)| keys.contains("inherits = \"release\""));
    assert!(
        inherits.clone().count() == 1 && inherits.clone().all(|(_, keys)| !keys.contains("overflow-checks"))
    );
}
