//! What the narrow register holds at the end of the dot products of a tile.

use guardbit_hwmodels::Check;
use guardbit_num::{Direction, Overflow};

use super::FastLayer;
use super::kernels::{self, Lanes, Rails, Stepped, TILE, Trail, Walked};
use super::places::Log;
use super::prepare::Narrow;
use super::simd::VectorActivations;
use super::stretch::Tile;

/// What is noted of overflows.
pub(super) enum Noted<'l> {
    /// Only what is held in the end counts.
    Nothing,
    /// How many there are.
    Counts,
    /// The same, and how many there are up to the checkpoints of each pixel.
    Log(&'l mut Log),
}

/// Some pixels of a tile on a narrow register.
pub(super) struct Stepping<'s, 'a, X> {
    pub layer: &'s FastLayer<'a>,
    pub check: Check,
    pub narrow: &'s Narrow,
    pub tile: &'s Tile<'s, X>,
    /// Which pixels of the tile.
    pub pixels: &'s [usize],
}

impl<X: VectorActivations> Stepping<'_, '_, X> {
    /// Runs the register; `out` gets one entry per pixel.
    pub fn run(&self, noted: Noted<'_>, out: &mut [Stepped]) {
        match (self.check, noted) {
            (Check::HandOver, Noted::Counts | Noted::Log(_)) => self.each(out, hand_over),
            (Check::EachAdd, Noted::Counts) => self.step(None, out),
            (Check::EachAdd, Noted::Log(log)) => self.step(Some(log), out),
            (check, Noted::Nothing) => {
                match check {
                    Check::HandOver => self.each(out, hand_over),
                    Check::EachAdd => self.run_uncounted(out),
                }
                out.iter_mut().for_each(|out| (out.high, out.low) = Default::default());
            }
        }
    }

    /// What is held in the end follows from the exact sum where nothing is clamped on the way.
    fn run_uncounted(&self, out: &mut [Stepped]) {
        let narrow = self.narrow;
        let (kernels, block, rails) = (self.layer.kernels, self.tile.block, narrow.rails);
        match narrow.overflow {
            Overflow::Wrap => self.each(out, wrap),
            Overflow::Observe | Overflow::Trap => {
                self.each(out, |_, &value| Stepped { value, ..Stepped::ZERO })
            }
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                let x = &self.windows()[..self.pixels.len()];
                match narrow.sixteen {
                    true => kernels.clamp_i16(x, &block.weights, &block.start, rails, out),
                    false => kernels.clamp_i32(x, &block.weights, &block.start, rails, out),
                }
            }
            Overflow::SaturateZero | Overflow::Sticky => self.step(None, out),
        }
    }

    /// From the exact sum of each pixel.
    fn each(&self, out: &mut [Stepped], held: impl Fn(&Narrow, &Lanes) -> Stepped) {
        for (&at, out) in self.pixels.iter().zip(out) {
            let Walked { sum, .. } = &self.tile.walked[at];
            *out = held(self.narrow, sum);
        }
    }

    fn windows(&self) -> [X; TILE] {
        let mut x = [self.tile.x[0]; TILE];
        x.iter_mut().zip(self.pixels).for_each(|(x, &at)| *x = self.tile.x[at]);
        x
    }

    /// Addition by addition, counted.
    fn step(&self, log: Option<&mut Log>, out: &mut [Stepped]) {
        let mut checkpoints = [&[][..]; TILE];
        if log.is_some() {
            for (checkpoints, &at) in checkpoints.iter_mut().zip(self.pixels) {
                *checkpoints = self.layer.places.checkpoints(self.tile.pixel + at, self.tile.index);
            }
        }
        let log = log.filter(|_| checkpoints.iter().any(|checkpoints| !checkpoints.is_empty()));
        let log = log.map(|log| (&checkpoints[..self.pixels.len()], log));
        match self.narrow.overflow {
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                self.step_mode::<{ kernels::SATURATE }>(log, out)
            }
            Overflow::Wrap if self.narrow.format.is_signed() => {
                self.step_mode::<{ kernels::WRAP_SIGNED }>(log, out)
            }
            Overflow::Wrap => self.step_mode::<{ kernels::WRAP_UNSIGNED }>(log, out),
            Overflow::SaturateZero => self.step_mode::<{ kernels::ZERO }>(log, out),
            Overflow::Sticky => self.step_mode::<{ kernels::STICKY }>(log, out),
            Overflow::Observe | Overflow::Trap => self.step_mode::<{ kernels::OBSERVE }>(log, out),
        }
    }

    fn step_mode<const MODE: u8>(&self, log: Option<(&[&[u32]], &mut Log)>, out: &mut [Stepped]) {
        let Self { layer, narrow, tile, pixels, .. } = self;
        let (kernels, weights, start, rails) =
            (layer.kernels, &tile.block.weights, &tile.block.start, narrow.rails);
        let x = &self.windows()[..pixels.len()];
        let Some((checkpoints, log)) = log else {
            match narrow.sixteen {
                true => kernels.step_i16::<X, MODE>(x, weights, start, rails, out),
                false => kernels.step_i32::<X, MODE>(x, weights, start, rails, out),
            }
            return;
        };
        log.clear(checkpoints.iter().map(|checkpoints| checkpoints.len()));
        let outs = out.as_chunks_mut::<1>().0;
        for (slot, ((&x, checkpoints), out)) in x.iter().zip(checkpoints).zip(outs).enumerate() {
            let trail = Trail { checkpoints, log: log.of(slot) };
            match narrow.sixteen {
                true => kernels.step_i16_with_trail::<X, MODE>(x, weights, start, rails, trail, out),
                false => kernels.step_i32_with_trail::<X, MODE>(x, weights, start, rails, trail, out),
            }
        }
    }
}

/// One fit per dot product, where the result leaves the level.
fn hand_over(narrow: &Narrow, sums: &Lanes) -> Stepped {
    let mut stepped = Stepped { value: *sums, ..Stepped::ZERO };
    for (lane, &sum) in sums.iter().enumerate() {
        let fit = narrow.overflow.fit(sum.into(), narrow.format);
        stepped.value[lane] = fit.value as i32;
        match fit.overflow {
            Some(Direction::High) => stepped.high[lane] = 1,
            Some(Direction::Low) => stepped.low[lane] = 1,
            None => {}
        }
    }
    stepped
}

/// The low bits: those of every sum on the way are those of the last one.
fn wrap(narrow: &Narrow, sums: &Lanes) -> Stepped {
    let Rails { bits, .. } = narrow.rails;
    let shift = 32 - bits.min(32);
    let value = match narrow.format.is_signed() {
        true => sums.map(|sum| (sum << shift) >> shift),
        false => sums.map(|sum| ((sum as u32) << shift >> shift) as i32),
    };
    Stepped { value, ..Stepped::ZERO }
}
