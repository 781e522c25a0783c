//! Converts sums to output codes, with results equal to those of [`output`](crate::output).
//!
//! Vectors compute output stages whose bias is added before the requantizer, whose biased sums stay within 32
//! bits and whose scheme the kernels support, and the divisions of pools, means and sums. Other stages use 64 bits, or
//! `output` for each dot product.

use guardbit_graph::{Division, Finish};
use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::{BiasPlace, MacLayer, OutputFit};
use guardbit_num::{Requantizer, Scale32};

use super::kernels::{self, Activations, ByteRows, Delivered, LANES, Lanes, Scaling};
use super::simd::Kernels;
use super::span::Span;
use crate::dot::DotEvent;
use crate::output;

/// Output stage of one layer.
#[derive(Debug)]
pub(super) struct Finisher<'a> {
    layer: &'a MacLayer,
    /// Scalings per block; `None` if the kernels do not support the stage.
    scalings: Option<(Kind, Vec<Scaling>)>,
    /// Stages per output channel; `None` if `output` must compute the codes that vectors do not.
    stages: Option<Vec<Stage>>,
    /// What each term of a pool, mean or sum adds to the bias.
    per_term: i32,
}

/// Requantization schemes that the kernels support, and the division of an average pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Double,
    Single,
    Even,
    Quotient,
}

/// Greatest number of terms that the kernels divide by.
const MOST_TERMS: usize = 1 << 20;

/// Output stage of one channel.
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// Bias added after the last level, with the side sum of constant weights; a preloaded bias is part of
    /// the sums.
    bias: i64,
    /// Factor of the sum of activations that is added with the bias.
    factor: i64,
    /// Range within which the bias adder's register does not change values.
    low: i64,
    high: i64,
    /// Scale; `None` if 64 bits are not enough.
    scale: Option<Scale32>,
    requantizer: Requantizer,
    zero_point: i64,
    clamp: (i64, i64),
}

/// Output channels that share lanes.
pub(super) struct Channels {
    /// First channel and number of channels.
    pub first: usize,
    pub count: usize,
    /// Bounds of the delivered sums, exact or not.
    pub bounds: [Span; LANES],
}

impl<'a> Finisher<'a> {
    /// Returns the output stage of `layer`.
    pub fn new(layer: &'a MacLayer, blocks: impl Iterator<Item = Channels>) -> Self {
        let per_term = per_term(layer);
        let stages = stages(layer, per_term);
        let scalings = match &layer.dots.finish {
            Finish::Divide(Division::Average { clamp }) => {
                quotients(layer.order.len(), per_term, *clamp, blocks)
            }
            _ => stages.as_ref().and_then(|stages| scalings(stages, blocks)),
        };
        Self { layer, scalings, stages, per_term }
    }

    /// Returns whether [`Self::scale`] can compute output codes.
    pub fn scales(&self) -> bool {
        self.scalings.is_some()
    }

    /// Computes the output codes of the sums of block `index` at some pixels.
    pub fn scale<D: Delivered>(&self, kernels: Kernels, index: usize, sums: &[D], out: &mut [Lanes]) {
        if let Some((kind, scalings)) = &self.scalings {
            kind.codes(kernels, sums, &scalings[index], out);
        }
    }

    /// Computes the output codes of sums of `terms` products: a window of an average pool has fewer over padding.
    pub fn scale_terms(
        &self,
        kernels: Kernels,
        index: usize,
        terms: usize,
        sums: &[Lanes],
        out: &mut [Lanes],
    ) {
        if terms == self.layer.order.len() {
            return self.scale(kernels, index, sums, out);
        }
        if let Some((kind, scalings)) = &self.scalings {
            let count = terms as i32;
            let mut scaling = Scaling { bias: [count * self.per_term; LANES], ..scalings[index].clone() };
            if *kind == Kind::Quotient {
                scaling.significand = [count; LANES];
            }
            kind.codes(kernels, sums, &scaling, out);
        }
    }

    /// Writes the output codes of the sums of block `index` at some pixels as bytes.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn put<D: Delivered>(
        &self,
        kernels: Kernels,
        index: usize,
        sums: &[D],
        rows: ByteRows,
        out: &mut [u8],
    ) {
        match &self.scalings {
            Some((Kind::Double, scalings)) => {
                kernels.put_codes::<D, { kernels::DOUBLE }>(sums, &scalings[index], rows, out);
            }
            Some((Kind::Single, scalings)) => {
                kernels.put_codes::<D, { kernels::SINGLE }>(sums, &scalings[index], rows, out);
            }
            Some((Kind::Even, scalings)) => {
                kernels.put_codes::<D, { kernels::EVEN }>(sums, &scalings[index], rows, out);
            }
            Some((Kind::Quotient, scalings)) => {
                kernels.put_codes::<D, { kernels::QUOTIENT }>(sums, &scalings[index], rows, out);
            }
            None => {}
        }
    }

    /// Returns the output code of a dot product of output channel `channel`, and the event of the bias adder, if
    /// any. Sums are at unit 1 and include a preloaded bias. `activations` returns the sum of the activations.
    pub fn finish(
        &self,
        channel: usize,
        delivered: i32,
        exact: i32,
        activations: impl Fn() -> i64,
    ) -> (i32, Option<DotEvent>) {
        if let Some(stages) = &self.stages {
            let stage = &stages[channel];
            let sum = stage.biased(delivered, &activations);
            if (stage.low..=stage.high).contains(&sum) {
                return (stage.code(sum), None);
            }
        }
        let sum = self.sum(channel, delivered, exact, activations());
        let done = output::finished(self.layer, channel, &sum);
        (done.code, done.misfit)
    }

    /// Returns the output code of an exact sum; `activations` returns the sum of the activations.
    pub fn exact_code(&self, channel: usize, exact: i32, activations: impl Fn() -> i64) -> i32 {
        match &self.stages {
            Some(stages) => stages[channel].code(stages[channel].biased(exact, &activations)),
            None => output::exact_code(self.layer, channel, &self.sum(channel, exact, exact, activations())),
        }
    }

    fn sum(&self, channel: usize, delivered: i32, exact: i32, activations: i64) -> output::Sum {
        let (activations, count) = (activations.into(), self.layer.order.len());
        let weights = output::weight_sum(self.layer, channel);
        output::Sum { delivered: delivered.into(), exact: exact.into(), activations, weights, count }
    }
}

impl Kind {
    fn codes<D: Delivered>(self, kernels: Kernels, sums: &[D], scaling: &Scaling, out: &mut [Lanes]) {
        match self {
            Self::Double => kernels.codes::<D, { kernels::DOUBLE }>(sums, scaling, out),
            Self::Single => kernels.codes::<D, { kernels::SINGLE }>(sums, scaling, out),
            Self::Even => kernels.codes::<D, { kernels::EVEN }>(sums, scaling, out),
            Self::Quotient => kernels.codes::<D, { kernels::QUOTIENT }>(sums, scaling, out),
        }
    }
}

/// Returns the sum of the first `count` activations of lane `lane`.
#[inline]
pub(super) fn total(x: impl Activations, count: usize, lane: usize) -> i64 {
    (0..count).map(|k| i64::from(x.at(k, lane))).sum()
}

/// Returns the stages as vectors, if those of all channels fit.
fn scalings(stages: &[Stage], blocks: impl Iterator<Item = Channels>) -> Option<(Kind, Vec<Scaling>)> {
    let kind = match stages.first()?.scale {
        Some(Scale32::Double { .. }) => Kind::Double,
        Some(Scale32::Single { .. }) => Kind::Single,
        Some(Scale32::Even { .. }) => Kind::Even,
        _ => return None,
    };
    let of_block = |block: Channels| {
        let mut scaling = Scaling {
            bias: [0; LANES],
            significand: [0; LANES],
            left: [0; LANES],
            right: [31; LANES],
            low: [0; LANES],
            high: [0; LANES],
            zero_point: i32::try_from(stages[block.first].zero_point).ok()?,
            has_room: true,
        };
        for lane in 0..block.count {
            stages[block.first + lane].put(&mut scaling, lane, kind, block.bounds[lane])?;
        }
        Some(scaling)
    };
    Some((kind, blocks.map(of_block).collect::<Option<_>>()?))
}

/// Returns the divisions of an average pool of `terms` terms as vectors, if all sums fit.
fn quotients(
    terms: usize,
    per_term: i32,
    clamp: (i32, i32),
    blocks: impl Iterator<Item = Channels>,
) -> Option<(Kind, Vec<Scaling>)> {
    let bias = i32::try_from(terms as i64 * i64::from(per_term)).ok()?;
    let divisor = i32::try_from(terms).ok().filter(|_| (1..=MOST_TERMS).contains(&terms))?;
    // Windows over padding have fewer terms, so their bias lies anywhere between 0 and this one.
    let room = i64::from(i32::MAX) - i64::from(bias).abs() - i64::from(divisor);
    let of_block = |block: Channels| {
        let bounds = &block.bounds[..block.count];
        bounds.iter().all(|sums| sums.least >= -room && sums.greatest <= room).then_some(Scaling {
            bias: [bias; LANES],
            significand: [divisor; LANES],
            left: [0; LANES],
            right: [31; LANES],
            low: [clamp.0; LANES],
            high: [clamp.1; LANES],
            zero_point: 0,
            has_room: false,
        })
    };
    Some((Kind::Quotient, blocks.map(of_block).collect::<Option<_>>()?))
}

/// Returns what each term of a pool, mean or sum adds to its sum before the division: the zero point of raw codes, if
/// it was subtracted, less that of a mean or sum.
fn per_term(layer: &MacLayer) -> i32 {
    let raw = output::raw_offset(layer, 1) as i32;
    match &layer.dots.finish {
        Finish::Requantize(_) => 0,
        Finish::Divide(Division::Average { .. }) => raw,
        Finish::Divide(Division::Scaled { input_zero_point, .. }) => raw - input_zero_point,
    }
}

fn stages(layer: &MacLayer, per_term: i32) -> Option<Vec<Stage>> {
    let channels = layer.dots.window.channels();
    let output = match &layer.dots.finish {
        Finish::Requantize(output) => output,
        Finish::Divide(Division::Average { .. }) => return None,
        &Finish::Divide(Division::Scaled { requantizer, output_zero_point, clamp, .. }) => {
            let stage = Stage {
                bias: layer.order.len() as i64 * i64::from(per_term),
                factor: 0,
                low: i64::MIN,
                high: i64::MAX,
                scale: Scale32::new(requantizer),
                requantizer,
                zero_point: output_zero_point.into(),
                clamp: (clamp.0.into(), clamp.1.into()),
            };
            return Some(vec![stage; channels]);
        }
    };
    let at = layer.datapath.bias.at;
    if layer.datapath.requantize.output != OutputFit::Saturate || at == BiasPlace::PostRequantize {
        return None;
    }
    let stage = |channel: usize| {
        let side = i128::from(layer.weight_sum_factor) * output::weight_sum(layer, channel);
        let bias = match (at, &layer.bias) {
            (BiasPlace::Post, Some(bias)) => Some(i64::try_from(bias[channel] + side).ok()?),
            (BiasPlace::Post, None) if !layer.has_side_sums() => None,
            _ => Some(i64::try_from(side).ok()?),
        };
        let is_added = at == BiasPlace::Post && bias.is_some();
        let limits = layer.datapath.bias.register.limits().filter(|_| is_added);
        let Range { min, max } = limits.unwrap_or(Range::new(i64::MIN, i64::MAX));
        Some(Stage {
            bias: bias.filter(|bias| bias.unsigned_abs() < 1 << 40).or(bias.is_none().then_some(0))?,
            factor: layer.input_sum_factor[channel],
            low: i64::try_from(min).ok()?,
            high: i64::try_from(max.min(i64::MAX.into())).ok()?,
            scale: Scale32::new(layer.exact_requantizers[channel]),
            requantizer: layer.exact_requantizers[channel],
            zero_point: output.output_zero_point.into(),
            clamp: (output.clamp.0.into(), output.clamp.1.into()),
        })
    };
    (0..channels).map(stage).collect()
}

impl Stage {
    /// Writes the stage into lane `lane`, if the kernels support it for sums within `range`.
    fn put(&self, scaling: &mut Scaling, lane: usize, kind: Kind, range: Span) -> Option<()> {
        let least = (range.least + self.bias).min(self.bias);
        let greatest = (range.greatest + self.bias).max(self.bias);
        let (low, high) = (self.low.max(i32::MIN.into()), self.high.min(i32::MAX.into()));
        if self.factor != 0 || least < low || greatest > high {
            return None;
        }
        let (significand, left, right) = match (kind, self.scale) {
            (Kind::Double, Some(Scale32::Double { significand, left, right }))
                if left <= 30 && right <= 31 =>
            {
                (significand, left, right)
            }
            (Kind::Single, Some(Scale32::Single { significand, right })) if (31..=62).contains(&right) => {
                (significand, 0, right)
            }
            // The sign bit of a multiplier is 0.
            (Kind::Even, Some(Scale32::Even { real })) => (real.to_bits().into(), 0, 31),
            _ => return None,
        };
        let code = |code: i64| i32::try_from(code - self.zero_point).ok();
        let bounds = (code(self.clamp.0)?, code(self.clamp.1)?);
        let in_float32 = |bound: i32| bound.unsigned_abs() <= 1 << 24;
        if kind == Kind::Even && !(in_float32(bounds.0) && in_float32(bounds.1)) {
            return None;
        }
        scaling.bias[lane] = i32::try_from(self.bias).ok()?;
        scaling.significand[lane] = i32::try_from(significand).ok()?;
        (scaling.left[lane], scaling.right[lane]) = (left as i32, right as i32);
        (scaling.low[lane], scaling.high[lane]) = bounds;
        scaling.has_room &= scaling.lane_has_room(lane, Span::new(least, greatest));
        Some(())
    }

    /// Returns `sum` with everything that the bias adder adds; `activations` is called only if needed.
    #[inline]
    fn biased(&self, sum: i32, activations: &impl Fn() -> i64) -> i64 {
        let side = if self.factor == 0 { 0 } else { self.factor * activations() };
        i64::from(sum) + self.bias + side
    }

    #[inline]
    fn code(&self, sum: i64) -> i32 {
        let scaled = i32::try_from(sum).ok().and_then(|sum| Some(self.scale?.scale(sum)));
        let Some(scaled) = scaled else {
            let wide = self.requantizer.requantize(sum.into(), self.zero_point.into());
            return wide.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32;
        };
        (scaled + self.zero_point).clamp(self.clamp.0, self.clamp.1) as i32
    }
}
