//! Compares RESCALE with the TOSA reference model, value by value.

use std::process::Command;

use guardbit_num::{Multiplier, Requantizer, Scheme};
use serde_json::Value;

fn integers(value: &Value) -> Vec<i128> {
    value.as_array().unwrap().iter().map(|v| i128::from(v.as_i64().unwrap())).collect()
}

/// Checks one case and returns its scheme and the number of compared values.
fn check(case: &Value) -> (Scheme, usize) {
    let flag = |key: &str| case[key].as_bool().unwrap();
    let number = |key: &str| i128::from(case[key].as_i64().unwrap());
    let scheme = match (flag("scale32"), flag("double_round")) {
        (true, true) => Scheme::TosaDouble,
        (true, false) => Scheme::Single,
        (false, _) => Scheme::TosaScale16,
    };
    let (bits, zero) = (number("out_bits"), number("out_zero"));
    let (least, greatest) = match flag("out_unsigned") {
        true => (0, (1 << bits) - 1),
        false => (-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    let [x, y, multipliers, shifts] = ["x", "y", "multiplier", "shift"].map(|key| integers(&case[key]));
    for (index, (&x, &y)) in x.iter().zip(&y).enumerate() {
        let real = multipliers[index] as f64 * 2f64.powi(-(shifts[index] as i32));
        let requantizer = Requantizer::new(scheme, Multiplier::new(real).unwrap());
        let code = requantizer.requantize(x - number("in_zero"), zero).clamp(least, greatest);
        assert_eq!(code, y, "{}: {x} by {} >> {}", case["name"], multipliers[index], shifts[index]);
    }
    (scheme, x.len())
}

#[test]
#[ignore = "needs GUARDBIT_TOSA_PYTHON, see scripts/test"]
fn schemes_equal_the_tosa_reference_model() {
    let python = std::env::var("GUARDBIT_TOSA_PYTHON").expect("GUARDBIT_TOSA_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/oracles/tosa_rescale.py");
    let ran = Command::new(python).arg(script).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (mut tests, mut counts) = (0, std::collections::BTreeMap::new());
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let (scheme, values) = check(&serde_json::from_str(line).unwrap());
        *counts.entry(scheme.name()).or_insert(0) += values;
        tests += 1;
    }
    println!("{tests} tests, values compared: {counts:?}");
    assert!(tests >= 300, "{tests} tests");
    assert!(counts.len() == 3 && counts.values().all(|&count| count > 5000), "{counts:?}");
}
