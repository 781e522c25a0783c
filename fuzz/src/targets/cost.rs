//! Target: a cost model in YAML.

use guardbit_hwmodels::cost::{Part, cost_from_yaml};

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match cost_from_yaml(text, "fuzz.yaml") {
        Ok(model) => {
            assert!(model.figures.iter().all(|figure| Part::ALL.contains(&figure.part)));
            // Every figure can be displayed.
            assert!(model.figures.iter().all(|figure| figure.holds_for().len() < 1 << 16));
        }
        Err(error) => message::check(error),
    }
}
