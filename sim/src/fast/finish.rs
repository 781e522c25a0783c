//! From sums to output codes on 64-bit integers, equal to [`output`](crate::output).
//!
//! Covered are layers without side sums whose bias stands before the requantizer; the others take the way of
//! `output`, dot product by dot product.

use guardbit_graph::Finish;
use guardbit_hwmodels::{BiasPlace, MacLayer, Register};
use guardbit_num::{Requantizer, Scheme};

use crate::dot::DotOutcome;
use crate::output;

/// The output stage of one layer.
#[derive(Debug)]
pub(super) struct Finisher<'a> {
    layer: &'a MacLayer,
    /// Per output channel; `None` where `output` has to do it.
    stages: Option<Vec<Stage>>,
}

/// The output stage of one channel.
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// Added after the last level; 0 for a preloaded bias, which is part of the sums.
    bias: i64,
    /// What the bias adder's register leaves alone.
    low: i64,
    high: i64,
    scale: Scale,
    requantizer: Requantizer,
    zero_point: i64,
    clamp: (i64, i64),
}

/// `round(M * x)` for 32-bit `x` under the schemes of the common runtimes: the formulas of `guardbit_num` on
/// 64 bits.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// Two roundings.
    Double { significand: i64, left: u32, right: u32 },
    /// One rounding, half up.
    Single { significand: i64, right: u32 },
    /// Float64, half away from zero.
    Float64 { real: f64 },
    /// Left to `guardbit_num`.
    Other,
}

/// The codes of one dot product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finished {
    pub code: i32,
    pub exact_code: i32,
    pub bias_events: u64,
}

impl<'a> Finisher<'a> {
    pub fn new(layer: &'a MacLayer) -> Self {
        Self { layer, stages: stages(layer) }
    }

    /// Whether the sum of the activations makes a difference.
    pub fn reads_activations(&self) -> bool {
        self.stages.is_none()
    }

    /// The codes of a dot product of output channel `channel`; sums at unit 1, a preloaded bias included.
    /// `activations` is the sum of its `count` activations.
    pub fn finish(
        &self,
        channel: usize,
        delivered: i32,
        exact: i32,
        activations: i64,
        count: usize,
    ) -> Finished {
        if let Some(stages) = &self.stages {
            let stage = &stages[channel];
            let sum = i64::from(delivered) + stage.bias;
            if (stage.low..=stage.high).contains(&sum) {
                let code = stage.code(sum);
                let exact_code =
                    if delivered == exact { code } else { stage.code(i64::from(exact) + stage.bias) };
                return Finished { code, exact_code, bias_events: 0 };
            }
        }
        let mut outcome = DotOutcome::default();
        output::finish(self.layer, channel, &self.sum(delivered, exact, activations, count), &mut outcome);
        Finished { code: outcome.code, exact_code: outcome.exact_code, bias_events: outcome.bias_events }
    }

    /// The code of the exact sum alone.
    pub fn exact_code(&self, channel: usize, exact: i32, activations: i64, count: usize) -> i32 {
        match &self.stages {
            Some(stages) => stages[channel].code(i64::from(exact) + stages[channel].bias),
            None => output::exact_code(self.layer, channel, &self.sum(exact, exact, activations, count)),
        }
    }

    fn sum(&self, delivered: i32, exact: i32, activations: i64, count: usize) -> output::Sum {
        let (delivered, exact) = (delivered.into(), exact.into());
        output::Sum { delivered, exact, activations: activations.into(), count }
    }
}

fn stages(layer: &MacLayer) -> Option<Vec<Stage>> {
    let Finish::Requantize(output) = &layer.dots.finish else { return None };
    let at = layer.datapath.bias.at;
    if at == BiasPlace::PostRequantize || layer.input_sum_factor.iter().any(|&factor| factor != 0) {
        return None;
    }
    let stage = |channel: usize| {
        let bias = match (at, &layer.bias) {
            (BiasPlace::Post, Some(bias)) => Some(i64::try_from(bias[channel]).ok()?),
            _ => None,
        };
        let (low, high) = match layer.datapath.bias.register {
            Register::Fixed { format, overflow } if bias.is_some() => overflow.limits(format),
            _ => (i64::MIN.into(), i64::MAX.into()),
        };
        Some(Stage {
            bias: bias.filter(|bias| bias.unsigned_abs() < 1 << 40).or(bias.is_none().then_some(0))?,
            low: i64::try_from(low).ok()?,
            high: i64::try_from(high.min(i64::MAX.into())).ok()?,
            scale: Scale::new(layer.exact_requantizers[channel]),
            requantizer: layer.exact_requantizers[channel],
            zero_point: output.output_zero_point.into(),
            clamp: (output.clamp.0.into(), output.clamp.1.into()),
        })
    };
    (0..layer.dots.window.channels()).map(stage).collect()
}

impl Stage {
    #[inline]
    fn code(&self, sum: i64) -> i32 {
        let scaled = i32::try_from(sum).ok().and_then(|sum| self.scale.apply(sum));
        let Some(scaled) = scaled else {
            let wide = self.requantizer.requantize(sum.into(), self.zero_point.into());
            return wide.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32;
        };
        (scaled + self.zero_point).clamp(self.clamp.0, self.clamp.1) as i32
    }
}

impl Scale {
    fn new(requantizer: Requantizer) -> Self {
        let multiplier = requantizer.multiplier();
        let (significand, exponent) = (i64::from(multiplier.significand()), multiplier.exponent());
        match requantizer.scheme() {
            Scheme::Double => {
                let (left, right) = (exponent.max(0) as u32, (-exponent).max(0) as u32);
                Self::Double { significand, left, right: right.min(62) }
            }
            // A multiplier divided by a count can have a smaller exponent; layers have none.
            Scheme::Single if exponent >= -31 => Self::Single { significand, right: (31 - exponent) as u32 },
            Scheme::Float64Away => Self::Float64 { real: multiplier.real() },
            _ => Self::Other,
        }
    }

    #[inline]
    fn apply(self, x: i32) -> Option<i64> {
        match self {
            Self::Double { significand, left, right } => {
                let shifted = i64::from((i64::from(x) << left) as i32);
                let high = (shifted * significand + (1 << 30)) >> 31;
                if right == 0 {
                    return Some(high);
                }
                // Ties away from zero.
                Some((high + (1i64 << (right - 1)) - i64::from(high < 0)) >> right)
            }
            Self::Single { significand, right } => {
                Some((i64::from(x) * significand + (1i64 << (right - 1))) >> right)
            }
            Self::Float64 { real } => Some((f64::from(x) * real).round() as i64),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use guardbit_num::Multiplier;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scaling_equals_the_definition(
            x in prop_oneof![any::<i32>(), -100_000i32..100_000, Just(i32::MIN), Just(i32::MAX)],
            fraction in 0.0f64..1.0,
            exponent in -40i32..30,
            scheme in prop::sample::select(Scheme::ALL),
        ) {
            let multiplier = Multiplier::new(fraction * 2f64.powi(exponent)).unwrap();
            let requantizer = Requantizer::new(scheme, multiplier);
            if let Some(scaled) = Scale::new(requantizer).apply(x) {
                prop_assert_eq!(i128::from(scaled), requantizer.scale(x.into()));
            }
        }
    }
}
