//! Dot products of a block of channels: what happened in them, their output words, and their statistics.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_graph::{FloatDots, word_of};
use guardbit_num::{AlignedSum, FloatDot};

use super::dot::{Outcome, Required, same};
use super::statistics::{FloatStats, Most, RealPairs};
use crate::accumulate::Accumulate;
use crate::fast::{LANES, Vectorized};

/// Words of NaN outputs.
const NAN: i32 = 0x7FC0_0000;

/// What happened in the dot products of a block. Lanes without one are zero.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Codes of the delivered sums, as float32.
    pub delivered: [u32; LANES],
    /// Codes of the exact sums, rounded once to float32.
    pub exact: [u32; LANES],
    /// Terms that lost bits.
    pub cut: [u32; LANES],
    /// Nonzero terms that became zero.
    pub vanished: [u32; LANES],
    /// Fraction bits with which no term would have lost any.
    pub exact_bits: [u32; LANES],
    /// What they require, if that is counted.
    pub required: [Option<Required>; LANES],
    /// Lanes that ran. Others need the reference.
    pub ran: [bool; LANES],
}

impl Outcomes {
    /// Sets the dot product of a lane.
    pub fn set(&mut self, lane: usize, outcome: &Outcome) {
        let Outcome { delivered, exact, lost, required, .. } = outcome;
        (self.delivered[lane], self.exact[lane]) = (*delivered, *exact);
        (self.cut[lane], self.vanished[lane]) = (lost.cut_terms, lost.vanished_terms);
        (self.exact_bits[lane], self.required[lane]) = (lost.exact_fraction_bits, *required);
        self.ran[lane] = true;
    }

    /// Sets what the lanes require. `with` returns their sums with a number of fraction bits, as in [`Required::count`].
    pub fn require(&mut self, accumulation: &FloatDot, with: impl Fn(u32) -> [Option<AlignedSum>; LANES]) {
        self.required = Required::count(accumulation, with, &self.exact, self.ran);
        self.ran = self.required.map(|required| required.is_some());
    }
}

/// Scale and bias of the channels of a block.
#[derive(Debug)]
pub(super) struct Epilogue {
    scales: [f32; LANES],
    biases: [f32; LANES],
}

impl Epilogue {
    pub fn new(dots: &FloatDots, block: usize) -> Self {
        // Adding a negative zero changes no number.
        let mut own = Self { scales: [1.0; LANES], biases: [-0.0; LANES] };
        for (lane, channel) in (block * LANES..dots.window.channels()).take(LANES).enumerate() {
            own.scales[lane] = dots.scale(channel);
            own.biases[lane] = dots.bias.as_ref().map_or(-0.0, |bias| bias[channel]);
        }
        own
    }
}

/// Output words of a block of channels, exact and delivered.
pub(super) type Words = [[i32; LANES]; 2];

/// Makes output words, and counts what happened.
pub(super) struct Finish<'a> {
    pub outcomes: &'a Outcomes,
    pub epilogue: &'a Epilogue,
    pub words: &'a mut Words,
    pub tally: Option<&'a mut Tally>,
}

impl Vectorized for Finish<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { outcomes, epilogue, words, tally } = self;
        for (words, sums) in words.iter_mut().zip([&outcomes.exact, &outcomes.delivered]) {
            for l in 0..LANES {
                // Each with one rounding.
                let real = f32::from_bits(sums[l]) * epilogue.scales[l] + epilogue.biases[l];
                words[l] = if real.is_nan() { NAN } else { word_of(real) };
            }
        }
        if let Some(tally) = tally {
            tally.count(outcomes);
        }
    }
}

/// Statistics of a few pixels, by lane.
#[derive(Debug)]
pub(super) struct Tally {
    /// Fraction bits of the register.
    fraction_bits: u32,
    cut_terms: [u64; LANES],
    vanished_terms: [u64; LANES],
    cut_dots: [u32; LANES],
    vanished_dots: [u32; LANES],
    wrong: [u32; LANES],
    not_finite: [u32; LANES],
    most_cut: [u32; LANES],
    most_ulps: [u32; LANES],
    ulps: [u64; LANES],
    sums: RealPairs,
}

impl Tally {
    pub fn new(fraction_bits: u32) -> Self {
        Self {
            fraction_bits,
            cut_terms: [0; LANES],
            vanished_terms: [0; LANES],
            cut_dots: [0; LANES],
            vanished_dots: [0; LANES],
            wrong: [0; LANES],
            not_finite: [0; LANES],
            most_cut: [0; LANES],
            most_ulps: [0; LANES],
            ulps: [0; LANES],
            sums: RealPairs::default(),
        }
    }

    #[inline(always)]
    fn count(&mut self, outcomes: &Outcomes) {
        let Outcomes { delivered, exact, cut, vanished, exact_bits, .. } = outcomes;
        for l in 0..LANES {
            self.cut_terms[l] += u64::from(cut[l]);
            self.vanished_terms[l] += u64::from(vanished[l]);
            self.cut_dots[l] += u32::from(cut[l] > 0);
            self.vanished_dots[l] += u32::from(vanished[l] > 0);
            self.most_cut[l] = self.most_cut[l].max(exact_bits[l].saturating_sub(self.fraction_bits));
        }
        for l in 0..LANES {
            let finite = is_finite(delivered[l]) & is_finite(exact[l]);
            let ulps = if finite { steps(delivered[l]).abs_diff(steps(exact[l])) } else { 0 };
            self.wrong[l] += u32::from(!same(delivered[l], exact[l]));
            self.not_finite[l] += u32::from(!finite);
            self.most_ulps[l] = self.most_ulps[l].max(ulps);
            self.ulps[l] += u64::from(ulps);
        }
        self.sums.add(exact, delivered);
    }

    /// Adds the counts of `dots` dot products of `terms` terms each to `stats`.
    pub fn end(self, stats: &mut FloatStats, dots: u64, terms: u64) {
        let sum = |counts: [u32; LANES]| counts.into_iter().map(u64::from).sum::<u64>();
        let most = |values: [u32; LANES]| Most(values.into_iter().max().unwrap_or(0).into());
        stats.dots += dots;
        stats.terms += dots * terms;
        stats.cut_terms += self.cut_terms.iter().sum::<u64>();
        stats.vanished_terms += self.vanished_terms.iter().sum::<u64>();
        stats.cut_dots += sum(self.cut_dots);
        stats.vanished_dots += sum(self.vanished_dots);
        stats.wrong += sum(self.wrong);
        stats.not_finite += sum(self.not_finite);
        stats.most_cut_bits.merge(most(self.most_cut));
        stats.most_ulps.merge(most(self.most_ulps));
        stats.ulps += self.ulps.into_iter().map(u128::from).sum::<u128>();
        self.sums.end(&mut stats.sums);
    }
}

#[inline(always)]
fn is_finite(code: u32) -> bool {
    code << 1 < 0xFF << 24
}

/// Returns the place of a finite float32 among all of them; zeros of both signs have one place.
#[inline(always)]
fn steps(code: u32) -> i32 {
    let magnitude = (code & 0x7FFF_FFFF) as i32;
    if code >> 31 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use guardbit_num::{AlignedDot, AlignedRule, Decoded, FloatFormat, Incoming, Rounding};
    use proptest::prelude::*;

    use super::*;
    use crate::aligned::SquaredReals;
    use crate::aligned::wide::WideSum;
    use crate::fast::Kernels;
    use crate::options::Isa;

    fn code() -> impl Strategy<Value = u32> {
        let special =
            prop::sample::select(vec![0, 1 << 31, 1, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x7F7F_FFFF]);
        let near = (0..3u32, any::<bool>())
            .prop_map(|(step, negative)| (0x3F80_0000 + step) | (u32::from(negative) << 31));
        prop_oneof![any::<u32>(), special, near]
    }

    /// Returns the square of a real value, rounded to float64.
    fn add_square(sum: &mut WideSum, real: f64) {
        let Decoded::Finite(square) = (real * real).into() else { unreachable!("the value is finite") };
        sum.add(square);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(500)))]

        /// Words and statistics of lanes are those of their dot products, one by one.
        #[test]
        fn lanes_are_counted_one_by_one(
            dots in prop::collection::vec((code(), code(), 0..3u32, 0..3u32, 0..40u32), 1..5 * LANES),
            (scale, bias) in (0.1f32..10.0, prop::option::of(-1f32..1.0)),
            fraction_bits in 0..30u32,
        ) {
            let (result, half_even) = (FloatFormat::FLOAT32, Rounding::HalfEven);
            let rule = AlignedRule {
                fraction_bits,
                cut: Rounding::TowardZero,
                incoming: Incoming::Term,
                result,
                result_rounding: half_even,
                negative_zero: false,
                nan: 0,
            };
            let empty = FloatStats::new(false, &FloatDot::Aligned(AlignedDot { rule, terms: 1, promotion: None }));
            let (mut expected, mut words) = (empty.clone(), [(); 2].map(|()| Vec::<i32>::new()));
            let [mut signal, mut noise] = [WideSum::default(); 2];
            for &(delivered, exact, cut, vanished, bits) in &dots {
                let reals = [exact, delivered].map(f32::from_bits);
                for (words, real) in words.iter_mut().zip(reals) {
                    let scaled = real * scale;
                    let real = bias.map_or(scaled, |bias| scaled + bias);
                    words.push(if real.is_nan() { NAN } else { word_of(real) });
                }
                expected.dots += 1;
                expected.terms += 7;
                expected.cut_terms += u64::from(cut);
                expected.vanished_terms += u64::from(vanished);
                expected.cut_dots += u64::from(cut > 0);
                expected.vanished_dots += u64::from(vanished > 0);
                expected.most_cut_bits = expected.most_cut_bits.max(Most(bits.saturating_sub(fraction_bits).into()));
                // Two zeros are equal; of NaN, the codes count.
                expected.wrong += u64::from(reals[0] != reals[1] && delivered != exact);
                if !reals.iter().all(|real| real.is_finite()) {
                    expected.not_finite += 1;
                    continue;
                }
                let place = |real: f32| i64::from(real.abs().to_bits()) * if real.is_sign_negative() { -1 } else { 1 };
                let ulps = place(reals[0]).abs_diff(place(reals[1]));
                expected.ulps += u128::from(ulps);
                expected.most_ulps = expected.most_ulps.max(Most(ulps));
                let [exact, delivered] = reals.map(f64::from);
                add_square(&mut signal, exact);
                add_square(&mut noise, exact - delivered);
            }
            expected.sums = SquaredReals { signal, noise };
            let epilogue = Epilogue { scales: [scale; LANES], biases: [bias.unwrap_or(-0.0); LANES] };
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let (mut tally, mut stats) = (Tally::new(fraction_bits), empty.clone());
                let mut own = [(); 2].map(|()| Vec::<i32>::new());
                for dots in dots.chunks(LANES) {
                    let mut outcomes = Outcomes::default();
                    for (lane, &(delivered, exact, cut_terms, vanished_terms, exact_fraction_bits)) in dots.iter().enumerate() {
                        let lost = AlignedSum { code: 0, cut_terms, vanished_terms, exact_fraction_bits };
                        let (register, required) = (None, None);
                        outcomes.set(lane, &Outcome { delivered, exact, lost, register, required });
                    }
                    let (mut made, tally) = (Words::default(), Some(&mut tally));
                    let finish = Finish { outcomes: &outcomes, epilogue: &epilogue, words: &mut made, tally };
                    Kernels::choose(Some(isa)).run(finish);
                    own.iter_mut().zip(&made).for_each(|(own, made)| own.extend(&made[..dots.len()]));
                }
                tally.end(&mut stats, dots.len() as u64, 7);
                prop_assert_eq!(&own, &words, "{:?}", isa);
                prop_assert_eq!(&stats, &expected, "{:?}", isa);
            }
        }
    }
}
