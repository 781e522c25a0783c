//! Benches of a bundle as their user runs them: `make` with custom designs, mismatch messages, waveforms, and
//! the reference RTL in Yosys.
//!
//! The tools run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs them and sets it).

use std::fs;
use std::path::Path;
use std::process::Command;

use guardbit_testing::is_full;

use crate::common::bundles::{export, make};
use crate::common::{guardbit, needed};

/// Copies a file of the bundle with one change.
fn change(bundle: &Path, from: &str, to: &str, text: &str, by: &str) {
    let source = fs::read_to_string(bundle.join(from)).unwrap();
    assert!(source.contains(text), "{from} has no {text}");
    fs::write(bundle.join(to), source.replace(text, by)).unwrap();
}

/// Mode of the last level.
const SATURATES: &str = ".MODE({32'd1";
const WRAPS: &str = ".MODE({32'd0";

/// The reference design, a broken one, then the reference design again: each is really run.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn a_build_belongs_to_its_sources() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    change(&bundle, "rtl/gb_dut.sv", "broken.sv", SATURATES, WRAPS);
    change(&bundle, "rtl/gb_array.sv", "broken_array.sv", ".MODE(1)", ".MODE(0)");
    let saturating = "IS_SIGNED(level), MODE(level));\n                            held";
    change(&bundle, "rtl/gb_mac.vhd", "broken.vhd", saturating, &saturating.replace("MODE(level)", "0"));
    let cocotb = std::env::var_os("GUARDBIT_COCOTB_BIN").is_some();
    let runs = [
        (&["icarus"][..], "DUT=broken.sv"),
        (&["verilator"], "DUT=broken.sv"),
        (&["ghdl"], "MAC=broken.vhd"),
        (&["array-icarus"], "ARRAY=broken_array.sv"),
        (&["array-verilator"], "ARRAY=broken_array.sv"),
        (&["cocotb", "SIM=icarus"], "DUT=broken.sv"),
        (&["cocotb", "SIM=verilator"], "DUT=broken.sv"),
    ];
    for (target, broken) in runs.into_iter().filter(|(target, _)| cocotb || target[0] != "cocotb") {
        for faulty in [false, true, false] {
            let args: Vec<&str> = target.iter().copied().chain(faulty.then_some(broken)).collect();
            let (passed, text) = make(&bundle, &args);
            assert_eq!(passed, !faulty, "{args:?}: {text}");
            assert_eq!(text.contains("MISMATCH"), faulty, "{args:?}: {text}");
        }
    }
}

/// A design with an equal name and another text, or with a changed included file, is another design.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn a_build_belongs_to_what_it_includes() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let header = |mode: &str| {
        fs::create_dir_all(bundle.join("headers")).unwrap();
        fs::write(bundle.join("headers/mode.svh"), format!("`define OVERFLOW_MODE {mode}\n")).unwrap();
    };
    let dut = |mode: &str| {
        change(&bundle, "rtl/gb_dut.sv", "dut.sv", SATURATES, &format!(".MODE({{{mode}"));
        let text = fs::read_to_string(bundle.join("dut.sv")).unwrap();
        fs::write(bundle.join("dut.sv"), format!("`include \"mode.svh\"\n{text}")).unwrap();
    };
    for target in ["icarus", "verilator"] {
        let run = || make(&bundle, &[target, "DUT=dut.sv", "INCLUDE=headers"]);
        let check = |good: bool| {
            let (passed, text) = run();
            assert!(passed == good && text.contains("RESULT"), "{target}: {text}");
        };
        header("1");
        dut("32'd`OVERFLOW_MODE");
        check(true);
        header("0");
        check(false);
        header("1");
        check(true);
        dut("32'd0");
        check(false);
    }
}

/// Changes a file of the bundle itself.
fn plant(bundle: &Path, file: &str, text: &str, by: &str) {
    change(bundle, file, file, text, by);
}

/// Faults of outputs that never come, of reset and of idle cycles fail in every bench that has the design.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn silence_resets_and_idle_cycles_are_compared() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let intact = dir.path().join("intact");
    export(&intact, "fpga-int14-os", "0", &[]);
    let cocotb: &[&[&str]] = &[&["cocotb", "SIM=icarus"]];
    let has_cocotb = std::env::var_os("GUARDBIT_COCOTB_BIN").is_some();
    let sv: Vec<&[&str]> =
        [&["icarus"] as &[&str]].into_iter().chain(cocotb.iter().copied().filter(|_| has_cocotb)).collect();
    let vhdl: Vec<&[&str]> = vec![&["ghdl"]];
    // File, text and replacement.
    let rows = [
        ("rtl/gb_level.sv", "updated <= valid;", "updated <= 1'b0;"),
        ("rtl/gb_unit.sv", "out_valid <= rst_n && sum_valid;", "out_valid <= 1'b0;"),
        ("rtl/gb_level.sv", "acc     <= {ACC_W{1'b0}};", ""),
        ("rtl/gb_level.sv", "if (!rst_n) begin", "if (1'b0) begin"),
        ("rtl/gb_unit.sv", "            valid1 <= 1'b0;\n", "            valid1 <= in_valid;\n"),
        ("rtl/gb_mac.vhd", "updated(level) <= '1';", "null;"),
        ("rtl/gb_mac.vhd", "                sum_valid <= valid;\n", ""),
        ("rtl/gb_mac.vhd", "                reg    <= (others => (others => '0'));\n", ""),
        ("rtl/gb_output.vhd", "to_integer(expo)) + ZERO_POINT;", "to_integer(expo));"),
    ];
    for (number, (file, text, by)) in rows.into_iter().enumerate() {
        let bundle = dir.path().join(number.to_string());
        assert!(Command::new("cp").arg("-r").args([&intact, &bundle]).status().unwrap().success());
        plant(&bundle, file, text, by);
        for target in if file.ends_with(".vhd") { &vhdl } else { &sv } {
            let (passed, said) = make(&bundle, target);
            // An undefined value ends a test in cocotb with an error of its own.
            let is_said = said.contains("MISMATCH") || said.contains("ValueError");
            assert!(!passed && is_said, "{file} without `{text}`: {target:?}: {said}");
        }
    }
}

/// A seed is the same run in every simulator and language: idle cycles, resets and waiting results in the same cycles.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn a_seed_is_the_same_run_everywhere() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let has_cocotb = std::env::var_os("GUARDBIT_COCOTB_BIN").is_some();
    let unit = ["cycles", "gap_inside", "gap_between", "reset", "random"];
    let stream = ["stall_in", "stall_out"];
    let (os, tree) = (("fpga-int14-os", "0"), ("fpga-int14-tree", "5"));
    for ((hw, layer), profile) in [(os, ""), (tree, ""), (tree, "stream-")] {
        let keys = if profile.is_empty() { unit.to_vec() } else { [&unit[..], &stream].concat() };
        let bundle = dir.path().join(format!("{profile}{hw}"));
        export(&bundle, hw, layer, &[]);
        let run = |simulator: &str, seed: &str| {
            let target = format!("{profile}{simulator}");
            let (passed, said) = make(&bundle, &[&target, &format!("SEED={seed}")]);
            assert!(passed, "{target}: {said}");
            // The last line is the one of the run with idle cycles and resets.
            let result = said.lines().rfind(|line| line.contains("RESULT ")).unwrap();
            let field =
                |key: &&str| result.split_once(&format!(" {key}=")).unwrap().1.split(' ').next().unwrap();
            keys.iter().map(|key| format!("{key}={}", field(key))).collect::<Vec<_>>()
        };
        for seed in ["2", "41"] {
            let expected = run("icarus", seed);
            for simulator in
                ["verilator", "ghdl", "cocotb"].into_iter().filter(|s| *s != "cocotb" || has_cocotb)
            {
                assert_eq!(run(simulator, seed), expected, "{profile}{simulator}, {hw}, seed {seed}");
            }
        }
        assert_ne!(run("icarus", "2"), run("icarus", "41"), "{profile}, {hw}");
    }
}

/// `check --dut` replays a design of the user with all ports of the contract, or with some.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn own_designs_run_in_check() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let written = |name: &str, from: &str, text: &str, by: &str| {
        let path = dir.path().join(name);
        let source = fs::read_to_string(bundle.join(from)).unwrap();
        assert!(source.contains(text));
        fs::write(&path, source.replace(text, by)).unwrap();
        path.to_string_lossy().into_owned()
    };
    let mine = written("mine.sv", "rtl/gb_dut.sv", "module gb_dut", "module mine");
    let wraps = written("wraps.sv", "rtl/gb_dut.sv", "module gb_dut", "module mine");
    fs::write(&wraps, fs::read_to_string(&wraps).unwrap().replace(SATURATES, WRAPS)).unwrap();
    let same = written("same.sv", "rtl/gb_dut.sv", "module gb_dut", "module gb_dut");
    let mac = written("mac.vhd", "rtl/gb_mac.vhd", "entity gb_mac", "entity gb_mac");
    let rows: [(&[&str], i32, &str); 11] = [
        (&["--dut", &same], 0, "icarus, stress"),
        (&["--dut", &same, "--seeds", "3"], 0, "icarus, stress, seed 3"),
        (&["--dut", &mac], 0, "ghdl, stress"),
        (&["--dut", &mine, "--top", "mine"], 0, "icarus"),
        (&["--dut", &mine, "--top", "mine", "--profile", "sums"], 0, "icarus"),
        (&["--dut", &mine, "--top", "mine", "--profile", "codes", "--latency", "2"], 0, "icarus"),
        (&["--dut", &mine, "--top", "mine", "--latency", "3"], 1, "latency"),
        (&["--dut", &wraps, "--top", "mine", "--profile", "sums"], 1, "sum, case"),
        (&["--dut", &wraps, "--top", "mine"], 1, "acc, case"),
        (&["--dut", &mine], 1, "build or run"),
        (&["--top", "mine"], 2, "--top needs --dut"),
    ];
    let path = bundle.to_string_lossy();
    for (args, code, part) in rows {
        let output = guardbit(&[&["check", &path], args].concat());
        let said = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

/// Runs `check` on a bundle; returns its exit code and output.
fn check(bundle: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = guardbit(&[&["check", &bundle.to_string_lossy()], args].concat());
    let said = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat();
    (output.status.code(), said)
}

/// A module around the reference design that subtracts zero points from raw codes.
const RAW: &str = "module raw_unit (
    input logic clk, input logic rst_n, input logic in_valid, input logic in_clear, input logic [0:0] in_run_last,
    input logic [0:0] in_keep, input logic signed [7:0] in_a, input logic signed [8:0] in_zx,
    input logic signed [7:0] in_w, input logic signed [8:0] in_zw, input logic signed [15:0] in_bias,
    input logic signed [31:0] in_mult, input logic signed [7:0] in_exp, output logic sum_valid,
    output logic signed [13:0] sum, output logic out_valid, output logic signed [7:0] out_code);
    logic signed [8:0] a, w;
    assign a = in_a - in_zx;
    assign w = in_w - in_zw;
    mine u (.in_a(a), .in_w(w[7:0]), .acc_l0(), .updated(), .flags(), .*);
endmodule
";

/// The first difference comes with the beats before it, a waveform and a JUnit file whose numbers are those of the cases;
/// skipped cases are counted.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn differences_are_explained() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    change(&bundle, "rtl/gb_dut.sv", "../wraps.sv", SATURATES, WRAPS);
    let saturating = "IS_SIGNED(level), MODE(level));\n                            held";
    change(&bundle, "rtl/gb_mac.vhd", "../wraps.vhd", saturating, &saturating.replace("MODE(level)", "0"));
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(bundle.join("manifest.json")).unwrap()).unwrap();
    let cases = manifest["cases"].as_array().unwrap();
    let skipped =
        cases.iter().filter(|c| c["needs"].as_array().unwrap().contains(&"clear_mid".into())).count();
    assert!(skipped > 0);
    for (simulator, design) in [("icarus", "wraps.sv"), ("verilator", "wraps.sv"), ("ghdl", "wraps.vhd")] {
        let [design, junit, work] = [design, &format!("{simulator}.xml"), simulator]
            .map(|name| dir.path().join(name).to_string_lossy().into_owned());
        let args = ["--dut", &design, "--simulator", simulator, "--without", "clear_mid", "--junit", &junit];
        let (code, said) = check(&bundle, &[&args[..], &["--work", &work, "--json"]].concat());
        assert_eq!(code, Some(1), "{said}");
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["cases"]["skipped"], skipped);
        let checks = said["checks"].as_array().unwrap();
        let first = &checks.iter().find(|c| c["outcome"]["result"] == "fail").unwrap()["outcome"]["first"];
        let beats = first["beats"].as_array().unwrap();
        let last = beats.last().unwrap();
        let number = |key: &str| last[key].as_i64().unwrap();
        assert_eq!(beats.len(), 9, "{simulator}: {first}");
        let exact: i64 = number("held") + number("addend");
        // It wraps where it should saturate.
        assert_eq!(number("expected"), if exact > 0 { 8191 } else { -8192 }, "{simulator}: {first}");
        assert_eq!(number("got"), exact - 16384 * exact.signum(), "{simulator}: {first}");
        let waves = fs::read_to_string(first["waves"].as_str().unwrap()).unwrap();
        let seen = |name: &str| {
            waves.lines().any(|line| line.trim_start().starts_with("$var") && line.contains(name))
        };
        assert!(seen("golden_acc") && seen("differs") && seen("in_a"), "{simulator}");
        let text = fs::read_to_string(&junit).unwrap();
        for replay in said["replays"].as_array().unwrap() {
            let name = replay["check"].as_str().unwrap();
            let suite =
                text.split("<testsuite ").find(|part| part.starts_with(&format!("name=\"{name}\""))).unwrap();
            let count = |part: &str| suite.matches(part).count();
            let failed = replay["failed_cases"].as_array().unwrap().len();
            assert!(failed > 0 && count("<testcase ") == cases.len(), "{name}");
            let tests =
                format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\"", cases.len());
            assert!(suite.contains(&tests), "{name}: {suite}");
            assert_eq!([count("<failure "), count("<skipped ")], [failed, skipped], "{name}");
        }
        assert_eq!(check(&bundle, &args).0, Some(2), "an existing file is kept");
    }
    let all = "clear_mid,bubble,short,keep,overflow,product_overflow,bias_overflow,exp>0";
    let dut = bundle.join("rtl/gb_dut.sv").to_string_lossy().into_owned();
    let (code, said) = check(&bundle, &["--dut", &dut, "--without", all]);
    assert!(code == Some(0) && said.contains("skipped"), "{said}");
    let (code, said) = check(&bundle, &["--without", "bubble"]);
    assert!(code == Some(2) && said.contains("--without needs --dut"), "{said}");
}

/// A design that does not subtract zero points fails as profile `raw`.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn raw_codes_need_zero_points() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    change(&bundle, "rtl/gb_dut.sv", "../mine.sv", "module gb_dut", "module mine");
    let mine = dir.path().join("mine.sv").to_string_lossy().into_owned();
    let rows =
        [("", "", Some(0)), ("in_a - in_zx", "9'(in_a)", Some(1)), ("in_a - in_zx", "in_a + in_zx", Some(1))];
    for (text, by, expected) in rows {
        let raw = dir.path().join("raw.sv").to_string_lossy().into_owned();
        fs::write(&raw, RAW.replacen(text, by, usize::from(!text.is_empty()))).unwrap();
        for simulator in ["icarus", "verilator"] {
            let args = [
                "--dut",
                &mine,
                "--dut",
                &raw,
                "--top",
                "raw_unit",
                "--profile",
                "raw",
                "--simulator",
                simulator,
            ];
            let (code, said) = check(&bundle, &args);
            assert_eq!(code, expected, "{simulator} {by}: {said}");
        }
    }
}

/// Planted faults of handshakes: file, text, replacement.
const STREAM_FAULTS: [(&str, &str, &str); 12] = [
    // Data are lost.
    ("gb_stream.sv", "assign in_ready = under_way != DEPTH[3:0];", "assign in_ready = 1'b1;"),
    ("gb_stream.sv", "if (taken) out_at", "if (out_valid) out_at"),
    ("gb_stream.sv", ".in_valid(accepted)", ".in_valid(accepted && !(out_valid && !out_ready))"),
    ("gb_stream.sv", "logic [3:0] sum_at, code_at, out_at;", "logic [2:0] sum_at, code_at, out_at;"),
    // Data come twice.
    ("gb_stream.sv", ".in_valid(accepted)", ".in_valid(in_valid)"),
    ("gb_stream.sv", "if (taken) out_at", "if (taken && !unit_sum_valid) out_at"),
    // A waiting result changes or goes.
    ("gb_stream.sv", "assign sum       = sums[out_at[2:0]];", "assign sum       = unit_sum;"),
    ("gb_stream.sv", "code_at != out_at;", "code_at != out_at && (out_ready || !in_valid);"),
    // A reset leaves something.
    ("gb_stream.sv", "            code_at   <= '0;\n", ""),
    ("gb_stream.sv", "            out_at    <= '0;\n", ""),
    // Fields of a transfer.
    ("gb_axis.sv", "in_bias = s_axis_tdata[24+:16]", "in_bias = s_axis_tdata[32+:16]"),
    ("gb_axis.sv", ".in_clear(s_axis_tuser[0])", ".in_clear(s_axis_tlast)"),
];

/// The reference design passes with valid and ready and with AXI4-Stream; data that are lost, doubled or changed fail.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn faults_of_handshakes_are_caught() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let source = |name: &str| fs::read_to_string(bundle.join("rtl").join(name)).unwrap();
    let write = |name: &str, text: String| {
        fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name).to_string_lossy().into_owned()
    };
    let run = |profile: &str, simulator: &str, fault: Option<(&str, &str, &str)>| {
        let files = ["gb_dut.sv", "gb_stream.sv", "gb_axis.sv"].map(|name| {
            let text = source(name);
            write(
                name,
                match fault {
                    Some((file, from, to)) if file == name => {
                        assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
                        text.replace(from, to)
                    }
                    _ => text,
                },
            )
        });
        let top = format!("gb_{profile}");
        let mut args = vec!["--profile", profile, "--top", &top, "--simulator", simulator, "--seeds", "2"];
        files.iter().for_each(|file| args.extend(["--dut", file]));
        check(&bundle, &args)
    };
    for simulator in ["icarus", "verilator"] {
        for profile in ["stream", "axis"] {
            let (code, said) = run(profile, simulator, None);
            assert_eq!(code, Some(0), "{profile}, {simulator}: {said}");
        }
    }
    for (index, fault) in STREAM_FAULTS.into_iter().enumerate() {
        // A build in Verilator takes several seconds.
        let with_verilator = is_full() || index % 4 == 0;
        for simulator in ["icarus", "verilator"].into_iter().take(1 + usize::from(with_verilator)) {
            let (code, said) = run("axis", simulator, Some(fault));
            assert_eq!(code, Some(1), "{fault:?}, {simulator}: {said}");
            assert!(!said.contains("build or run"), "{fault:?}, {simulator}: {said}");
        }
    }
}

/// Planted faults of handshakes in VHDL: file, text, replacement.
const VHDL_STREAM_FAULTS: [(&str, &str, &str); 12] = [
    // Data are lost.
    ("gb_stream.vhd", "is_ready  <= '0' when last_at - out_at = DEPTH else '1';", "is_ready  <= '1';"),
    ("gb_stream.vhd", "if taken = '1' then", "if is_shown = '1' then"),
    ("gb_stream.vhd", "in_valid => accepted,", "in_valid => accepted and (out_ready or not is_shown),"),
    (
        "gb_stream.vhd",
        "subtype pointer_t is unsigned(3 downto 0);",
        "subtype pointer_t is unsigned(2 downto 0);",
    ),
    // Data come twice.
    ("gb_stream.vhd", "in_valid => accepted,", "in_valid => in_valid,"),
    ("gb_stream.vhd", "if taken = '1' then", "if taken = '1' and sum_valid = '0' then"),
    // A waiting result changes or goes.
    ("gb_stream.vhd", "sum       <= sums(place(out_at));", "sum       <= unit_sum(13 downto 0);"),
    (
        "gb_stream.vhd",
        "when code_at = out_at else",
        "when code_at = out_at or (in_valid and not out_ready) = '1' else",
    ),
    // A reset leaves something.
    ("gb_stream.vhd", "                sum_at  <= (others => '0');\n", ""),
    ("gb_stream.vhd", "                out_at  <= (others => '0');\n", ""),
    // Fields of a transfer.
    ("gb_axis.vhd", "signed(s_axis_tdata(39 downto 24))", "signed(s_axis_tdata(47 downto 32))"),
    ("gb_axis.vhd", "in_clear => s_axis_tuser(0)", "in_clear => s_axis_tlast"),
];

/// Planted faults of handshakes are caught in VHDL with GHDL, and in cocotb.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn faults_of_handshakes_are_caught_in_ghdl_and_cocotb() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-os", "0", &[]);
    let broken = |(file, from, to): (&str, &str, &str)| {
        let text = fs::read_to_string(bundle.join("rtl").join(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
        fs::write(bundle.join(file), text.replace(from, to)).unwrap();
    };
    let intact = |file: &str| {
        let _ = fs::copy(bundle.join("rtl").join(file), bundle.join(file)).unwrap();
    };
    // Bins of both sides are hit, and the last design is the intact one again.
    let passes = |targets: &[&str]| {
        for target in targets {
            let (passed, said) = make(&bundle, &[target, "RESETS=9"]);
            let is_hit = |name: &str| {
                let counts = said.lines().filter_map(|line| line.split_once(&format!(" {name}=")));
                counts
                    .map(|(_, counts)| counts.split(' ').next().unwrap())
                    .any(|counts| !counts.contains("0,0,0"))
            };
            let bins = ["gap_inside", "gap_between", "reset", "stall_in", "stall_out"];
            assert!(passed && bins.into_iter().all(is_hit), "{target}: {said}");
        }
    };
    passes(&["stream-ghdl", "axis-ghdl"]);
    let designs = ["gb_stream.vhd", "gb_axis.vhd"];
    // A run of each takes several seconds.
    let apart = if is_full() { 1 } else { 4 };
    for fault in VHDL_STREAM_FAULTS.into_iter().step_by(apart) {
        designs.into_iter().for_each(&intact);
        broken(fault);
        let args: Vec<String> = designs
            .into_iter()
            .flat_map(|name| ["--dut".into(), bundle.join(name).to_string_lossy().into_owned()])
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let more = ["--profile", "axis", "--simulator", "ghdl", "--seeds", "2"];
        // `check` refuses files that the manifest does not list.
        let clean = dir.path().join("clean");
        if !clean.exists() {
            export(&clean, "fpga-int14-os", "0", &[]);
        }
        let (code, said) = check(&clean, &[&args[..], &more].concat());
        assert_eq!(code, Some(1), "{fault:?}: {said}");
        assert!(!said.contains("build or run"), "{fault:?}: {said}");
    }
    if std::env::var_os("GUARDBIT_COCOTB_BIN").is_none() {
        return;
    }
    passes(&["stream-cocotb", "axis-cocotb"]);
    for fault in STREAM_FAULTS.into_iter().step_by(apart) {
        ["gb_stream.sv", "gb_axis.sv"].into_iter().for_each(&intact);
        broken(fault);
        let (passed, said) = make(&bundle, &["axis-cocotb", "AXIS=rtl/gb_dut.sv gb_stream.sv gb_axis.sv"]);
        // An undefined value ends a test in cocotb with an error of its own.
        assert!(!passed && (said.contains("MISMATCH") || said.contains("ValueError")), "{fault:?}: {said}");
    }
}

/// Several lanes and levels travel by AXI4-Stream, and faults in their design are found or listed.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn streams_have_lanes_and_designs_are_changed() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-tree", "5", &[]);
    let files = ["gb_dut", "gb_stream", "gb_axis"]
        .map(|name| bundle.join(format!("rtl/{name}.sv")).to_string_lossy().into_owned());
    let designs: Vec<&str> = files.iter().flat_map(|file| ["--dut", file]).collect();
    let axis = ["--profile", "axis", "--top", "gb_axis"];
    let (code, said) = check(&bundle, &[&designs[..], &axis].concat());
    assert_eq!(code, Some(0), "{said}");
    let axis_text = fs::read_to_string(&files[2]).unwrap();
    let swapped = axis_text.replacen("s_axis_tkeep[2]", "s_axis_tkeep[0]", 1);
    assert_ne!(axis_text, swapped);
    let broken = dir.path().join("axis.sv");
    fs::write(&broken, swapped).unwrap();
    let broken = broken.to_string_lossy().into_owned();
    let (code, said) =
        check(&bundle, &[&["--dut", &files[0], "--dut", &files[1], "--dut", &broken], &axis[..]].concat());
    assert_eq!(code, Some(1), "{said}");
    let args = ["--dut", &files[0], "--mutate-dut", "12", "--seeds", "0", "--json"];
    let (code, said) = check(&bundle, &args);
    assert_eq!(code, Some(0), "{said}");
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let faults = said["dut_mutants"].as_array().unwrap();
    let fates = |fate: &str| faults.iter().filter(|fault| fault["fate"] == fate).count();
    assert_eq!(fates("caught") + fates("survived"), 12, "{said}");
    assert!(fates("caught") >= 4 && fates("survived") >= 1, "{said}");
    for fault in faults {
        let source = fault["source"][0].as_str().unwrap();
        assert!(source.contains("gb_dut.sv:"), "{fault}");
    }
    let (code, said) = check(&bundle, &["--mutate-dut", "3"]);
    assert!(code == Some(2) && said.contains("--mutate-dut needs --dut"), "{said}");
}

/// Returns a value of a mismatch message by key.
fn value<'a>(line: &'a str, key: &str) -> &'a str {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("no {key} in {line}"))
}

/// Ten mismatches are shown, each with its case in the manifest and its operands in the files.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn mismatches_name_case_and_operands() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let cocotb = std::env::var_os("GUARDBIT_COCOTB_BIN").is_some();
    for (hw, layer) in [("fpga-int14-os", "0"), ("fpga-int14-tree", "5")] {
        let bundle = dir.path().join(hw);
        export(&bundle, hw, layer, &[]);
        change(&bundle, "rtl/gb_dut.sv", "broken.sv", SATURATES, WRAPS);
        let saturating = "IS_SIGNED(level), MODE(level));\n                            held";
        change(&bundle, "rtl/gb_mac.vhd", "broken.vhd", saturating, &saturating.replace("MODE(level)", "0"));
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(bundle.join("manifest.json")).unwrap()).unwrap();
        let [a, w] = ["stim_a.dec", "stim_w.dec"].map(|f| fs::read_to_string(bundle.join(f)).unwrap());
        let products = |beat: usize| -> Vec<String> {
            let [a, w] = [&a, &w].map(|text| text.lines().nth(beat).unwrap().split(' '));
            a.zip(w).map(|(a, w)| format!("{a}*{w}")).collect()
        };
        let targets =
            [&["icarus", "DUT=broken.sv"][..], &["verilator", "DUT=broken.sv"], &["ghdl", "MAC=broken.vhd"]];
        let with_cocotb = [&["cocotb", "DUT=broken.sv"][..]];
        for args in targets.iter().chain(with_cocotb.iter().filter(|_| cocotb)) {
            let (passed, text) = make(&bundle, args);
            assert!(!passed, "{args:?}: {text}");
            let lines: Vec<&str> = text.lines().filter(|line| line.contains("MISMATCH ")).collect();
            // cocotb runs its second test even if the first one fails.
            let runs = if args[0] == "cocotb" { 2 } else { 1 };
            assert_eq!(lines.len(), 10 * runs, "{args:?}: {text}");
            for line in lines {
                let case = value(line, "case");
                let cases = manifest["cases"].as_array().unwrap();
                let info = cases.iter().find(|c| c["id"] == case).unwrap_or_else(|| panic!("{line}"));
                let number = |key: &str| info[key].as_u64().unwrap() as usize;
                let last = number("first_beat") + number("beats") - 1;
                let beat = match line.contains(" beat=") {
                    true => value(line, "beat").parse().unwrap(),
                    false => last,
                };
                assert!((number("first_beat")..=last).contains(&beat), "{line}");
                assert!(
                    line.contains(" beat=") || info["out_word"].as_u64() == value(line, "word").parse().ok(),
                    "{line}"
                );
                let operands: Vec<String> = value(line, "operands").split(',').map(String::from).collect();
                assert_eq!(operands, products(beat)[..operands.len()], "{line}");
            }
        }
    }
    let bundle = dir.path().join("fpga-int14-os");
    change(&bundle, "rtl/gb_array.sv", "broken_array.sv", ".MODE(1)", ".MODE(0)");
    let (passed, text) = make(&bundle, &["array-icarus", "ARRAY=broken_array.sv"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("MISMATCH ")).collect();
    assert!(!passed && (1..=10).contains(&lines.len()), "{text}");
    for line in lines {
        assert!(
            value(line, "operands").contains('*') && value(line, "tile").parse::<usize>().is_ok(),
            "{line}"
        );
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn waves_are_dumped_on_request() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, "fpga-int14-tree", "0", &[]);
    let cocotb = std::env::var_os("GUARDBIT_COCOTB_BIN").is_some();
    for target in ["icarus", "verilator", "ghdl", "cocotb"].into_iter().filter(|&t| cocotb || t != "cocotb") {
        let waves = format!("WAVES={target}.vcd");
        let (passed, text) = make(&bundle, &[target, &waves]);
        assert!(passed, "{target}: {text}");
        let vcd = fs::read_to_string(bundle.join(format!("{target}.vcd"))).unwrap();
        let seen =
            |name: &str| vcd.lines().any(|line| line.trim_start().starts_with("$var") && line.contains(name));
        assert!(seen("in_a") && seen("updated") && vcd.lines().any(|line| line.starts_with('#')), "{target}");
    }
    let (passed, text) = make(&bundle, &["icarus", "WAVES=icarus.fst"]);
    assert!(passed && fs::metadata(bundle.join("icarus.fst")).unwrap().len() > 1000, "{text}");
    let (passed, _) = make(&bundle, &["icarus"]);
    assert!(passed && !bundle.join("dump.vcd").exists());
}

/// Debian's Yosys 0.23 reads the reference RTL, and its netlist still passes.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn yosys_reads_the_reference_rtl() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let designs: [(&str, &str, &[&str]); 5] = [
        ("fpga-int14-os", "0", &[]),
        ("fpga-int14-tree", "5", &["--byte-slots", "--set", "accumulation.acc.overflow=sticky"]),
        (
            "fpga-int14-ws",
            "5",
            &["--set", "accumulation.acc.shift=1", "--set", "accumulation.acc.round=half_even"],
        ),
        (
            "fpga-int14-os",
            "2",
            &["--set", "bias.at=preload", "--set", "product.shift=2", "--set", "product.bits=12"],
        ),
        ("fpga-int14-os", "2", &["--set", "operands.zero_point=fold", "--requantize", "float64_away"]),
    ];
    for (index, (hw, layer, more)) in designs.into_iter().enumerate() {
        let bundle = dir.path().join(index.to_string());
        export(&bundle, hw, layer, more);
        let tops = [("gb_dut", "icarus", "DUT"), ("gb_array", "array-icarus", "ARRAY")];
        for (top, target, variable) in
            tops.into_iter().filter(|t| bundle.join(format!("rtl/{}.sv", t.0)).exists())
        {
            let script = format!(
                "read_verilog -sv rtl/*.sv; hierarchy -check -top {top}; proc; flatten; opt_clean; check -assert; \
                 write_verilog -noattr {top}_netlist.v"
            );
            let output =
                Command::new("yosys").args(["-q", "-p", &script]).current_dir(&bundle).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{hw} {layer} {top}: {said}");
            let (passed, text) = make(&bundle, &[target, &format!("{variable}={top}_netlist.v")]);
            assert!(passed && text.contains("mismatches=0"), "{hw} {layer} {top}: {text}");
        }
    }
}
