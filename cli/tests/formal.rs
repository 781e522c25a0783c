//! Formal proofs of a bundle: accumulators and requantizers equal to the reference, properties of valid and ready.
//!
//! The tools run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs them and sets it).

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::bundles::{export, make};
use crate::common::{needed, root};

/// Exit code and output of `make formal-accumulator` in a bundle, with a design.
fn prove(bundle: &Path, design: &str) -> (Option<i32>, String) {
    let file = bundle.with_extension("sv");
    fs::write(&file, design).unwrap();
    let script = bundle.join("formal/prove.py");
    let output = Command::new("python3").arg(script).arg(&file).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code(), text)
}

/// An accumulator that shares nothing with the reference is proved equal in every overflow mode, and one with a fault
/// is not: the inputs that are printed take it to the fault.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn accumulators_are_proved_equal_by_induction() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let own =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl-vectors/formal/my_dut.sv"))
            .unwrap();
    // The fault of each mode: what is replaced.
    let modes = [
        ("wrap", "acc <= total[13:0]", "acc <= total[13:0] | 14'(off)"),
        ("saturate", "total > MAX ||", "total >= MAX ||"),
        ("saturate_symmetric", "-8191 : -8192", "-8192 : -8191"),
        ("saturate_zero", "acc <= 14'd0", "acc <= 14'd1"),
        ("sticky", "stuck <= off || (!begins && stuck)", "stuck <= off"),
    ];
    for (mode, (overflow, part, fault)) in modes.into_iter().enumerate() {
        let bundle = dir.path().join(overflow);
        export(&bundle, "fpga-int14-os", "0", &["--set", &format!("accumulation.acc.overflow={overflow}")]);
        let right = own.replace("int MODE = 1", &format!("int MODE = {mode}"));
        let (code, text) = prove(&bundle, &right);
        assert_eq!(code, Some(0), "{overflow}: {text}");
        assert!(
            text.starts_with(&format!(
                "proved equal: sum_valid, sum; levels acc: 14 bits {overflow}, serial;"
            )),
            "{text}"
        );
        let wrong = right.replacen(part, fault, 1);
        assert_ne!(wrong, right, "{overflow}");
        let (code, text) = prove(&bundle, &wrong);
        assert_eq!(code, Some(1), "{overflow}: {text}");
        assert!(text.contains("cycle 1: rst_n=1 in_valid=1"), "{overflow}: {text}");
    }
    // A sum that comes with every beat; a file without the design.
    let bundle = dir.path().join("saturate");
    let (code, text) = prove(&bundle, &own.replace("busy && last", "busy"));
    assert!(code == Some(1) && text.contains("sum_valid, sum differ"), "{text}");
    let (code, text) = prove(&bundle, "module other; endmodule\n");
    assert!(code == Some(2) && text.contains("my_dut"), "{text}");
}

/// Returns the file of a bundle with a part replaced.
fn with_fault(bundle: &Path, file: &str, part: &str, fault: &str) -> String {
    let text = fs::read_to_string(bundle.join(file)).unwrap();
    assert_eq!(text.matches(part).count(), 1, "{file}: {part}");
    text.replace(part, fault)
}

/// `make formal` proves the reference and a design equal to it, and finds a fault of the accumulator and of the requantizer.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn a_bundle_proves_accumulator_and_requantizer() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let (passed, text) = make(&bundle, &["formal"]);
    assert!(passed && text.contains("proved equal: sum_valid, sum;"), "{text}");
    assert!(text.contains(" differences=0"), "{text}");

    let file = bundle.join("own.sv");
    let own = root().join("rtl-vectors/formal/my_dut.sv");
    let own = fs::read_to_string(own).unwrap();
    let accumulator = |design: &str| {
        fs::write(&file, design).unwrap();
        make(&bundle, &["formal-accumulator", "ACCUMULATOR=own.sv"])
    };
    let (passed, text) = accumulator(&own);
    assert!(passed && text.contains("proved equal: sum_valid, sum;"), "{text}");
    let (passed, text) = accumulator(&own.replace("total > MAX ||", "total >= MAX ||"));
    assert!(!passed && text.contains("sum_valid, sum differ in the last of these cycles"), "{text}");

    // A requantizer that shares nothing with the reference: 64 bits, one negation for negative products.
    let own = "module my_requant (
    input logic signed [31:0] x, input logic signed [31:0] mult, input logic signed [7:0] expo,
    output logic signed [7:0] code
);
    logic signed [63:0] product, high, size, scaled, total;
    logic [7:0] right;
    assign right   = -expo;
    assign product = 64'(x <<< ((expo > 0) ? expo : 0)) * 64'(mult);
    assign high    = (product + 64'sd1073741824) >>> 31;
    assign size    = (high < 0) ? -high : high;
    assign scaled  = (expo >= 0) ? high : (high < 0) ? -((size + (64'sd1 <<< (right - 1))) >>> right)
                   : (size + (64'sd1 <<< (right - 1))) >>> right;
    assign total   = scaled - 128;
    assign code    = (total > 127) ? 8'sd127 : (total < -128) ? -8'sd128 : total[7:0];
endmodule
";
    let requantizer = |design: &str| {
        fs::write(&file, design).unwrap();
        make(&bundle, &["formal-requant", "REQUANT=own.sv"])
    };
    let (passed, text) = requantizer(own);
    assert!(passed && text.contains(" differences=0"), "{text}");
    let (passed, text) = requantizer(&own.replace("1073741824", "1073741823"));
    assert!(!passed && text.contains("DIFFERENCE x="), "{text}");

    // The reference does not compute this scheme.
    let bundle = dir.path().join("other");
    export(&bundle, "fpga-int14-os", "0", &["--requantize", "tosa_double"]);
    let (passed, text) = make(&bundle, &["formal-requant"]);
    assert!(passed && text.contains("does not compute this scheme"), "{text}");
}

/// The properties hold of the reference design with valid and ready, and each fails on a fault of its own.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn properties_of_valid_and_ready_are_checked() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let (passed, text) = make(&bundle, &["properties"]);
    assert!(passed && text.contains("mismatches=0") && !text.contains("Assertion"), "{text}");
    let faults = [
        (
            "assign out_valid = ",
            "assign out_valid = cycle[2:0] != 3'd1 && ",
            "a result changed or went while it waited",
        ),
        (
            "assign sum       = ",
            "assign sum       = {14{cycle[0] && !out_ready}} ^ ",
            "a result changed or went while it waited",
        ),
        (
            "if (taken) out_at <= out_at + 1'b1;",
            "if (taken && !cycle[3]) out_at <= out_at + 1'b1;",
            "a result came twice",
        ),
        (
            "if (unit_out_valid) code_at <= code_at + 1'b1;",
            "if (unit_out_valid && &cycle[2:0]) code_at <= code_at + 1'b1;",
            "a result was lost",
        ),
        ("            out_at    <= '0;", "", "a result is valid after a reset"),
    ];
    for (part, fault, message) in faults {
        let design = with_fault(&bundle, "rtl/gb_stream.sv", part, fault);
        let counter = "    logic [7:0] cycle;
    initial cycle = 8'd0;
    always_ff @(posedge clk) cycle <= cycle + 8'd1;
endmodule";
        let broken = bundle.join("broken.sv");
        fs::write(&broken, design.replace("endmodule", counter)).unwrap();
        let (passed, text) = make(&bundle, &["properties", "STREAM=rtl/gb_dut.sv broken.sv"]);
        assert!(!passed && text.contains(message), "{message}: {text}");
    }
}
