//! Inputs of an output channel, as far as its squared error depends on them.

use std::sync::Arc;

use guardbit_graph::{OutputPosition, Tap, Window};
use rayon::prelude::*;

use super::matrix::{Gram, Matrix, dot, fast_dot};

/// Maximum number of windows used, for any window size.
pub const MOST_WINDOWS: usize = 4096;
/// Number of windows used per cell: enough to estimate a covariance.
const WINDOWS_PER_CELL: usize = 12;

/// Second moments of pairs of windows: `real` values of the float network, and `seen` values, which the codes
/// represent.
///
/// With a bias that absorbs the mean error, the squared error of weights v on the seen values, against
/// weights w on the real values, is `E = w^T R w - 2 w^T C v + v^T S v`. R, C and S are the covariances
/// real-real, real-seen and seen-seen. Without a bias the formula holds with moments that are not centred.
///
/// If there are few windows, the windows themselves may be kept: A with `R = A^T A`, and B with `C = A^T B`
/// and `S = B^T B`.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Mean of each cell's real values.
    pub real_mean: Vec<f64>,
    /// Mean of each cell's seen values.
    pub seen_mean: Vec<f64>,
    pub(super) products: Products,
    centred: bool,
}

/// Matrices R, C and S, or the windows from which they follow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Products {
    /// Rows of `cross` are real cells, columns are seen cells.
    Matrices {
        real: Arc<Matrix>,
        cross: Matrix,
        seen: Matrix,
    },
    Windows {
        real: Arc<Gram>,
        seen: Gram,
    },
}

/// Windows of values, one row of `terms` values each.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    terms: usize,
    values: Vec<f32>,
}

impl Windows {
    /// Returns the windows that one group of output channels reads from `samples`, with cells in the order of
    /// the weights. Padding reads 0. If there are more than 12 windows per cell, or more than
    /// [`MOST_WINDOWS`], a subset spread over all samples and places is taken.
    pub fn of_group(window: &Window, group: usize, samples: &[Vec<f32>]) -> Self {
        let (terms, [rows, cols, _]) = (window.terms(), window.output);
        let channel = group * (window.channels() / window.groups.max(1));
        let places = window.batch * rows * cols;
        let all = samples.len() * places;
        let most = (WINDOWS_PER_CELL * terms).clamp(MOST_WINDOWS / 4, MOST_WINDOWS);
        let mut values = Vec::with_capacity(all.min(most) * terms);
        for (sample, place) in spread(samples.len(), places, most) {
            let sample = &samples[sample];
            let (n, at) = (place / (rows * cols), place % (rows * cols));
            let out = OutputPosition { n, h: at / cols, w: at % cols, c: channel };
            values.extend((0..terms).map(|k| match window.tap(out, window.kernel_position(k)) {
                Tap::Input(at) => sample[at],
                Tap::Padding => 0.0,
            }));
        }
        Self { terms, values }
    }

    /// Returns the windows with `function` applied to every value; it must keep 0, which padding reads.
    pub fn map(&self, function: impl Fn(f32) -> f32 + Sync) -> Self {
        Self { terms: self.terms, values: self.values.par_iter().map(|&value| function(value)).collect() }
    }

    /// Returns at most `most` of the windows, evenly spread.
    pub fn some(&self, most: usize) -> Self {
        let count = self.count().min(most);
        let row =
            |index: usize| self.values[index * self.count() / count * self.terms..][..self.terms].iter();
        Self { terms: self.terms, values: (0..count).flat_map(row).copied().collect() }
    }

    /// Returns the number of windows.
    pub fn count(&self) -> usize {
        self.values.len() / self.terms.max(1)
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.terms.max(1))
    }

    /// Returns the mean of each cell.
    pub fn mean(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.terms];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        sums.iter().map(|sum| sum / self.count().max(1) as f64).collect()
    }

    /// Returns the values minus the mean of their cell.
    fn less(&self, mean: &[f64]) -> Vec<f64> {
        let row =
            |row: &[f32]| row.iter().zip(mean).map(|(&x, mean)| f64::from(x) - mean).collect::<Vec<_>>();
        self.rows().flat_map(row).collect()
    }
}

/// Returns the values by cell, each divided by the square root of the number of windows. Mean products of
/// cells are then scalar products.
fn by_cell(values: &[f64], terms: usize) -> Gram {
    let windows = values.len() / terms.max(1);
    let root = (windows.max(1) as f64).sqrt();
    let cell = |cell: usize| values.iter().skip(cell).step_by(terms.max(1)).map(move |value| value / root);
    Gram::new(windows, (0..terms).flat_map(cell).collect())
}

/// Returns the mean products of cells of two sets of windows with `terms` cells each.
fn products(mine: &[f64], theirs: &[f64], terms: usize) -> Matrix {
    let width = terms.max(1);
    let count = (mine.len() / width).max(1) as f64;
    let row = |i: usize| {
        let mut sums = vec![0.0; terms];
        for (mine, theirs) in mine.chunks_exact(width).zip(theirs.chunks_exact(width)) {
            let value = mine[i];
            if value != 0.0 {
                sums.iter_mut().zip(theirs).for_each(|(sum, other)| *sum += value * other);
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= count);
        sums
    };
    // Each row is summed independently, in the order of the windows.
    let rows: Vec<Vec<f64>> = (0..terms).into_par_iter().map(row).collect();
    Matrix::new(terms, rows.concat())
}

/// Returns at most `most` pairs of a sample and one of its places. Samples are taken in order, and places by
/// the fractional parts of multiples of the golden ratio. A fixed step would hit equal rows and columns
/// repeatedly.
///
/// Knuth, "The Art of Computer Programming", 6.4 (Fibonacci hashing).
fn spread(samples: usize, places: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let all = samples * places;
    let count = all.min(most);
    (0..count).map(move |index| {
        if count == all {
            return (index / places, index % places);
        }
        let part = GOLDEN.wrapping_mul(index as u64);
        let place = (u128::from(part) * places as u128) >> 64;
        (index * samples / count, place as usize)
    })
}

impl Moments {
    /// Returns the moments of real windows and of the corresponding seen windows. `centred` subtracts the
    /// means, for layers whose bias absorbs the mean error.
    pub fn new(real: &Windows, seen: &Windows, centred: bool) -> Self {
        Self::kept(real, seen, centred, false)
    }

    /// Returns the moments of windows whose real and seen values are equal, with the least work: if there are
    /// at most half as many windows as cells, the windows are kept. Rounding differs from [`new`](Self::new).
    pub fn of_few(windows: &Windows, centred: bool) -> Self {
        Self::kept(windows, windows, centred, (1..=windows.terms / 2).contains(&windows.count()))
    }

    fn kept(real: &Windows, seen: &Windows, centred: bool, windows: bool) -> Self {
        let mean = real.mean();
        let zero = vec![0.0; real.terms];
        let values = real.less(if centred { &mean } else { &zero });
        let products = if windows {
            let own = by_cell(&values, real.terms);
            Products::Windows { seen: own.clone(), real: Arc::new(own) }
        } else {
            let own = products(&values, &values, real.terms);
            Products::Matrices { cross: own.clone(), seen: own.clone(), real: Arc::new(own) }
        };
        let same = Self { products, seen_mean: mean.clone(), real_mean: mean, centred };
        if real == seen { same } else { same.seen_as(real, seen) }
    }

    /// Returns the moments of these real windows with other seen windows.
    pub fn seen_as(&self, real: &Windows, seen: &Windows) -> Self {
        let seen_mean = seen.mean();
        let zero = vec![0.0; real.terms];
        let (a, b) = if self.centred { (&self.real_mean, &seen_mean) } else { (&zero, &zero) };
        let b = seen.less(b);
        let products = match &self.products {
            Products::Matrices { real: own, .. } => {
                let a = real.less(a);
                let (cross, seen) = (products(&a, &b, real.terms), products(&b, &b, real.terms));
                Products::Matrices { real: own.clone(), cross, seen }
            }
            Products::Windows { real: own, .. } => {
                Products::Windows { real: own.clone(), seen: by_cell(&b, real.terms) }
            }
        };
        Self { products, seen_mean, real_mean: self.real_mean.clone(), centred: self.centred }
    }

    /// Returns the mean squared error of weights `seen` against real weights `real`.
    pub fn error(&self, real: &[f64], seen: &[f64]) -> f64 {
        let own = match &self.products {
            Products::Matrices { real: matrix, .. } => matrix.form(real, real),
            Products::Windows { real: windows, .. } => {
                let made = windows.times(real);
                dot(&made, &made)
            }
        };
        own + self.excess(real, seen)
    }

    /// Returns the mean squared error without the part that does not depend on `seen` and the seen windows.
    pub fn excess(&self, real: &[f64], seen: &[f64]) -> f64 {
        match &self.products {
            Products::Matrices { cross, seen: matrix, .. } => {
                matrix.form(seen, seen) - 2.0 * cross.form(real, seen)
            }
            Products::Windows { real: windows, seen: as_seen } => {
                let (wanted, made) = (windows.times(real), as_seen.times(seen));
                fast_dot(&made, &made) - 2.0 * fast_dot(&wanted, &made)
            }
        }
    }

    /// Adds `C^T w` to `sums`.
    pub(super) fn add_cross(&self, weights: &[f64], sums: &mut [f64]) {
        match &self.products {
            Products::Matrices { cross, .. } => {
                for (i, weight) in weights.iter().enumerate() {
                    sums.iter_mut().zip(cross.row(i)).for_each(|(sum, cross)| *sum += weight * cross);
                }
            }
            Products::Windows { real, seen } => {
                let wanted = seen.transposed_times(&real.times(weights));
                sums.iter_mut().zip(wanted).for_each(|(sum, wanted)| *sum += wanted);
            }
        }
    }

    /// Returns the mean of the diagonal of S.
    pub(super) fn seen_mean_diagonal(&self) -> f64 {
        match &self.products {
            Products::Matrices { seen, .. } => seen.mean_diagonal(),
            Products::Windows { seen, .. } => seen.mean_diagonal(),
        }
    }

    /// Returns the amount by which a channel's bias must increase so that its outputs keep their mean: `w .
    /// E[real] - v . E[seen]`.
    pub fn mean_error(&self, real: &[f64], seen: &[f64]) -> f64 {
        super::bias::mean_error([real, seen], [&self.real_mean, &self.seen_mean])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows are taken from the whole image, whatever its size: every row, every column and every sample
    /// equally often.
    #[test]
    fn windows_are_of_all_places() {
        for (samples, rows, cols, most) in
            [(256, 20, 20, 512), (256, 10, 10, 1728), (64, 16, 8, 500), (7, 3, 3, 10)]
        {
            let pairs: Vec<(usize, usize)> = spread(samples, rows * cols, most).collect();
            assert_eq!(pairs.len(), most.min(samples * rows * cols));
            let count = |test: &dyn Fn(&(usize, usize)) -> bool| {
                pairs.iter().filter(|pair| test(pair)).count() as f64
            };
            let fair = |of: usize, what: &str, counts: Vec<f64>| {
                let mean = pairs.len() as f64 / of as f64;
                let worst = counts.iter().map(|count| (count - mean).abs()).fold(0.0, f64::max);
                assert!(worst <= 0.25 * mean + 1.0, "{what} of {rows}x{cols}: {counts:?}");
            };
            fair(rows, "rows", (0..rows).map(|row| count(&|pair| pair.1 / cols == row)).collect());
            fair(cols, "columns", (0..cols).map(|col| count(&|pair| pair.1 % cols == col)).collect());
            fair(samples, "samples", (0..samples).map(|sample| count(&|pair| pair.0 == sample)).collect());
        }
        assert_eq!(spread(2, 3, 9).collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    }
}
