//! How often two levels of accumulators are wrong on the samples.
//!
//! Each layer's dot products, evenly spread over some samples, are added in both levels as the hardware would, on exact
//! activations and in the overflow mode of the layer's last level.

use guardbit_hwmodels::{BiasPlace, Level, MacLayer, Product, Register};
use guardbit_num::{Accumulator, Format, Overflow};
use guardbit_sim::trace::operands;
use guardbit_sim::{Keep, LayerCodes, Options, Reads, Simulation, StatsLevel};

use super::Sizing;
use crate::{StudyError, registers};

/// Samples that are looked at, evenly spread.
const SAMPLES: usize = 16;
/// Dot products of a layer that are looked at, over these samples.
const DOTS: usize = 1024;

/// The dot products of a layer that are looked at.
pub(super) struct LayerDots {
    dots: Vec<Dot>,
    signed: bool,
    overflow: Overflow,
}

/// One dot product.
struct Dot {
    /// In the order of addition.
    products: Vec<i64>,
    /// What the outer accumulator starts from.
    initial: i128,
}

impl LayerDots {
    /// Those of every accelerated layer, in order of execution; `None` where no such circuit can be said to be wrong:
    /// products that do not fit or drop bits, overflow that stops the run.
    pub fn all(sizing: &Sizing<'_>) -> Result<Vec<Option<Self>>, StudyError> {
        let program = registers::unlimited(sizing.subject, sizing.program)?;
        let mut layers: Vec<Option<Self>> = sizing.program.mac_layers().map(Self::empty).collect();
        let all = sizing.subject.samples.count();
        let taken = all.min(SAMPLES);
        let options = Options { stats: StatsLevel::None, keep: Keep::All, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let mut reader = sizing.subject.samples.reader();
        for sample in 0..all {
            let codes = reader.read(1)?;
            // Steps of a stream are all run.
            let is_taken = sample * taken % all < taken;
            if !is_taken && !sizing.subject.graph.has_states() {
                continue;
            }
            for tensors in simulation.run_batch(&codes)?.into_iter().filter(|_| is_taken) {
                for (layer, dots) in sizing.program.mac_layers().zip(&mut layers) {
                    let read = Reads::of(sizing.program, layer, &tensors.exact);
                    if let (Some(dots), Some(read)) = (dots, read) {
                        dots.take(layer, &LayerCodes::from(read), DOTS.div_ceil(taken));
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
        // An odd step walks all channels.
        let step = if window.dots() <= count { 1 } else { window.dots().div_ceil(count) | 1 };
        let preloaded = layer.bias.as_ref().filter(|_| layer.datapath.bias.at == BiasPlace::Preload);
        for out in (0..window.dots()).step_by(step).map(|index| window.output_position(index)) {
            let operands = operands(layer, input.reads(), out);
            // Codes have at most 16 bits and a zero point: products fit.
            let products = operands.iter().map(|o| (o.activation * o.weight) as i64).collect();
            self.dots.push(Dot { products, initial: preloaded.map_or(0, |bias| bias[out.c]) });
        }
    }

    /// How many dot products there are.
    pub fn count(&self) -> u64 {
        self.dots.len() as u64
    }

    /// How many of them are wrong with an inner accumulator of `inner` bits (`None`: wide enough) for runs of `tile`
    /// products, and an outer one of each of the widths `outer`.
    pub fn wrong(&self, tile: usize, inner: Option<u32>, outer: &[u32]) -> Vec<u64> {
        let register = |bits: u32| Format::new(bits, self.signed).ok();
        let mut wrong = vec![0; outer.len()];
        for dot in &self.dots {
            let exact = dot.initial + dot.products.iter().map(|&product| i128::from(product)).sum::<i128>();
            let runs: Vec<i128> =
                dot.products.chunks(tile).map(|run| self.reduce(run, inner.and_then(register))).collect();
            for (wrong, format) in wrong.iter_mut().zip(outer.iter().map(|&bits| register(bits))) {
                let sum = match format {
                    None => dot.initial + runs.iter().sum::<i128>(),
                    Some(format) => {
                        let (mut held, _) = Accumulator::preloaded(format, self.overflow, dot.initial);
                        runs.iter().for_each(|&run| _ = held.add(run));
                        held.value()
                    }
                };
                *wrong += u64::from(sum != exact);
            }
        }
        wrong
    }

    fn reduce(&self, run: &[i64], format: Option<Format>) -> i128 {
        let Some(format) = format else { return run.iter().map(|&product| i128::from(product)).sum() };
        let mut held = Accumulator::new(format, self.overflow);
        run.iter().for_each(|&product| _ = held.add(product.into()));
        held.value()
    }
}
