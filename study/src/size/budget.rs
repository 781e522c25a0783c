//! The least width within an error budget, by simulation.

use std::fmt;
use std::str::FromStr;

use guardbit_hwmodels::{MacLayer, Program};
use guardbit_num::{MIN_BITS, Overflow};
use guardbit_reports::Outcome;
use guardbit_sim::{Mode, Options, StatsLevel};

use super::layers::SizedLayer;
use super::{Sizing, of_layers};
use crate::{StudyError, registers};

/// How much error is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Share of output codes that may differ from the exact run.
    Mismatch(Share),
    /// Share of the samples by which top-1 accuracy may fall below that of the exact network.
    Accuracy(Share),
}

/// A share from 0 to 1 as it was written: `parts` of `whole`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    parts: u64,
    whole: u64,
}

/// A text that is no budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no budget: write mismatch=0.1% or accuracy=1%, from 0% to 100%")]
pub struct BudgetError(String);

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || BudgetError(text.into());
        let (name, share) = text.split_once('=').ok_or_else(error)?;
        let share = Share::parse(share.trim()).ok_or_else(error)?;
        match name.trim() {
            "mismatch" => Ok(Self::Mismatch(share)),
            "accuracy" => Ok(Self::Accuracy(share)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(share) => write!(f, "mismatch={share}"),
            Self::Accuracy(share) => write!(f, "accuracy={share}"),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.parts as f64 * 100.0 / self.whole as f64)
    }
}

impl Share {
    /// `0.1%`, or `0.001`: decimals, kept exactly.
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100),
            None => (text, 1),
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{decimals}");
        let plain = !digits.is_empty() && digits.len() <= 12 && digits.bytes().all(|b| b.is_ascii_digit());
        let share = Self {
            parts: plain.then(|| digits.parse().ok())??,
            whole: unit * 10u64.checked_pow(u32::try_from(decimals.len()).ok()?)?,
        };
        (share.parts <= share.whole).then_some(share)
    }

    /// Whether `count` of `total` are at most this share.
    fn allows(self, count: u64, total: u64) -> bool {
        u128::from(count) * u128::from(self.whole) <= u128::from(self.parts) * u128::from(total)
    }
}

impl Budget {
    /// Whether the network as a whole stays within it. `codes` are the output codes of one sample.
    pub(super) fn allows(self, outcome: &Outcome, codes: u64) -> bool {
        match self {
            Self::Mismatch(share) => share.allows(outcome.output_mismatch, codes * outcome.samples),
            Self::Accuracy(share) => {
                let right = |accuracy: Option<guardbit_reports::Fraction>| {
                    // Fractions are rounded to a millionth; counts come back by rounding.
                    accuracy.map_or(0, |a| (a.value() * outcome.samples as f64).round() as u64)
                };
                let lost = right(outcome.accuracy_exact).saturating_sub(right(outcome.accuracy));
                share.allows(lost, outcome.samples)
            }
        }
    }
}

/// Finds the least width of every layer's last level, with every other register wide; none where no width is within
/// the budget.
///
/// Mismatch is that of the layer's own output codes on exact activations. Accuracy is that of the network in
/// which this layer alone is narrow.
pub(super) fn search(
    sizing: &Sizing<'_>,
    budget: Budget,
    layers: &mut [SizedLayer<'_>],
) -> Result<(), StudyError> {
    match budget {
        Budget::Mismatch(share) => by_mismatch(sizing, share, layers),
        Budget::Accuracy(_) => by_accuracy(sizing, budget, layers),
    }
}

/// The width from which on nothing on the samples overflows.
fn harmless_width(layer: &SizedLayer<'_>) -> u32 {
    layer.data_bits(layer.last()).prefixes.max(MIN_BITS)
}

/// What traps allows no error.
fn traps(layer: &SizedLayer<'_>) -> bool {
    registers::overflow(&layer.layer.datapath.levels[layer.last()]) == Overflow::Trap
}

/// Narrows all layers at once, one bit at a time: on exact activations they do not disturb each other.
fn by_mismatch(sizing: &Sizing<'_>, share: Share, layers: &mut [SizedLayer<'_>]) -> Result<(), StudyError> {
    let starts: Vec<u32> = layers.iter().map(harmless_width).collect();
    let mut descents: Vec<Descent> =
        layers.iter().zip(&starts).map(|(layer, &bits)| Descent::new(layer, bits)).collect();
    // The first run shows whether the budget can be kept at all: dropped bits, say, cost their share at any width.
    for step in 0.. {
        let widths: Vec<Option<u32>> =
            descents.iter().zip(&starts).map(|(d, &start)| d.next(start, step)).collect();
        if widths.iter().all(Option::is_none) {
            break;
        }
        let program = narrowed(sizing, layers, &widths)?;
        let options = Options {
            mode: Mode::Isolated,
            stats: StatsLevel::None,
            events_per_layer: 0,
            ..Options::default()
        };
        let ran = sizing.run(&format!("mismatch, {step} bits off"), &program, options)?;
        let counts = of_layers(&program, &ran.layers).map(|(_, stats)| stats);
        for ((descent, width), stats) in descents.iter_mut().zip(widths).zip(counts) {
            if let Some(width) = width {
                descent.note(width, share, stats);
            }
        }
    }
    for (layer, descent) in layers.iter_mut().zip(descents) {
        layer.budget = descent.layer.least;
        layer.channel_budgets = descent.channels.iter().map(|channel| channel.least).collect();
    }
    Ok(())
}

/// How far a layer and its channels could be narrowed so far.
struct Descent {
    layer: Least,
    channels: Vec<Least>,
}

/// The least width so far; none if none was within the budget.
struct Least {
    least: Option<u32>,
    ended: bool,
}

impl Descent {
    fn new(layer: &SizedLayer<'_>, start: u32) -> Self {
        let least = || Least { least: traps(layer).then_some(start), ended: traps(layer) };
        Self { layer: least(), channels: layer.bounds.channels.iter().map(|_| least()).collect() }
    }

    /// The width to try, if any is left.
    fn next(&self, start: u32, step: u32) -> Option<u32> {
        let ended = self.layer.ended && self.channels.iter().all(|channel| channel.ended);
        start.checked_sub(step).filter(|&bits| bits >= MIN_BITS && !ended)
    }

    fn note(&mut self, bits: u32, share: Share, stats: &guardbit_sim::LayerStats) {
        let total = stats.total();
        self.layer.note(bits, share.allows(total.output_mismatch, total.dots));
        for (channel, counts) in self.channels.iter_mut().zip(&stats.channels) {
            channel.note(bits, share.allows(counts.output_mismatch, counts.dots));
        }
    }
}

impl Least {
    fn note(&mut self, bits: u32, allowed: bool) {
        self.ended |= !allowed;
        if !self.ended {
            self.least = Some(bits);
        }
    }
}

/// Layer by layer, by bisection between the narrowest register and what the samples need.
fn by_accuracy(sizing: &Sizing<'_>, budget: Budget, layers: &mut [SizedLayer<'_>]) -> Result<(), StudyError> {
    for index in 0..layers.len() {
        let title = format!("accuracy, layer {} of {}", index + 1, layers.len());
        let allows = |bits| {
            let mut widths = vec![None; layers.len()];
            widths[index] = Some(bits);
            let program = narrowed(sizing, layers, &widths)?;
            Ok::<_, StudyError>(budget.allows(&outcome(sizing, &title, &program)?, 0))
        };
        let harmless = harmless_width(&layers[index]);
        let least = match traps(&layers[index]) {
            true => Some(harmless),
            false => bisect(harmless, allows)?,
        };
        layers[index].budget = least;
    }
    Ok(())
}

/// A width that is allowed while the next narrower one is not; `None` if not even `start` is allowed.
fn bisect(start: u32, allows: impl Fn(u32) -> Result<bool, StudyError>) -> Result<Option<u32>, StudyError> {
    if !allows(start)? {
        return Ok(None);
    }
    let (mut fails, mut holds) = (MIN_BITS - 1, start);
    while holds - fails > 1 {
        let middle = fails + (holds - fails) / 2;
        if allows(middle)? {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Ok(Some(holds))
}

/// What the network does as a whole.
pub(super) fn outcome(sizing: &Sizing<'_>, title: &str, program: &Program) -> Result<Outcome, StudyError> {
    let options = Options {
        mode: Mode::Propagated,
        stats: StatsLevel::None,
        events_per_layer: 0,
        ..Options::default()
    };
    Ok(sizing.run(title, program, options)?.outcome)
}

/// Every register wide, but the last levels of the layers that have a width in `widths`.
fn narrowed(
    sizing: &Sizing<'_>,
    layers: &[SizedLayer<'_>],
    widths: &[Option<u32>],
) -> Result<Program, StudyError> {
    let width_of = |wanted: &MacLayer| {
        layers
            .iter()
            .zip(widths)
            .find(|(layer, _)| layer.layer.node == wanted.node)
            .and_then(|(_, width)| *width)
    };
    registers::with(sizing.subject, sizing.program, |layer, level| {
        let is_last = layer.datapath.levels.last().is_some_and(|last| last.name == level.name);
        let narrow = width_of(layer).filter(|_| is_last);
        narrow
            .and_then(|bits| registers::fixed(level, bits, registers::overflow(level)))
            .or(Some(registers::wide(level)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_exactly() {
        let cases = [
            ("mismatch=0.1%", Some(Budget::Mismatch(Share { parts: 1, whole: 1000 }))),
            ("accuracy=1%", Some(Budget::Accuracy(Share { parts: 1, whole: 100 }))),
            ("mismatch=0.001", Some(Budget::Mismatch(Share { parts: 1, whole: 1000 }))),
            ("mismatch=0%", Some(Budget::Mismatch(Share { parts: 0, whole: 100 }))),
            ("accuracy=100%", Some(Budget::Accuracy(Share { parts: 100, whole: 100 }))),
            ("accuracy=101%", None),
            ("accuracy=-1%", None),
            ("mismatch", None),
            ("sqnr=1%", None),
            ("mismatch=%", None),
            ("mismatch=nan%", None),
        ];
        for (text, budget) in cases {
            // 01 and 1 are the same number.
            assert_eq!(text.parse::<Budget>().ok(), budget, "{text}");
        }
        assert_eq!("mismatch=0.1%".parse::<Budget>().unwrap().to_string(), "mismatch=0.1%");
    }

    #[test]
    fn shares_have_no_rounding() {
        let share = Share::parse("0.1%").unwrap();
        assert!(share.allows(1, 1000) && !share.allows(1, 999) && share.allows(0, 0));
    }
}
