//! Symmetric matrices, as far as least squares need them.

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    size: usize,
    values: Vec<f64>,
}

/// The lower triangle L of `A = L L^T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    lower: Matrix,
}

impl Matrix {
    /// A matrix of those values, row by row.
    ///
    /// # Panics
    /// If they are not `size * size`.
    pub fn new(size: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), size * size, "a square matrix");
        Self { size, values }
    }

    /// Rows, and columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.size..][..self.size]
    }

    /// The mean of the diagonal; 0 of an empty matrix.
    pub fn mean_diagonal(&self) -> f64 {
        (0..self.size).map(|i| self.row(i)[i]).sum::<f64>() / self.size.max(1) as f64
    }

    /// The same with `value` added on the diagonal.
    pub fn damped(mut self, value: f64) -> Self {
        (0..self.size).for_each(|i| self.values[i * self.size + i] += value);
        self
    }

    /// The product with a vector.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|i| dot(self.row(i), vector)).collect()
    }

    /// `left^T A right`.
    pub fn form(&self, left: &[f64], right: &[f64]) -> f64 {
        dot(left, &self.times(right))
    }

    /// Rows and columns in another order: the new one's `i` is `order[i]` here.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let row = |&i: &usize| order.iter().map(move |&j| self.row(i)[j]);
        Self { size: self.size, values: order.iter().flat_map(row).collect() }
    }

    /// The Cholesky factor; `None` unless the matrix is positive definite.
    ///
    /// Golub and Van Loan, "Matrix Computations", 4.2.5 (row by row).
    pub fn cholesky(&self) -> Option<Cholesky> {
        let mut lower = Self { size: self.size, values: vec![0.0; self.values.len()] };
        for i in 0..self.size {
            for j in 0..=i {
                let rest = self.row(i)[j] - dot(&lower.row(i)[..j], &lower.row(j)[..j]);
                lower.values[i * self.size + j] = match i == j {
                    true if rest > 0.0 && rest.is_finite() => rest.sqrt(),
                    true => return None,
                    false => rest / lower.row(j)[j],
                };
            }
        }
        Some(Cholesky { lower })
    }
}

impl Cholesky {
    /// A row of L: entries up to the diagonal.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.lower.row(index)[..=index]
    }

    /// The x of `A x = right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for i in 0..x.len() {
            let row = self.row(i);
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
        for i in (0..x.len()).rev() {
            let row = self.row(i);
            x[i] /= row[i];
            let solved = x[i];
            x[..i].iter_mut().zip(row).for_each(|(above, factor)| *above -= factor * solved);
        }
        x
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
