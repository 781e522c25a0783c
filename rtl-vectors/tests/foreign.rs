//! Files of a bundle that differ from those that guardbit generates, with matching hashes: each is detected
//! before any simulator starts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{UNITS, bundle};
use guardbit_rtl_vectors::manifest::Manifest;
use guardbit_rtl_vectors::{CheckRequest, Outcome, Simulator, check};
use sha2::{Digest, Sha256};

/// Writes the manifest with the hashes of the present files.
fn seal(dir: &Path, manifest: &Manifest) {
    let mut manifest = manifest.clone();
    for file in &mut manifest.files {
        let bytes = fs::read(dir.join(&file.path)).unwrap();
        file.sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    }
    fs::write(dir.join("manifest.json"), serde_json::to_string(&manifest).unwrap()).unwrap();
}

/// Returns the check that fails, and its message. Asserts that nothing was run.
fn failed(dir: &Path) -> Option<(String, String)> {
    let report =
        check(dir, &CheckRequest { simulators: &Simulator::ALL, ..CheckRequest::default() }).unwrap();
    let names: Vec<&str> = report.checks.iter().map(|(name, _)| name.as_str()).collect();
    assert!(!names.iter().any(|name| ["icarus", "verilator", "ghdl"].contains(name)), "{names:?}");
    report.checks.iter().find_map(|(name, outcome)| match outcome {
        Outcome::Fail { first, .. } => Some((name.clone(), first.details.clone())),
        _ => None,
    })
}

/// Bench that prints a passing result and runs a command.
const BENCH: &str = "module tb; initial begin $system(\"touch PWNED\");\n\
    $display(\"RESULT checked=99999 mismatches=0 cycles=1 acc_latency=2 out_latency=3 outputs=1\"); $finish; end endmodule\n";

#[test]
fn every_file_is_made_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let manifest = bundle(dir, UNITS[7]);
    for file in &manifest.files {
        let path = dir.join(&file.path);
        let intact = fs::read(&path).unwrap();
        let mut changed = intact.clone();
        // Change the last digit or letter, if there is one.
        match changed.iter().rposition(u8::is_ascii_alphanumeric) {
            Some(at) => changed[at] = if changed[at] == b'0' { b'1' } else { b'0' },
            None => changed.push(b'0'),
        }
        let is_hdl = [".sv", ".vhd"].iter().any(|end| file.path.ends_with(end));
        let planted = is_hdl.then(|| BENCH.as_bytes().to_vec());
        for other in planted
            .into_iter()
            .chain([changed, [&intact[..], b"\n"].concat(), Vec::new()])
            .filter(|other| *other != intact)
        {
            fs::write(&path, &other).unwrap();
            seal(dir, &manifest);
            let (check, details) = failed(dir).unwrap_or_else(|| panic!("{} may be anything", file.path));
            assert!(check != "files" && check != "manifest", "{}: {check}, {details}", file.path);
            if !["ctrl.mem", "stim_a.mem", "stim_w.mem", "accelerator.yaml"].contains(&file.path.as_str()) {
                assert!(details.starts_with(&file.path), "{}: {details}", file.path);
            }
            assert!(details.len() < 2000, "{details}");
        }
        fs::write(&path, &intact).unwrap();
    }
    assert!(!dir.join("PWNED").exists() && !Path::new("PWNED").exists());
}

#[test]
fn files_lie_in_the_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let manifest = bundle(dir, UNITS[7]);
    seal(dir, &manifest);
    // The right bytes, but in another place.
    for name in ["ctrl.mem", "tb.sv", "accelerator.yaml", "rtl"] {
        let (here, there) = (dir.join(name), outside.path().join(name));
        fs::rename(&here, &there).unwrap();
        symlink(&there, &here).unwrap();
        let (check, details) = failed(dir).unwrap();
        assert!(check == "files" && details.contains("is a link"), "{check}: {details}");
        fs::remove_file(&here).unwrap();
        fs::rename(&there, &here).unwrap();
    }
    let accelerator = fs::read_to_string(dir.join("accelerator.yaml")).unwrap();
    for (text, part) in [
        (format!("extends: /dev/zero\n{accelerator}"), "cannot extend another one"),
        (format!("extends: fpga-int14-os\n{accelerator}"), "cannot extend another one"),
        (accelerator.replace("rows: 16", "rows: 99999999999999999999"), "accelerator.yaml"),
        (" ".repeat(1 << 20), "has more than"),
    ] {
        fs::write(dir.join("accelerator.yaml"), text).unwrap();
        seal(dir, &manifest);
        let report = check(dir, &CheckRequest::default());
        let said = match report {
            Ok(_) => failed(dir).unwrap().1,
            Err(error) => error.to_string(),
        };
        assert!(said.contains(part) && said.len() < 4000, "{part}: {said}");
    }
}
