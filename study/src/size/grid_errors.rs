//! Error rates of two-level accumulators on the samples.
//!
//! Dot products of each layer, evenly spread over some samples, are added in both levels as in hardware, on
//! exact activations and with the overflow mode of the layer's last level.

use guardbit_hwmodels::{BiasPlace, Level, MacLayer, Product, Register};
use guardbit_num::{Accumulator, Beyond, Format, Overflow};
use guardbit_sim::trace::operands;
use guardbit_sim::{Keep, LayerCodes, Options, Reads, Simulation, StatsLevel};

use super::sizing::Sizing;
use crate::{StudyError, registers};

/// Number of samples used, evenly spread.
const SAMPLES: usize = 16;

/// Dot products of a layer that are evaluated.
pub(super) struct LayerDots {
    dots: Vec<Dot>,
    signed: bool,
    overflow: Overflow,
}

/// Dot product.
struct Dot {
    /// Products in the order of addition.
    products: Vec<i64>,
    /// Initial value of the outer accumulator.
    initial: i128,
}

impl LayerDots {
    /// Selects about `count` dot products of every accelerated layer, in order of execution. Returns `None`
    /// for layers whose circuit has no error rate: products that do not fit or drop bits, overflow that stops
    /// the run.
    pub fn all(sizing: &Sizing<'_>, count: usize) -> Result<Vec<Option<Self>>, StudyError> {
        let program = registers::unlimited(sizing.subject, sizing.program)?;
        let mut layers: Vec<Option<Self>> = sizing.program.mac_layers().map(Self::empty).collect();
        let all = sizing.subject.samples.count();
        let taken = all.min(SAMPLES);
        let options = Options { stats: StatsLevel::None, keep: Keep::All, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let mut reader = sizing.subject.samples.reader();
        for sample in 0..all {
            let codes = reader.read(1)?;
            // All steps of a stream are run.
            let is_taken = sample * taken % all < taken;
            if !is_taken && !sizing.subject.graph.has_states() {
                continue;
            }
            for tensors in simulation.run_batch(&codes)?.into_iter().filter(|_| is_taken) {
                for (layer, dots) in sizing.program.mac_layers().zip(&mut layers) {
                    let read = Reads::of(sizing.program, layer, &tensors.exact);
                    if let (Some(dots), Some(read)) = (dots, read) {
                        dots.take(layer, &LayerCodes::from(read), count.div_ceil(taken));
                    }
                }
            }
        }
        Ok(layers)
    }

    fn empty(layer: &MacLayer) -> Option<Self> {
        let level: &Level = layer.datapath.levels.last()?;
        let exact = matches!(layer.datapath.product, Product { register: Register::Auto, shift: 0, .. });
        let overflow = registers::overflow(level);
        let signed = match level.register {
            Register::Fixed { format, .. } => format.is_signed(),
            Register::Auto => true,
        };
        (exact && overflow != Overflow::Trap).then(|| Self { dots: Vec::new(), signed, overflow })
    }

    /// Adds some of the dot products of one sample.
    fn take(&mut self, layer: &MacLayer, input: &LayerCodes, count: usize) {
        let window = &layer.dots.window;
        // An odd step visits all channels.
        let step = if window.dots() <= count { 1 } else { window.dots().div_ceil(count) | 1 };
        let preloaded = layer.bias.as_ref().filter(|_| layer.datapath.bias.at == BiasPlace::Preload);
        for out in (0..window.dots()).step_by(step).map(|index| window.output_position(index)) {
            let operands = operands(layer, input.reads(), out);
            // Products fit, because codes have at most 16 bits and a zero point.
            let products = operands.iter().map(|o| (o.activation * o.weight) as i64).collect();
            self.dots.push(Dot { products, initial: preloaded.map_or(0, |bias| bias[out.c]) });
        }
    }

    /// Returns the number of dot products.
    pub fn count(&self) -> u64 {
        self.dots.len() as u64
    }

    /// Returns how many dot products are wrong with an inner accumulator for runs of `tile` products, for
    /// each inner width (`None`: wide enough) and each outer width in its list.
    pub fn wrong(&self, tile: usize, widths: &[(Option<u32>, Vec<u32>)]) -> Vec<Vec<u64>> {
        let register = |bits: u32| Format::new(bits, self.signed).ok();
        let mut wrong: Vec<Vec<u64>> = widths.iter().map(|(_, outer)| vec![0; outer.len()]).collect();
        for dot in &self.dots {
            let runs: Vec<Run<'_>> = dot.products.chunks(tile).map(Run::new).collect();
            let exact = dot.initial + runs.iter().map(|run| i128::from(run.sum)).sum::<i128>();
            for ((inner, outer), wrong) in widths.iter().zip(&mut wrong) {
                let format = inner.and_then(register);
                let handed: Vec<i128> = runs.iter().map(|run| self.inner(run, format)).collect();
                for (wrong, &bits) in wrong.iter_mut().zip(outer) {
                    *wrong += u64::from(self.outer(&handed, register(bits), dot.initial) != exact);
                }
            }
        }
        wrong
    }

    /// Returns the value that an inner accumulator hands on for a run.
    fn inner(&self, run: &Run<'_>, format: Option<Format>) -> i128 {
        let sum = i128::from(run.sum);
        let Some(format) = format else { return sum };
        let (low, high) = self.overflow.limits(format);
        if low <= i128::from(run.low) && i128::from(run.high) <= high {
            return sum;
        }
        match self.overflow.beyond() {
            Beyond::Exact => sum,
            // In modulo arithmetic the order makes no difference.
            Beyond::Wrapped => format.wrap(sum),
            // A rail that lies between some prefix and 0 fits 64 bits, as the prefix does.
            Beyond::Rail => saturated(run.products, low, high).into(),
            Beyond::Latched | Beyond::Chosen { .. } => {
                let mut held = Accumulator::new(format, self.overflow);
                run.products.iter().for_each(|&product| _ = held.add(product.into()));
                held.value()
            }
        }
    }

    /// Returns the value of the outer accumulator after the sums of all runs.
    fn outer(&self, handed: &[i128], format: Option<Format>, initial: i128) -> i128 {
        let sum = || initial + handed.iter().sum::<i128>();
        let Some(format) = format else { return sum() };
        match self.overflow.beyond() {
            Beyond::Exact => sum(),
            Beyond::Wrapped => format.wrap(sum()),
            Beyond::Rail | Beyond::Latched | Beyond::Chosen { .. } => {
                let (mut held, _) = Accumulator::preloaded(format, self.overflow, initial);
                handed.iter().for_each(|&sum| _ = held.add(sum));
                held.value()
            }
        }
    }
}

/// Run of products with its exact sum and the extremes of 0 and its prefixes. A register that holds the
/// extremes does not overflow.
struct Run<'a> {
    products: &'a [i64],
    sum: i64,
    low: i64,
    high: i64,
}

impl<'a> Run<'a> {
    fn new(products: &'a [i64]) -> Self {
        let (mut sum, mut low, mut high) = (0i64, 0, 0);
        for &product in products {
            sum += product;
            low = sum.min(low);
            high = sum.max(high);
        }
        Self { products, sum, low, high }
    }
}

/// Returns the sum of products in a register that saturates at its rails.
fn saturated(products: &[i64], low: i128, high: i128) -> i64 {
    let rail = |rail: i128| rail.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let (low, high) = (rail(low), rail(high));
    products.iter().fold(0, |held: i64, product| (held + product).clamp(low, high))
}
