//! The damped form `S + d` of what a layer's inputs say, made ready to choose codes by.

use super::matrix::{Cholesky, Gram, Matrix, add, dot, fast_dot};
use super::moments::{Moments, Products};

/// `S + d`: a matrix with its factors, or with few windows of many cells these windows.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Matrix {
        matrix: Matrix,
        /// Of the matrix in the order of decisions.
        ordered: Cholesky,
        plain: Cholesky,
    },
    Windows {
        windows: Gram,
        damping: f64,
        diagonal: Vec<f64>,
        /// By cell, what the carried windows are multiplied with: see [`shares`].
        shares: Gram,
        /// Of `B B^T + d`.
        inner: Cholesky,
    },
}

/// What is missing to the steps of all cells, as far as the form's product with it needs it: that product, or what is missing in each
/// window.
#[derive(Debug, Clone, Default)]
pub(super) struct Slope(Vec<f64>);

impl Form {
    /// The form, and its cells in the order of the factor: the last one is decided first. `None` where the inputs hold no finite
    /// values.
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

    /// The x of `(S + d) x = right`.
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

    /// Decides all cells of `order`, the last one first: `decide` gets a cell and the step that makes good what those before it lack, and
    /// returns what the cell lacks of its own step then.
    pub fn decide(&self, order: &[usize], steps: &[f64], mut decide: impl FnMut(usize, f64) -> f64) {
        match self {
            Self::Matrix { ordered, .. } => {
                // By row of the factor: the sum over rows below of their entry in this column, times what is missing there.
                let mut carried = vec![0.0; order.len()];
                for row in (0..order.len()).rev() {
                    let cell = order[row];
                    let entries = ordered.row(row);
                    let missing = decide(cell, steps[cell] + carried[row] / entries[row]);
                    add(&mut carried[..row], entries, missing);
                }
            }
            Self::Windows { windows, shares, .. } => {
                // What is missing in each window.
                let mut carried = vec![0.0; windows.rows()];
                for &cell in order.iter().rev() {
                    let missing = decide(cell, steps[cell] + fast_dot(&carried, shares.column(cell)));
                    add(&mut carried, windows.column(cell), missing);
                }
            }
        }
    }

    /// The form's value of what is missing; `order` is that of the form's cells.
    pub fn value(&self, order: &[usize], missing: &[f64]) -> f64 {
        match self {
            // With the form `L L^T`: the square of `L^T` times what is missing.
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

    /// The form's value of what is missing, and its slope.
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

    /// The slope at a cell.
    pub fn at(&self, slope: &Slope, missing: &[f64], cell: usize) -> f64 {
        match self {
            Self::Matrix { .. } => slope.0[cell],
            Self::Windows { windows, damping, .. } => {
                fast_dot(windows.column(cell), &slope.0) + damping * missing[cell]
            }
        }
    }

    /// Takes account of a cell that lacks `change` less.
    pub fn change(&self, slope: &mut Slope, cell: usize, change: f64) {
        match self {
            Self::Matrix { matrix, .. } => add(&mut slope.0, matrix.row(cell), -change),
            Self::Windows { windows, .. } => add(&mut slope.0, windows.column(cell), -change),
        }
    }

    /// An entry of the diagonal.
    pub fn curve(&self, cell: usize) -> f64 {
        match self {
            Self::Matrix { matrix, .. } => matrix.row(cell)[cell],
            Self::Windows { diagonal, .. } => diagonal[cell],
        }
    }

    /// The matrix, if it is there.
    pub fn matrix(&self) -> Option<&Matrix> {
        match self {
            Self::Matrix { matrix, .. } => Some(matrix),
            Self::Windows { .. } => None,
        }
    }
}

/// By cell i, the y with `carried . y` = the sum over cells j decided before of `L_ji / L_ii` times what is missing there: L is the
/// Cholesky factor of `B^T B + d` in the order of decisions, and `carried` the sum of their columns of B times what is missing.
///
/// With the cells before i in `order` eliminated, the rest of the form is `d + B^T M B` with `M = (1 + sum of their b b^T / d)^-1`, so
/// `L_ji L_ii = b_j^T M b_i` and `L_ii^2 = d + b_i^T M b_i`. From one cell to the next M follows by Sherman and Morrison's formula.
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
