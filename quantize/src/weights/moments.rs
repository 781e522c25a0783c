//! What an output channel reads, as far as its squared error depends on it.

use guardbit_graph::{OutputPosition, Tap, Window};
use rayon::prelude::*;

use super::matrix::Matrix;

/// Most windows that are looked at, whatever their size.
pub const MOST_WINDOWS: usize = 4096;
/// Windows per cell that are looked at: so many say enough of a covariance.
const WINDOWS_PER_CELL: usize = 12;

/// Second moments of pairs of windows: `real`, what the float network reads there, and `seen`, what the codes stand for.
///
/// With a bias that takes up the mean error, the squared error of weights v on the seen values, against weights w on the
/// real ones, is `E = w^T R w - 2 w^T C v + v^T S v` with the covariances R of real with real, C of real with seen, and S of
/// seen with seen values. Without a bias the same holds with moments that are not centred.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Mean of each cell's real values.
    pub real_mean: Vec<f64>,
    /// Mean of each cell's seen values.
    pub seen_mean: Vec<f64>,
    /// R.
    pub real: Matrix,
    /// C: rows are real cells, columns seen ones.
    pub cross: Matrix,
    /// S.
    pub seen: Matrix,
}

/// Windows of values, one row of `terms` values each.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    terms: usize,
    values: Vec<f32>,
}

impl Windows {
    /// What the windows of one group of output channels read of `samples`, cells in the order of the weights; padding reads
    /// 0. Where there are more than 12 per cell, or [`MOST_WINDOWS`], every n-th is taken.
    pub fn of_group(window: &Window, group: usize, samples: &[Vec<f32>]) -> Self {
        let (terms, [rows, cols, _]) = (window.terms(), window.output);
        let channel = group * (window.channels() / window.groups.max(1));
        let places = window.batch * rows * cols;
        let all = samples.len() * places;
        let most = (WINDOWS_PER_CELL * terms).clamp(MOST_WINDOWS / 8, MOST_WINDOWS);
        let step = all.div_ceil(most).max(1);
        let mut values = Vec::with_capacity(all.div_ceil(step) * terms);
        for index in (0..all).step_by(step) {
            let (sample, place) = (&samples[index / places], index % places);
            let (n, at) = (place / (rows * cols), place % (rows * cols));
            let out = OutputPosition { n, h: at / cols, w: at % cols, c: channel };
            values.extend((0..terms).map(|k| match window.tap(out, window.kernel_position(k)) {
                Tap::Input(at) => sample[at],
                Tap::Padding => 0.0,
            }));
        }
        Self { terms, values }
    }

    /// The same with a function of every value; it has to keep 0, which padding reads.
    pub fn map(&self, function: impl Fn(f32) -> f32 + Sync) -> Self {
        Self { terms: self.terms, values: self.values.par_iter().map(|&value| function(value)).collect() }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.terms.max(1))
    }

    fn count(&self) -> usize {
        self.values.len() / self.terms.max(1)
    }

    /// Mean of each cell.
    pub fn mean(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.terms];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        sums.iter().map(|sum| sum / self.count().max(1) as f64).collect()
    }

    /// Mean products of cells here and there, each less its mean.
    fn products(&self, own: &[f64], other: &Self, others: &[f64]) -> Matrix {
        let row = |i: usize| {
            let mut sums = vec![0.0; self.terms];
            for (mine, theirs) in self.rows().zip(other.rows()) {
                let value = f64::from(mine[i]) - own[i];
                if value != 0.0 {
                    let centred = theirs.iter().zip(others).map(|(&x, mean)| f64::from(x) - mean);
                    sums.iter_mut().zip(centred).for_each(|(sum, other)| *sum += value * other);
                }
            }
            sums.iter_mut().for_each(|sum| *sum /= self.count().max(1) as f64);
            sums
        };
        // Each row is summed by itself, in the order of the windows.
        let rows: Vec<Vec<f64>> = (0..self.terms).into_par_iter().map(row).collect();
        Matrix::new(self.terms, rows.concat())
    }
}

impl Moments {
    /// The moments of real windows and of the same ones as they are seen. `centred` takes the means off: for layers whose bias
    /// takes up the mean error.
    pub fn new(real: &Windows, seen: &Windows, centred: bool) -> Self {
        let (real_mean, seen_mean) = (real.mean(), seen.mean());
        let zero = vec![0.0; real.terms];
        let (a, b) = if centred { (&real_mean, &seen_mean) } else { (&zero, &zero) };
        let seen_products = seen.products(b, seen, b);
        let (real_products, cross) = match real == seen {
            true => (seen_products.clone(), seen_products.clone()),
            false => (real.products(a, real, a), real.products(a, seen, b)),
        };
        Self { real: real_products, cross, seen: seen_products, real_mean, seen_mean }
    }

    /// The mean squared error of weights `seen` against real weights `real`.
    pub fn error(&self, real: &[f64], seen: &[f64]) -> f64 {
        self.real.form(real, real) - 2.0 * self.cross.form(real, seen) + self.seen.form(seen, seen)
    }

    /// What a channel's bias has to be raised by, so that outputs have the same mean: `w . E[real] - v . E[seen]`.
    pub fn mean_error(&self, real: &[f64], seen: &[f64]) -> f64 {
        super::bias::mean_error([real, seen], [&self.real_mean, &self.seen_mean])
    }
}
