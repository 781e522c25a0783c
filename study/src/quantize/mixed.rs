//! Chooses widths of single layers under a budget.

use std::fmt;
use std::str::FromStr;

use guardbit_frontends::check_onnx;
use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;
use guardbit_quantize::search::Judge;
use guardbit_quantize::search::mixed::{Budget, Explored, NetworkChoices, Point, Precision, explore};
use guardbit_quantize::{Config, Quantized, Sample};
use guardbit_reports::{Decibel, TradeOffRow};

use super::searched::{Searched, SearchedChoices};
use crate::StudyError;

/// Maximum number of calibration samples on which networks are compared.
const SAMPLES: usize = 256;
/// Maximum number of exchanges between two layers that are tried.
const EXCHANGES: usize = 32;

/// Budget of a network with mixed widths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MixedBudget {
    /// Maximum loss of class agreement with the float network, compared with the widest codes, in percent of
    /// the calibration samples. The network with the fewest bytes is taken.
    Agreement(f64),
    /// Minimum signal-to-noise ratio of the outputs, in dB. The network with the fewest bytes is taken.
    Sqnr(f64),
    /// Maximum bytes of weights and biases. The network with the least error is taken.
    Bytes(u64),
    /// Maximum bits of an accumulator that no input makes overflow. The network with the least error is
    /// taken.
    Bits(u32),
}

/// Text that is not a budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid budget `{0}`: expected agreement=1%, sqnr=30, bytes=20000 or bits=16")]
pub struct MixedBudgetError(String);

impl FromStr for MixedBudget {
    type Err = MixedBudgetError;

    fn from_str(text: &str) -> Result<Self, MixedBudgetError> {
        let wrong = || MixedBudgetError(text.into());
        let (kind, value) = text.split_once('=').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        match kind {
            "agreement" => value.strip_suffix('%').and_then(number).map(Self::Agreement).ok_or_else(wrong),
            "sqnr" => number(value).map(Self::Sqnr).ok_or_else(wrong),
            "bytes" => value.parse().map(Self::Bytes).map_err(|_| wrong()),
            "bits" => value.parse().map(Self::Bits).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for MixedBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agreement(share) => write!(f, "agreement={share}%"),
            Self::Sqnr(sqnr) => write!(f, "sqnr={sqnr}"),
            Self::Bytes(bytes) => write!(f, "bytes={bytes}"),
            Self::Bits(bits) => write!(f, "bits={bits}"),
        }
    }
}

impl MixedBudget {
    fn of(self, explored: &Explored) -> Budget {
        match self {
            Self::Agreement(share) => {
                let widest = explored.points().first().map_or(1.0, |point| point.accuracy);
                Budget::Accuracy(widest - share / 100.0)
            }
            Self::Sqnr(sqnr) => Budget::Error(10f64.powf(-sqnr / 10.0)),
            Self::Bytes(bytes) => Budget::Bytes(bytes),
            Self::Bits(bits) => Budget::AccumulatorBits(bits),
        }
    }

    /// Returns the value nearest to the budget that was reached.
    fn nearest(self, explored: &Explored) -> String {
        let points = explored.points().iter();
        match self {
            Self::Agreement(_) => {
                let most = points.map(|point| point.accuracy).fold(0.0, f64::max);
                format!("an agreement of {:.1} %", 100.0 * most)
            }
            Self::Sqnr(_) => format!("{:.1} dB", points.map(sqnr_db).fold(f64::NEG_INFINITY, f64::max)),
            Self::Bytes(_) => format!("{} bytes", points.map(|point| point.bytes).min().unwrap_or(0)),
            Self::Bits(_) => {
                format!("{} bits", points.map(Point::accumulator_bits).min().unwrap_or(0))
            }
        }
    }
}

/// Returns the SQNR in dB.
fn sqnr_db(point: &Point) -> f64 {
    -10.0 * point.error.log10()
}

/// Returns the best network within `budget`, and all networks evaluated on the way to it.
pub(super) fn mixed(
    float: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: &Accelerator,
    budget: MixedBudget,
    searched: &Searched<'_>,
) -> Result<(Quantized, Vec<TradeOffRow>), StudyError> {
    let judge = Judge::new(float, samples, SAMPLES, Some(accelerator))?;
    let can_be_written = |graph: &Graph| check_onnx(graph).is_ok();
    let steps = written_steps(float, samples, config, &can_be_written)?;
    let choices = NetworkChoices::new(float, samples, config, accelerator, judge, &steps)?;
    let choices = choices.where_graph(can_be_written);
    let kept = SearchedChoices::new(&choices, searched, float, samples, config, accelerator, &steps);
    let explored = explore(&kept, EXCHANGES)?;
    let chosen = explored.within(&[budget.of(&explored)]);
    let none = || StudyError::MixedBudget { budget: budget.to_string(), nearest: budget.nearest(&explored) };
    let chosen = chosen.ok_or_else(none)?;
    let pareto = explored.pareto();
    let row = |point: &Point| {
        let width = |(name, &step): (&String, &usize)| {
            format!("{name}: {}x{}", steps[step].weights, steps[step].activations)
        };
        TradeOffRow {
            bytes: point.bytes,
            accumulator_bits: point.accumulator_bits(),
            agreement: point.accuracy,
            sqnr_db: Decibel::new(sqnr_db(point)),
            pareto: pareto.iter().any(|other| other.steps == point.steps),
            chosen: point.steps == chosen.steps,
            widths: choices
                .layers()
                .iter()
                .zip(&point.steps)
                .map(width)
                .chain(point.steps.last().map(|&step| format!("others: {}", steps[step].activations)))
                .collect::<Vec<_>>()
                .join("; "),
        }
    };
    Ok((choices.quantized(&chosen.steps)?, explored.points().iter().map(row).collect()))
}

/// Returns the widths of [`NetworkChoices::USUAL`], starting at the widest ones that a file can hold if all
/// layers have them; returns all of them if there are none, so that the error states the reason.
fn written_steps(
    float: &Graph,
    samples: &[Sample],
    config: &Config,
    can_be_written: &impl Fn(&Graph) -> bool,
) -> Result<Vec<Precision>, StudyError> {
    let usual = NetworkChoices::USUAL;
    // Whether a network can be written does not depend on the samples.
    let samples = &samples[..samples.len().min(1)];
    for (index, step) in usual.iter().enumerate() {
        let mut uniform = Config { layer_method: None, ..config.clone() };
        uniform.setting.weights.bits = step.weights;
        uniform.setting.activations.bits = step.activations;
        if can_be_written(&guardbit_quantize::quantize(float, samples, &uniform, None)?.graph) {
            return Ok(usual[index..].to_vec());
        }
    }
    Ok(usual.to_vec())
}

#[cfg(test)]
mod tests {
    use super::MixedBudget;

    #[test]
    fn budgets() {
        for text in ["agreement=1%", "sqnr=30", "bytes=20000", "bits=16"] {
            assert_eq!(text.parse::<MixedBudget>().unwrap().to_string(), text);
        }
        for wrong in ["", "agreement=1", "sqnr=-3", "bytes=1.5", "bits=", "accuracy=1%", "sqnr=nan"] {
            assert!(wrong.parse::<MixedBudget>().is_err(), "{wrong}");
        }
    }
}
