//! Compares intervals, tests and areas with SciPy, statsmodels and scikit-learn.

use std::process::Command;

use guardbit_reports::{Discordant, auc, wilson};
use serde::Deserialize;

const GOLDEN: &str = include_str!("data/statistics.json");

/// Output of `scripts/goldens/make_statistics_goldens.py`.
#[derive(Deserialize)]
struct Golden {
    /// Part, whole, lower end, upper end.
    wilson: Vec<(u64, u64, f64, f64)>,
    /// Samples that only the first is right on, samples that only the second is right on, test, p value.
    mcnemar: Vec<(u64, u64, String, f64)>,
    /// Scores as IEEE-754 words, labels, area.
    auc: Vec<(Vec<u32>, Vec<u8>, f64)>,
}

fn golden() -> Golden {
    serde_json::from_str(GOLDEN).unwrap()
}

fn check_intervals(cases: Vec<(u64, u64, f64, f64)>) {
    assert!(cases.len() > 50);
    for (part, whole, low, high) in cases {
        let found = wilson(part, whole).unwrap();
        for (found, expected) in found.into_iter().zip([low, high]) {
            assert!((found - expected).abs() < 1e-12, "{part} of {whole}: {found} is not {expected}");
        }
    }
}

fn check_tests(cases: Vec<(u64, u64, String, f64)>) {
    assert!(cases.iter().any(|case| case.2 == "exact") && cases.iter().any(|case| case.2 == "chi2"));
    for (first, second, how, p) in cases {
        let found = Discordant { first, second }.mcnemar();
        assert_eq!(found.test.name(), how, "{first}, {second}");
        // Tables have six digits, and a trailing 5 may be rounded either way. SciPy returns 0 for the
        // smallest values.
        assert!(
            (found.p - p).abs() <= 5.000_001e-6 * p + 1e-300,
            "{first}, {second}: {} is not {p}",
            found.p
        );
    }
}

fn check_areas(cases: Vec<(Vec<u32>, Vec<u8>, f64)>) {
    for (words, flags, expected) in cases {
        let scores: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
        let flags: Vec<bool> = flags.into_iter().map(|flag| flag == 1).collect();
        let found = auc(&scores, &flags).unwrap();
        assert!((found - expected).abs() < 1e-12, "{} samples: {found} is not {expected}", flags.len());
    }
}

#[test]
fn intervals_are_wilsons() {
    check_intervals(golden().wilson);
    assert_eq!(wilson(0, 0), None);
}

#[test]
fn tests_are_mcnemars() {
    check_tests(golden().mcnemar);
}

#[test]
fn areas_are_those_under_the_curve() {
    check_areas(golden().auc);
    assert_eq!(auc(&[1.0, 2.0], &[true, true]), None, "no sample is normal");
    assert_eq!(auc(&[1.0, f32::NAN], &[true, false]), None, "a score is no number");
    assert_eq!(auc(&[0.0, -0.0], &[true, false]), Some(0.5), "there is but one zero");
}

/// Returns the output of the Python packages.
fn packages(args: &[&str]) -> Vec<u8> {
    let python = std::env::var("GUARDBIT_STATISTICS_PYTHON").expect("GUARDBIT_STATISTICS_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/goldens/make_statistics_goldens.py");
    let output = Command::new(python).arg(script).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The committed figures equal those of the packages.
#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn goldens_are_the_packages() {
    let (made, kept): (serde_json::Value, serde_json::Value) =
        (serde_json::from_slice(&packages(&[])).unwrap(), serde_json::from_str(GOLDEN).unwrap());
    assert_eq!(made, kept);
}

#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn random_cases_are_the_packages() {
    for seed in ["1", "2", "3"] {
        let cases: Golden = serde_json::from_slice(&packages(&[seed])).unwrap();
        assert_eq!((cases.wilson.len(), cases.mcnemar.len(), cases.auc.len()), (2000, 2000, 200));
        check_intervals(cases.wilson);
        check_tests(cases.mcnemar);
        check_areas(cases.auc);
    }
}
