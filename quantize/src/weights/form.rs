//! Damped quadratic form `S + d` of a layer's inputs, prepared for choosing codes.

use super::matrix::{Cholesky, Gram, Matrix, add, dot, fast_dot};
use super::moments::{Moments, Products};

/// Quadratic form `S + d`: a matrix with its factors, or the windows themselves if there are few windows of
/// many cells.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Matrix {
        matrix: Matrix,
        /// Factor of the matrix in the order of decisions.
        ordered: Cholesky,
        plain: Cholesky,
    },
    Windows {
        windows: Gram,
        damping: f64,
        diagonal: Vec<f64>,
        /// Vector per cell by which the carried windows are multiplied: see [`shares`].
        shares: Gram,
        /// Factor of `B B^T + d`.
        inner: Cholesky,
    },
}

/// State from which the slope of the form at the residual is computed: the product of form and residual, or
/// the residual of each window.
#[derive(Debug, Clone, Default)]
pub(super) struct Slope(Vec<f64>);

impl Form {
    /// Returns the form, and its cells in the order of the factor: the last one is decided first. Returns
    /// `None` if the inputs have no finite values.
    pub fn new(moments: &Moments, damping: f64) -> Option<(Self, Vec<usize>)> {
        let sorted = |diagonal: &[f64]| {
            let mut order: Vec<usize> = (0..diagonal.len()).collect();
            order.sort_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b]).then(a.cmp(&b)));
            order
        };
        match &moments.products {
            Products::Matrices { seen, .. } => {
                let matrix = seen.clone().damped(damping);
                let order =
                    sorted(&(0..matrix.size()).map(|cell| matrix.row(cell)[cell]).collect::<Vec<_>>());
                let (ordered, plain) =
                    rayon::join(|| matrix.permuted(&order).cholesky(), || matrix.cholesky());
                Some((Self::Matrix { ordered: ordered?, plain: plain?, matrix }, order))
            }
            Products::Windows { seen, .. } => {
                let square = |cell: usize| fast_dot(seen.column(cell), seen.column(cell));
                let diagonal: Vec<f64> = (0..seen.size()).map(|cell| square(cell) + damping).collect();
                let order = sorted(&diagonal);
                let inner = seen.outer(damping).cholesky()?;
                let shares = shares(seen, damping, &order);
                Some((Self::Windows { windows: seen.clone(), damping, diagonal, shares, inner }, order))
            }
        }
    }

    /// Returns the x of `(S + d) x = right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        match self {
            Self::Matrix { plain, .. } => plain.solve(right),
            // Woodbury: (B^T B + d)^-1 = (1 - B^T (B B^T + d)^-1 B) / d.
            Self::Windows { windows, damping, inner, .. } => {
                let within = windows.transposed_times(&inner.solve(&windows.times(right)));
                right.iter().zip(within).map(|(right, within)| (right - within) / damping).collect()
            }
        }
    }

    /// Decides all cells of `order`, the last one first. `decide` gets a cell and the step that compensates
    /// for the residuals of the cells before it, and returns the cell's residual relative to its own step.
    pub fn decide(&self, order: &[usize], steps: &[f64], mut decide: impl FnMut(usize, f64) -> f64) {
        match self {
            Self::Matrix { ordered, .. } => {
                // Per row of the factor: the sum over the rows below of their entry in this column, times
                // their residual.
                let mut carried = vec![0.0; order.len()];
                for row in (0..order.len()).rev() {
                    let cell = order[row];
                    let entries = ordered.row(row);
                    let missing = decide(cell, steps[cell] + carried[row] / entries[row]);
                    add(&mut carried[..row], entries, missing);
                }
            }
            Self::Windows { windows, shares, .. } => {
                // Residual of each window.
                let mut carried = vec![0.0; windows.rows()];
                for &cell in order.iter().rev() {
                    let missing = decide(cell, steps[cell] + fast_dot(&carried, shares.column(cell)));
                    add(&mut carried, windows.column(cell), missing);
                }
            }
        }
    }

    /// Returns the form's value at the residual; `order` is the order of the form's cells.
    pub fn value(&self, order: &[usize], missing: &[f64]) -> f64 {
        match self {
            // With the form `L L^T`, the value is the square of `L^T` times the residual.
            Self::Matrix { ordered, .. } => {
                let mut made = vec![0.0; order.len()];
                for (row, &cell) in order.iter().enumerate() {
                    add(&mut made[..=row], ordered.row(row), missing[cell]);
                }
                fast_dot(&made, &made)
            }
            Self::Windows { .. } => self.slope(missing).0,
        }
    }

    /// Returns the form's value at the residual, and its slope.
    pub fn slope(&self, missing: &[f64]) -> (f64, Slope) {
        match self {
            Self::Matrix { matrix, .. } => {
                let slope = matrix.times(missing);
                (dot(missing, &slope), Slope(slope))
            }
            Self::Windows { windows, damping, .. } => {
                let made = windows.times(missing);
                (fast_dot(&made, &made) + damping * fast_dot(missing, missing), Slope(made))
            }
        }
    }

    /// Returns the slope at a cell.
    pub fn at(&self, slope: &Slope, missing: &[f64], cell: usize) -> f64 {
        match self {
            Self::Matrix { .. } => slope.0[cell],
            Self::Windows { windows, damping, .. } => {
                fast_dot(windows.column(cell), &slope.0) + damping * missing[cell]
            }
        }
    }

    /// Updates the slope after a cell's residual has decreased by `change`.
    pub fn change(&self, slope: &mut Slope, cell: usize, change: f64) {
        match self {
            Self::Matrix { matrix, .. } => add(&mut slope.0, matrix.row(cell), -change),
            Self::Windows { windows, .. } => add(&mut slope.0, windows.column(cell), -change),
        }
    }

    /// Returns an entry of the diagonal.
    pub fn curve(&self, cell: usize) -> f64 {
        match self {
            Self::Matrix { matrix, .. } => matrix.row(cell)[cell],
            Self::Windows { diagonal, .. } => diagonal[cell],
        }
    }

    /// Returns the matrix, if the form stores one.
    pub fn matrix(&self) -> Option<&Matrix> {
        match self {
            Self::Matrix { matrix, .. } => Some(matrix),
            Self::Windows { .. } => None,
        }
    }
}

/// Returns, for each cell i, the y such that `carried . y` is the sum of `L_ji / L_ii` times the residual of
/// j, over all cells j decided before. L is the Cholesky factor of `B^T B + d` in the order of decisions, and
/// `carried` is the sum of the columns of B of these cells times their residuals.
///
/// With the cells before i in `order` eliminated, the rest of the form is `d + B^T M B` with `M = (1 + sum of
/// their b b^T / d)^-1`. Therefore `L_ji L_ii = b_j^T M b_i` and `L_ii^2 = d + b_i^T M b_i`. The
/// Sherman-Morrison formula updates M from one cell to the next.
fn shares(windows: &Gram, damping: f64, order: &[usize]) -> Gram {
    let rows = windows.rows();
    let mut inverse: Vec<f64> =
        (0..rows * rows).map(|at| f64::from(u8::from(at % (rows + 1) == 0))).collect();
    let mut shares = vec![0.0; rows * windows.size()];
    for &cell in order {
        let column = windows.column(cell);
        let made: Vec<f64> = inverse.chunks_exact(rows).map(|row| fast_dot(row, column)).collect();
        let square = damping + fast_dot(&made, column);
        for (share, made) in shares[cell * rows..][..rows].iter_mut().zip(&made) {
            *share = made / square;
        }
        for (row, &factor) in inverse.chunks_exact_mut(rows).zip(&made) {
            add(row, &made, -factor / square);
        }
    }
    Gram::new(rows, shares)
}
