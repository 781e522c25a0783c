//! Compares the requantizer of the reference RTL with `guardbit-num`, on random sums and multipliers of any
//! size.
//!
//! The tests run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs the simulators and sets it).

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use guardbit_num::{Multiplier, Requantizer, Scheme};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

const CASES: usize = 4000;

/// Returns a bench that passes every word to one requantizer and prints the result.
fn bench(in_w: u32, scheme: Scheme) -> String {
    format!(
        "module tb;
    logic signed [{top}:0] x [0:{last}];
    logic signed [53:0] mult [0:{last}];
    logic signed [7:0] expo [0:{last}];
    logic signed [{top}:0] at_x;
    logic signed [53:0] at_mult;
    logic signed [7:0] at_expo;
    logic signed [31:0] code;
    gb_requant #(.IN_W({in_w}), .OUT_W(32), .MULT_W(54), .SCHEME(gb_codes::SCHEME_{scheme}), .ZERO_POINT(-3), .CLAMP_MIN(-2147483647), .CLAMP_MAX(2147483647)) u (
        .x(at_x), .mult(at_mult), .expo(at_expo), .code(code)
    );
    integer i;
    initial begin
        $readmemh(\"x.mem\", x);
        $readmemh(\"mult.mem\", mult);
        $readmemh(\"exp.mem\", expo);
        for (i = 0; i <= {last}; i = i + 1) begin
            at_x = x[i];
            at_mult = mult[i];
            at_expo = expo[i];
            #1 $display(\"%0d\", code);
        end
        $finish;
    end
endmodule
",
        top = in_w - 1,
        scheme = scheme.name().to_uppercase(),
        last = CASES - 1
    )
}

/// Returns sums and multipliers: random ones, and some whose product is near a tie.
fn cases(in_w: u32) -> Vec<(i64, Multiplier)> {
    let mut random = Pcg64Mcg::seed_from_u64(in_w.into());
    let mut case = |index: usize| {
        let bits = 1 + random.next_u64() as u32 % in_w;
        let x = random.next_u64() as i64 >> (64 - bits);
        let fraction = 0.5 + (random.next_u64() >> 11) as f64 / 2f64.powi(54);
        let real = match index % 3 {
            0 => fraction * 2f64.powi(-(random.next_u64() as i32 & 63)),
            1 => (random.next_u64() as i8 as f64 + 0.5).abs() / (x as f64).abs().max(1.0),
            _ => fraction * 2f64.powi(30 - bits as i32),
        };
        (x, Multiplier::new(real.min(1e9)).unwrap())
    };
    (0..CASES).map(&mut case).collect()
}

fn mem(dir: &Path, name: &str, bits: u32, words: impl Iterator<Item = i64>) {
    let digits = bits.div_ceil(4) as usize;
    let mask = u64::MAX >> (64 - bits);
    let mut text = String::new();
    for word in words {
        writeln!(text, "{:0digits$x}", word as u64 & mask).unwrap();
    }
    std::fs::write(dir.join(format!("{name}.mem")), text).unwrap();
}

/// Returns the words of the multiplier ports.
fn words(scheme: Scheme, multiplier: Multiplier) -> (i64, i64) {
    let (significand, exponent) = match scheme {
        Scheme::Even => {
            let (significand, exponent) =
                Multiplier::new(f64::from(multiplier.real() as f32)).unwrap().exact();
            (significand >> 22, exponent)
        }
        _ => multiplier.exact(),
    };
    if exponent < -64 { (0, 0) } else { (significand as i64, i64::from(exponent)) }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn float_products_round_as_in_software() {
    std::env::var("GUARDBIT_SIMULATORS").expect("GUARDBIT_SIMULATORS is set, see scripts/test");
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl");
    let rows = [Scheme::Float64Away, Scheme::Even].map(|scheme| [14, 34, 54, 62].map(|in_w| (scheme, in_w)));
    for &(scheme, in_w) in rows.as_flattened() {
        let dir = tempfile::tempdir().unwrap();
        let cases = cases(in_w);
        let words = |m: Multiplier| words(scheme, m);
        mem(dir.path(), "x", in_w, cases.iter().map(|(x, _)| *x));
        mem(dir.path(), "mult", 54, cases.iter().map(|(_, m)| words(*m).0));
        mem(dir.path(), "exp", 8, cases.iter().map(|(_, m)| words(*m).1));
        std::fs::write(dir.path().join("tb.sv"), bench(in_w, scheme)).unwrap();
        let mut build = Command::new("iverilog");
        build.args(["-g2012", "-s", "tb", "-o", "tb.vvp"]);
        build.args(["gb_codes.sv", "gb_requant.sv", "gb_float.sv"].map(|file| rtl.join(file))).arg("tb.sv");
        assert!(build.current_dir(dir.path()).status().unwrap().success());
        let ran = Command::new("vvp").args(["-n", "tb.vvp"]).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), CASES, "{text:.500}");
        for ((x, m), line) in cases.into_iter().zip(lines) {
            let exact = Requantizer::new(scheme, m).requantize(x.into(), -3);
            let expected = exact.clamp(-2147483647, 2147483647);
            assert_eq!(
                line.parse::<i128>().unwrap(),
                expected,
                "{scheme}: {x} * {:e}, {in_w} bits",
                m.real()
            );
        }
    }
}
