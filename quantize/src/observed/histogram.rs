//! Histograms of real values with bins whose width is a power of two.

/// Greatest number of bins on either side of 0.
const MOST_BINS: usize = 1 << 13;

/// Histogram of values.
///
/// Bins are `2^exponent` wide and meet at 0. Bin `i` of a side holds magnitudes in
/// `(i * width, (i + 1) * width]`; 0 is counted separately. The exponent is the least for which the greatest
/// magnitude lies within 8192 bins. When it grows, adjacent bins are joined in pairs. No count is lost, and
/// the histogram is a function of the values alone, in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    exponent: Option<i32>,
    zeros: u64,
    negative: Vec<u64>,
    positive: Vec<u64>,
}

/// Counts in bins of equal width, from the least value to the greatest.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniform {
    /// Counts, in the order of the values.
    pub counts: Vec<u64>,
    /// Start of the first bin.
    pub start: f64,
    /// Width of a bin.
    pub width: f64,
}

impl Uniform {
    /// Returns the start of bin `index`, which is the end of the previous bin.
    pub fn edge(&self, index: usize) -> f64 {
        self.start + self.width * index as f64
    }
}

impl Histogram {
    /// Returns the number of values.
    pub fn total(&self) -> u64 {
        self.zeros + self.negative.iter().chain(&self.positive).sum::<u64>()
    }

    /// Returns the number of zeros.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Returns the width of a bin; `None` before a value other than 0 was seen.
    pub fn width(&self) -> Option<f64> {
        self.exponent.map(|exponent| f64::from(exponent).exp2())
    }

    /// Returns the middle of every bin that holds values other than 0, with its count, from the least value
    /// to the greatest.
    pub fn middles(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let width = self.width().unwrap_or(0.0);
        let middle = move |index: usize| (index as f64 + 0.5) * width;
        let negative = self.negative.iter().enumerate().rev().map(move |(i, &n)| (-middle(i), n));
        let positive = self.positive.iter().enumerate().map(move |(i, &n)| (middle(i), n));
        negative.chain(positive).filter(|&(_, count)| count > 0)
    }

    /// Returns counts of magnitudes from 0 on, in at most `most` bins; 0 belongs to the first one.
    pub fn magnitudes(&self, most: usize) -> Uniform {
        let (joined, bins) = self.joined(most);
        let mut counts = vec![0; bins];
        for side in [&self.negative, &self.positive] {
            side.iter().enumerate().for_each(|(i, count)| counts[i >> joined] += count);
        }
        self.first(&mut counts);
        Uniform { counts, start: 0.0, width: self.width_of(joined) }
    }

    /// Returns counts of values, in at most `most` bins on either side of 0; 0 belongs to the first bin
    /// above.
    pub fn two_sided(&self, most: usize) -> Uniform {
        let (joined, bins) = self.joined(most);
        let mut counts = vec![0; 2 * bins];
        self.negative.iter().enumerate().for_each(|(i, count)| counts[bins - 1 - (i >> joined)] += count);
        self.positive.iter().enumerate().for_each(|(i, count)| counts[bins + (i >> joined)] += count);
        self.first(&mut counts[bins..]);
        let width = self.width_of(joined);
        Uniform { counts, start: -(bins as f64) * width, width }
    }

    /// Returns counts of values in an odd number of bins. The middle one is around 0, with at most `most`
    /// bins on either side.
    pub fn centred(&self, most: usize) -> Uniform {
        // Bins of half the width: the middle bin joins the first bin of each side.
        let (joined, halves) = self.joined(2 * most);
        let sides = halves / 2;
        let bin = |index: usize| (index >> joined).div_ceil(2);
        let mut counts = vec![0; 2 * sides + 1];
        self.negative.iter().enumerate().for_each(|(i, count)| counts[sides - bin(i)] += count);
        self.positive.iter().enumerate().for_each(|(i, count)| counts[sides + bin(i)] += count);
        counts[sides] += self.zeros;
        let width = 2.0 * self.width_of(joined);
        Uniform { counts, start: -(sides as f64 + 0.5) * width, width }
    }

    /// Widens the bins if necessary so that a magnitude has a bin.
    pub(super) fn reach(&mut self, magnitude: f64) {
        if magnitude > 0.0 {
            let wanted = least_exponent(magnitude);
            self.widen(self.exponent.map_or(wanted, |exponent| exponent.max(wanted)));
        }
    }

    /// Counts a value whose magnitude has a bin.
    pub(super) fn count(&mut self, value: f64) {
        let Some(width) = self.width().filter(|_| value != 0.0) else {
            self.zeros += 1;
            return;
        };
        // The width is a power of two, so the quotient is exact.
        let bin = (value.abs() / width).ceil() as usize - 1;
        let side = if value < 0.0 { &mut self.negative } else { &mut self.positive };
        if side.len() <= bin {
            side.resize(bin + 1, 0);
        }
        side[bin] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        let Some(exponent) = other.exponent else { return };
        self.widen(self.exponent.map_or(exponent, |own| own.max(exponent)));
        let joined = self.exponent.map_or(0, |own| own.abs_diff(exponent));
        for (mine, others) in [(&mut self.negative, &other.negative), (&mut self.positive, &other.positive)] {
            add_joined(mine, others, joined);
        }
    }

    /// Joins bins until they are `2^exponent` wide.
    fn widen(&mut self, exponent: i32) {
        let joined = self.exponent.map_or(0, |own| exponent.abs_diff(own));
        self.exponent = Some(exponent);
        if joined > 0 {
            for side in [&mut self.negative, &mut self.positive] {
                let narrow = std::mem::take(side);
                add_joined(side, &narrow, joined);
            }
        }
    }

    /// Returns how often bins are joined in pairs, and the number of bins of the wider side afterwards: at
    /// most `most`, at least 1.
    fn joined(&self, most: usize) -> (u32, usize) {
        let longest = self.negative.len().max(self.positive.len());
        let bins = |joined: u32| longest.div_ceil(1 << joined).max(1);
        let joined = (0..usize::BITS - 1).find(|&joined| bins(joined) <= most.max(1)).unwrap_or(0);
        (joined, bins(joined))
    }

    fn first(&self, counts: &mut [u64]) {
        if let Some(first) = counts.first_mut() {
            *first += self.zeros;
        }
    }

    fn width_of(&self, joined: u32) -> f64 {
        self.width().unwrap_or(0.0) * f64::from(joined).exp2()
    }
}

/// Returns the least power of two for which a magnitude above 0 lies within [`MOST_BINS`] bins.
fn least_exponent(magnitude: f64) -> i32 {
    let mut exponent = magnitude.log2().ceil() as i32 - MOST_BINS.ilog2() as i32;
    let fits = |exponent: i32| magnitude <= f64::from(exponent).exp2() * MOST_BINS as f64;
    while fits(exponent - 1) {
        exponent -= 1;
    }
    while !fits(exponent) {
        exponent += 1;
    }
    exponent
}

fn add_joined(mine: &mut Vec<u64>, others: &[u64], joined: u32) {
    for (index, &count) in others.iter().enumerate() {
        let bin = if joined < usize::BITS { index >> joined } else { 0 };
        if mine.len() <= bin {
            mine.resize(bin + 1, 0);
        }
        mine[bin] += count;
    }
}
