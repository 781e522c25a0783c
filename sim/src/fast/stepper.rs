//! Stepping kernel on its own, for benchmarks.

use guardbit_num::{Format, Overflow};

use super::kernels::{LANES, Rails, Row, SATURATE, Stepped, TILE};
use super::pairs::{ListCells, PairOfWindows, PairRow, PairStepping, PairWeights, PairWindows, StepList};
use super::simd::{Kernels, ShortMode};
use crate::options::Isa;

/// Dot products on one saturating register that fits 16-bit lanes.
#[derive(Debug)]
pub struct Stepper {
    kernels: Kernels,
    /// Weights, indexed `[block of channels][k]`.
    weights: Vec<Vec<Row>>,
    /// Weights for two windows.
    doubled: Vec<PairWeights>,
    rails: Rails,
    /// The rails on 16-bit lanes.
    sixteen: Rails<i16>,
}

impl Stepper {
    /// Creates a register of `bits` bits, 2 to 15, for products of `weights`, `[k][channel]`, with
    /// activations. Both have at most nine bits, and products fit 16 bits. Without `isa`, the best available
    /// instructions are used.
    pub fn new(weights: &[Vec<i16>], bits: u32, isa: Option<Isa>) -> Option<Self> {
        let format = Format::signed(bits).ok().filter(|_| bits <= 15)?;
        let channels = weights.first()?.len();
        let row = |first: usize, row: &Vec<i16>| {
            std::array::from_fn(|lane| row.get(first + lane).copied().unwrap_or(0))
        };
        let block = |first| weights.iter().map(|weights| row(first, weights)).collect();
        let weights: Vec<Vec<Row>> = (0..channels).step_by(LANES).map(block).collect();
        weights.iter().all(|rows| PairWeights::fit(rows)).then(|| Self {
            kernels: Kernels::choose(isa),
            doubled: weights.iter().map(|rows| PairWeights::new(rows, PairRow::doubled)).collect(),
            weights,
            rails: Rails::new(format, Overflow::Saturate),
            sixteen: Rails::new(format, Overflow::Saturate),
        })
    }

    /// Steps every dot product of `activations`, `[pixel][k]`. `sums` receives the sums, `[pixel][channel]`,
    /// with channels padded to whole vectors. Returns the numbers of overflows above and below.
    pub fn run(&self, activations: &[Vec<i16>], sums: &mut Vec<i32>) -> [u64; 2] {
        let channels = self.weights.len() * LANES;
        sums.resize(activations.len() * channels, 0);
        let mut events = [0; 2];
        for (tile, sums) in activations.chunks(TILE).zip(sums.chunks_mut(TILE * channels)) {
            let lists = self.kernels.steps_pairs().then(|| self.lists(tile));
            for block in 0..self.weights.len() {
                let mut stepped = [Stepped::ZERO; TILE + 1];
                match &lists {
                    Some(lists) => self.step_pairs(block, tile.len(), lists, &mut stepped),
                    None => self.step(block, tile, &mut stepped[..tile.len()]),
                }
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

    fn step(&self, block: usize, tile: &[Vec<i16>], stepped: &mut [Stepped]) {
        let mut x = [&[][..]; TILE];
        x.iter_mut().zip(tile).for_each(|(x, row)| *x = row);
        let (weights, start) = (&self.weights[block], [0; LANES]);
        self.kernels.step::<i16, _, SATURATE>(&x[..tile.len()], weights, &start, self.sixteen, stepped);
    }

    fn step_pairs(&self, block: usize, pixels: usize, lists: &[StepList], stepped: &mut [Stepped; TILE + 1]) {
        let pair = |(pair, source)| {
            let second = if 2 * pair + 1 < pixels { 2 * pair + 1 } else { TILE };
            PairOfWindows { source, slots: [2 * pair, second] }
        };
        let windows: Vec<_> = lists.iter().enumerate().map(pair).collect();
        let stepping = PairStepping {
            weights: &self.doubled[block],
            start: &[0; LANES],
            rails: self.rails,
            negative: true,
        };
        if let Some(mode) = ShortMode::of(Overflow::Saturate, &self.rails) {
            self.kernels.step_pairs::<true>(mode, &stepping, PairWindows::Shared(&windows), stepped);
        }
    }

    /// Lists the products of rows, two rows at a time.
    fn lists(&self, tile: &[Vec<i16>]) -> Vec<StepList> {
        let list = |pair: &[Vec<i16>]| {
            let second = pair.last().map_or(&[][..], |row| row);
            let both = pair[0].iter().zip(second);
            let cells: Vec<u32> =
                both.map(|(&a, &b)| u32::from(a as u16) | u32::from(b as u16) << 16).collect();
            let mut list = StepList::default();
            let runs = [(0, cells.len())];
            self.kernels.list_steps::<false>(ListCells::Pairs(&cells), &runs, &mut list);
            list
        };
        tile.chunks(2).map(list).collect()
    }
}
