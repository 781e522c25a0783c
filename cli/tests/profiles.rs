//! With which profiles arithmetic is checked.

use std::hint::black_box;

/// The manifest of the workspace.
const MANIFEST: &str = include_str!("../../Cargo.toml");

/// Crates that compute on values from files, but walk no products: they are checked in releases too.
const CHECKED: [&str; 10] = [
    "guardbit",
    "guardbit-capi",
    "guardbit-files",
    "guardbit-frontends",
    "guardbit-hwmodels",
    "guardbit-python",
    "guardbit-quantize",
    "guardbit-reports",
    "guardbit-rtl-vectors",
    "guardbit-study",
];

/// The suite is worth nothing against wrapping sums without overflow checks, in whatever profile it is built.
#[test]
fn the_suite_runs_with_overflow_checks() {
    let sum = std::panic::catch_unwind(|| black_box(u8::MAX) + black_box(1));
    assert!(sum.is_err(), "a sum wraps: run the tests in a profile with `overflow-checks = true`");
    assert!(!MANIFEST.contains("overflow-checks = false"));
}

#[test]
fn releases_check_what_computes_on_files() {
    for name in CHECKED {
        let profile = format!("[profile.release.package.{name}]\noverflow-checks = true\n");
        assert!(MANIFEST.contains(&profile), "{name}");
    }
}
