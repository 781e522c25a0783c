//! The stepping kernel by itself, as benchmarks time it.

use guardbit_num::{Format, Overflow};

use super::kernels::{LANES, Rails, Row, SATURATE, Stepped, TILE};
use super::simd::Kernels;
use crate::options::Isa;

/// Dot products on one saturating register that 16-bit lanes are enough for.
#[derive(Debug)]
pub struct Stepper {
    kernels: Kernels,
    /// `[block of channels][k]`
    weights: Vec<Vec<Row>>,
    rails: Rails,
}

impl Stepper {
    /// A register of `bits` bits, 2 to 15, for products of `weights`, `[k][channel]`, with activations; products fit
    /// 16 bits. `isa` are the best that the CPU has, if none are given.
    pub fn new(weights: &[Vec<i16>], bits: u32, isa: Option<Isa>) -> Option<Self> {
        let format = Format::signed(bits).ok().filter(|_| bits <= 15)?;
        let (low, high) = Overflow::Saturate.limits(format);
        let channels = weights.first()?.len();
        let row = |first: usize, row: &Vec<i16>| {
            std::array::from_fn(|lane| row.get(first + lane).copied().unwrap_or(0))
        };
        let block = |first| weights.iter().map(|weights| row(first, weights)).collect();
        Some(Self {
            kernels: Kernels::choose(isa),
            weights: (0..channels).step_by(LANES).map(block).collect(),
            rails: Rails { low: low as i32, high: high as i32, bits },
        })
    }

    /// Steps every dot product of `activations`, `[pixel][k]`. Gives the sums, `[pixel][channel]` with the channels
    /// filled up to whole vectors, and the overflows above and below.
    pub fn run(&self, activations: &[Vec<i16>], sums: &mut Vec<i32>) -> [u64; 2] {
        let channels = self.weights.len() * LANES;
        sums.resize(activations.len() * channels, 0);
        let mut events = [0; 2];
        for (tile, sums) in activations.chunks(TILE).zip(sums.chunks_mut(TILE * channels)) {
            let mut x = [&[][..]; TILE];
            x.iter_mut().zip(tile).for_each(|(x, row)| *x = row);
            for (block, weights) in self.weights.iter().enumerate() {
                let mut stepped = [Stepped::ZERO; TILE];
                let stepped = &mut stepped[..tile.len()];
                let start = [0; LANES];
                self.kernels.step_i16::<_, SATURATE>(&x[..tile.len()], weights, &start, self.rails, stepped);
                for (stepped, sums) in stepped.iter().zip(sums.chunks_mut(channels)) {
                    sums[block * LANES..][..LANES].copy_from_slice(&stepped.value);
                    for (events, lanes) in events.iter_mut().zip([stepped.high, stepped.low]) {
                        *events += lanes.iter().sum::<i32>() as u64;
                    }
                }
            }
        }
        events
    }
}
