//! Checks that `guardbit.h` is current and that the SystemVerilog package imports exactly its functions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// `GUARDBIT_CBINDGEN` names the program; see `scripts/test`.
#[test]
#[ignore = "needs GUARDBIT_CBINDGEN, see scripts/test"]
fn the_header_is_current() {
    let cbindgen = std::env::var_os("GUARDBIT_CBINDGEN").expect("GUARDBIT_CBINDGEN is set, see scripts/test");
    let output = Command::new(cbindgen)
        .args(["--quiet", "--config", "cbindgen.toml", "src/exports.rs"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        String::from_utf8(output.stdout).unwrap() == read("include/guardbit.h"),
        "run cbindgen --config cbindgen.toml src/exports.rs -o include/guardbit.h in rtl-vectors/capi"
    );
}

/// Returns the names that follow `before` and end at a parenthesis.
fn names(text: &str, before: &str) -> BTreeSet<String> {
    let after = |at: usize| text[at + before.len()..].split('(').next().unwrap_or_default().to_owned();
    let starts = text.match_indices(before).map(|(at, _)| after(at));
    starts.map(|name| name.rsplit([' ', '*']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn header_and_package_name_every_function() {
    let source = names(&read("src/exports.rs"), "extern \"C\" fn ");
    assert!(source.len() > 20);
    let header = read("include/guardbit.h");
    for name in &source {
        assert!(header.contains(&format!("{name}(")), "{name} is missing in guardbit.h");
    }
    let imported = names(&read("../dpi/guardbit_dpi.sv"), "import \"DPI-C\" function ");
    let missing: Vec<_> = source.difference(&imported).collect();
    assert_eq!(missing, ["guardbit_step"], "plain arrays do not pass through DPI without svdpi.h");
    assert!(imported.is_subset(&source));
}
