//! Tests of the golden model through its C functions.

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::common::{UNITS, bundle};
use guardbit_capi::*;

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn message() -> String {
    // SAFETY: the string belongs to the library.
    #[allow(unsafe_code)]
    unsafe { CStr::from_ptr(guardbit_error()) }.to_string_lossy().into_owned()
}

/// Returns the words of a `.mem` file, each as 32-bit limbs and as a number of up to 64 bits.
fn words(dir: &Path, name: &str) -> Vec<(Vec<u32>, u64)> {
    let text = fs::read_to_string(dir.join(format!("{name}.mem"))).unwrap();
    let word = |line: &str| {
        let limb = |from: usize, to: usize| u32::from_str_radix(&line[from..to], 16).unwrap();
        let mut limbs = Vec::new();
        let mut end = line.len();
        while end > 0 {
            let start = end.saturating_sub(8);
            limbs.push(limb(start, end));
            end = start;
        }
        let low = u64::from(limbs[0]) | u64::from(limbs.get(1).copied().unwrap_or(0)) << 32;
        (limbs, low)
    };
    text.lines().map(word).collect()
}

fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

/// The live model reproduces every word of a bundle, which was computed one dot product at a time.
#[test]
#[allow(unsafe_code)]
fn bundles_replay_in_the_model() {
    let dir = tempfile::tempdir().unwrap();
    for (index, &unit) in UNITS.iter().enumerate() {
        let dir = dir.path().join(index.to_string());
        let manifest = bundle(&dir, unit);
        let column = |name: &str| words(&dir, name);
        let [a, w, ctrl] = ["stim_a", "stim_w", "ctrl"].map(column);
        let [bias, mult, exp] = ["stim_bias", "stim_mult", "stim_exp"].map(column);
        let [flags, mask, wide, sums, codes] =
            ["exp_flags", "mask", "exp_wide", "exp_sum", "exp_out"].map(column);
        let levels = &manifest.arithmetic.levels;
        let accs: Vec<_> = levels.iter().map(|l| column(&format!("exp_acc_{}", l.name))).collect();
        let unshifted =
            manifest.arithmetic.product.shift == 0 && levels.iter().all(|l| l.register.shift == 0);

        let path = c(&dir.to_string_lossy());
        let model = unsafe { guardbit_open_bundle(path.as_ptr()) };
        assert!(model > 0, "{}", message());
        assert_eq!(guardbit_levels(model), levels.len() as i32);
        assert_eq!(guardbit_lanes(model), manifest.interface.lanes as i32);
        assert_eq!(guardbit_terms(model), unit.terms as i32);
        let (mut dot, mut ended, mut events) = (0, 0, 0);
        for beat in 0..ctrl.len() {
            if ctrl[beat].1 & 3 == 3 {
                let bias = signed(bias[dot].1, manifest.arithmetic.bias.input_bits);
                assert_eq!(guardbit_set_bias(model, bias), GUARDBIT_OK, "{}", message());
                let bits = manifest.arithmetic.requantize.mult_bits;
                let (mult, exp) = (signed(mult[dot].1, bits), signed(exp[dot].1, 8) as i32);
                assert_eq!(guardbit_set_multiplier_ports(model, mult, exp), GUARDBIT_OK, "{}", message());
                dot += 1;
            }
            let [c, a, w] = [&ctrl, &a, &w].map(|column| &column[beat].0);
            let [cn, an, wn] = [c, a, w].map(|limbs| limbs.len() as i32);
            let code = unsafe { guardbit_step_words(model, c.as_ptr(), cn, a.as_ptr(), an, w.as_ptr(), wn) };
            assert_eq!(code, GUARDBIT_OK, "{}", message());
            for (index, level) in levels.iter().enumerate() {
                let at = format!("{} level {} beat {beat}", unit.accelerator, level.name);
                let updated = guardbit_get_updated(model, index as i32);
                assert_eq!(updated as u64, mask[beat].1 >> index & 1, "{at}");
                let mut acc = 0;
                assert_eq!(unsafe { guardbit_get_acc(model, index as i32, &mut acc) }, GUARDBIT_OK);
                let word = accs[index][beat].1;
                let expected = if level.acc_signed { signed(word, level.acc_bits) } else { word as i64 };
                assert_eq!(acc, expected, "{at}");
                if updated == 1 {
                    let found = guardbit_get_flags(model, index as i32) as u64;
                    assert_eq!(found, flags[beat].1 >> (4 * index) & 15, "{at}");
                    events += found & 1;
                    let mut exact = 0;
                    assert_eq!(
                        unsafe { guardbit_get_exact_acc(model, index as i32, &mut exact) },
                        GUARDBIT_OK
                    );
                    // No value before this level overflowed.
                    let whole = index == 0 && manifest.arithmetic.product.bits.is_none();
                    assert!(!whole || found & 8 != 0 || exact == acc, "{at}: exact {exact}, got {acc}");
                }
            }
            if ctrl[beat].1 & 1 == 0 {
                continue;
            }
            let (mut sum, mut code, mut exact) = (0, 0, 0);
            assert_eq!(unsafe { guardbit_get_exact(model, &mut exact) }, GUARDBIT_OK);
            assert!(!unshifted || exact == wide[beat].1 as i64, "beat {beat}: {exact}");
            if unsafe { guardbit_get_sum(model, &mut sum) } == 1 {
                let last = &levels[levels.len() - 1].register;
                assert_eq!(sum, signed(sums[ended].1, last.port_bits), "{}", unit.accelerator);
                assert_eq!(unsafe { guardbit_get_code(model, &mut code) }, 1);
                let out = manifest.arithmetic.requantize.out_bits;
                assert_eq!(i64::from(code), signed(codes[ended].1, out), "{}", unit.accelerator);
                ended += 1;
            }
        }
        assert_eq!((dot, ended), (bias.len(), sums.len()), "{}", unit.accelerator);
        assert!(events > 0, "{}: no overflow seen", unit.accelerator);
        assert_eq!(guardbit_close(model), GUARDBIT_OK);
        assert_eq!(guardbit_close(model), GUARDBIT_E_HANDLE);
    }
}

#[allow(unsafe_code)]
fn open(accelerator: &str, terms: i32, activation: &str) -> i32 {
    let (accelerator, activation, weight) = (c(accelerator), c(activation), c("int8"));
    unsafe {
        guardbit_open_accelerator(accelerator.as_ptr(), terms, activation.as_ptr(), 0, weight.as_ptr(), 0)
    }
}

/// Computed by hand: 14 bits saturate at 8191, and 3 * 8000 - 8000 ends 8000 below the rail instead of at
/// 16000.
#[test]
#[allow(unsafe_code)]
fn plain_integers() {
    let model = open("fpga-int14-os", 4, "int8");
    assert!(model > 0, "{}", message());
    assert_eq!(guardbit_set_multiplier(model, 1.0 / 64.0), GUARDBIT_OK);
    assert_eq!(guardbit_set_bias(model, 64), GUARDBIT_OK);
    assert_eq!(guardbit_set_output(model, 5, -128, 127), GUARDBIT_OK);
    for round in 0..2 {
        for (a, acc, exact, flags) in [
            (80, 8000, 8000, 0),
            (80, 8191, 16000, GUARDBIT_OVERFLOW | GUARDBIT_HIGH | GUARDBIT_STICKY),
            (80, 8191, 24000, GUARDBIT_OVERFLOW | GUARDBIT_HIGH | GUARDBIT_STICKY),
            (-80, 191, 16000, GUARDBIT_STICKY),
        ] {
            assert_eq!(unsafe { guardbit_step(model, &a, &100, 1) }, GUARDBIT_OK, "{}", message());
            let (mut found, mut unbounded) = (0, 0);
            unsafe { guardbit_get_acc(model, 0, &mut found) };
            unsafe { guardbit_get_exact_acc(model, 0, &mut unbounded) };
            assert_eq!(
                (found, unbounded, guardbit_get_flags(model, 0)),
                (acc, exact, flags),
                "round {round}"
            );
        }
        let (mut sum, mut exact, mut code) = (0, 0, 0);
        assert_eq!(unsafe { guardbit_get_sum(model, &mut sum) }, 1);
        assert_eq!(unsafe { guardbit_get_code(model, &mut code) }, 1);
        unsafe { guardbit_get_exact(model, &mut exact) };
        // (191 + 64) / 64 = 3.98, rounded to 4, plus 5.
        assert_eq!((sum, exact, code), (191, 16000, 9));
    }
    assert_eq!(unsafe { guardbit_step(model, &80, &100, 1) }, GUARDBIT_OK);
    guardbit_clear(model);
    let mut acc = 0;
    unsafe { guardbit_get_acc(model, 0, &mut acc) };
    assert_eq!(acc, 8000, "registers hold");
    guardbit_reset(model);
    unsafe { guardbit_get_acc(model, 0, &mut acc) };
    assert_eq!((acc, guardbit_get_flags(model, 0)), (0, 0));
    assert_eq!(guardbit_close(model), GUARDBIT_OK);
}

#[test]
#[allow(unsafe_code)]
fn mistakes_are_codes_with_messages() {
    let check = |code: i32, expected: i32, part: &str| {
        assert_eq!(code, expected, "{part}: {}", message());
        assert!(message().contains(part), "{part}: {}", message());
    };
    let not_utf8 = [0xffu8, 0];
    check(unsafe { guardbit_open_bundle(null()) }, GUARDBIT_E_NULL, "`dir` is null");
    check(
        unsafe { guardbit_open_bundle(not_utf8.as_ptr().cast::<c_char>()) },
        GUARDBIT_E_PARAMETER,
        "`dir` is not UTF-8",
    );
    check(unsafe { guardbit_open_bundle(c("/nowhere").as_ptr()) }, GUARDBIT_E_BUNDLE, "manifest.json");
    // A message has at most 2,000 bytes, however long the quoted text is, and a multi-byte character is never
    // cut in two.
    for first in ["", "a"] {
        let path = c(&format!("/{first}{}", "\u{1d11e}".repeat(3000)));
        check(unsafe { guardbit_open_bundle(path.as_ptr()) }, GUARDBIT_E_BUNDLE, "...");
        let text = message();
        assert!((1990..=2003).contains(&text.len()) && text.ends_with("..."), "{} bytes", text.len());
        assert!(!text.contains('\u{fffd}'), "a character is cut: {text}");
    }
    check(open("no-such-preset", 4, "int8"), GUARDBIT_E_ACCELERATOR, "no-such-preset");
    check(open("array: {rows: -1}\n", 4, "int8"), GUARDBIT_E_ACCELERATOR, "");
    check(open("fpga-int14-os", 0, "int8"), GUARDBIT_E_PARAMETER, "0 terms");
    check(open("fpga-int14-os", -5, "int8"), GUARDBIT_E_PARAMETER, "terms");
    check(open("fpga-int14-os", 4, "int9"), GUARDBIT_E_PARAMETER, "int9");
    check(guardbit_levels(0), GUARDBIT_E_HANDLE, "model 0 is not open");
    check(guardbit_reset(i32::MAX), GUARDBIT_E_HANDLE, "is not open");

    let model = open("fpga-int14-tree", 20, "int8");
    assert!(model > 0, "{}", message());
    let lanes = guardbit_lanes(model);
    let values = vec![1; 64];
    let step = |a: *const i32, count: i32| unsafe { guardbit_step(model, a, values.as_ptr(), count) };
    check(step(null(), lanes), GUARDBIT_E_NULL, "`activations` is null");
    check(step(values.as_ptr(), -1), GUARDBIT_E_BEAT, "-1 products");
    check(step(values.as_ptr(), lanes - 1), GUARDBIT_E_BEAT, "; expected");
    check(step(vec![1000; 64].as_ptr(), lanes), GUARDBIT_E_BEAT, "does not fit");
    let words = |ctrl: u32, limbs: i32| unsafe {
        guardbit_step_words(model, &ctrl, 1, [0; 32].as_ptr(), limbs, [0; 32].as_ptr(), 32)
    };
    check(words(1, 1), GUARDBIT_E_BEAT, "too few for the");
    check(words(1, 32), GUARDBIT_E_BEAT, "keep is 0b0");
    check(words(1 | 0b101 << 4, 32), GUARDBIT_E_BEAT, "keep is 0b101");
    check(words(1 | 1 << 4, 32), GUARDBIT_E_BEAT, "run_last of a tree");
    assert_eq!(words(0, 32), GUARDBIT_OK, "without valid nothing is looked at");
    // Five beats that end no dot product of three: the model cannot treat it as a whole dot product
    // afterwards.
    for _ in 0..5 {
        assert_eq!(words(1 | 1 << 2 | 1 << 4, 32), GUARDBIT_OK, "{}", message());
    }
    check(step(values.as_ptr(), lanes), GUARDBIT_E_BEAT, "has all products");
    guardbit_clear(model);
    assert_eq!(step(values.as_ptr(), lanes), GUARDBIT_OK, "{}", message());
    check(
        unsafe { guardbit_get_acc(model, 2, &mut 0) },
        GUARDBIT_E_PARAMETER,
        "unknown level 2: the unit has 2 levels",
    );
    check(unsafe { guardbit_get_acc(model, -1, &mut 0) }, GUARDBIT_E_PARAMETER, "unknown level -1");
    check(unsafe { guardbit_get_acc(model, 0, null_mut()) }, GUARDBIT_E_NULL, "`acc` is null");
    check(unsafe { guardbit_get_code(model, &mut 0) }, GUARDBIT_E_STATE, "multiplier");
    for multiplier in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
        check(guardbit_set_multiplier(model, multiplier), GUARDBIT_E_PARAMETER, "multiplier");
    }
    check(guardbit_set_multiplier_ports(model, 1, 0), GUARDBIT_E_PARAMETER, "not normalized");
    check(guardbit_set_multiplier_ports(model, 1 << 30, 2000), GUARDBIT_E_PARAMETER, "not normalized");
    check(guardbit_set_output(model, 0, 1, 0), GUARDBIT_E_PARAMETER, "from 1 to 0");
    assert_eq!(guardbit_close(model), GUARDBIT_OK);
    check(step(values.as_ptr(), lanes), GUARDBIT_E_HANDLE, "is not open");
}
