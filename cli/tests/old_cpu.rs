//! int8 kernels of CPUs without VNNI, compared with ONNX Runtime on such a CPU.

use std::process::Command;

use crate::common::{needed, root, succeed};

/// Codes of networks equal ONNX Runtime's on an emulated Haswell CPU. The exact ones equal those of a CPU without AVX2, on
/// which the kernels of ONNX Runtime are exact.
#[test]
#[cfg(target_arch = "x86_64")]
#[ignore = "needs GUARDBIT_ONNX_PYTHON and qemu-x86_64, see scripts/test"]
fn a_cpu_without_vnni_saturates_as_onnx_runtime_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let example = |name: &str| root().join("examples/digits").join(name).to_string_lossy().into_owned();
    oracle(&[], &["make", &path("")]);
    let (float, calibration) = (example("digits_float.onnx"), example("calibration.npy"));
    succeed(&["quantize", &float, "--calibration", &calibration, "-o", &path("digits.onnx")]);

    for (network, inputs) in
        [(path("network.onnx"), path("x.npy")), (path("digits.onnx"), example("test_images_float.npy"))]
    {
        let out = path("out");
        let args =
            ["--hw", "x86-avx2-vpmaddubsw", "--input", &inputs, "--samples", "20", "--force", "-o", &out];
        succeed(&[&["run", &network][..], &args].concat());
        for (cpu, same, other) in [("Haswell", "simulated", "exact"), ("Nehalem", "exact", "simulated")] {
            let made = path(cpu);
            oracle(&["qemu-x86_64", "-cpu", cpu], &["run", &network, &inputs, &made]);
            let differ = |kind: &str| {
                let said = oracle(&[], &["compare", &format!("{made}.npz"), &out, kind]);
                let numbers: Vec<u64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
                assert!(numbers.len() == 2 && numbers[0] >= 200, "{said}");
                numbers[1]
            };
            assert_eq!(differ(same), 0, "{network}: {cpu}");
            assert!(differ(other) > 0, "{network}: no code saturates");
        }
    }
}

/// Runs the script of the oracle, by the programs `before`, and returns what it prints.
fn oracle(before: &[&str], args: &[&str]) -> String {
    let python = needed("GUARDBIT_ONNX_PYTHON");
    let words = [before, &[&python]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(root().join("scripts/oracles/old_cpu.py")).args(args);
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", words[0]));
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().into()
}
