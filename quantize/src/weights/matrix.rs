//! Symmetric matrices for least squares.

/// Square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    size: usize,
    values: Vec<f64>,
}

/// Lower triangle L of `A = L L^T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    lower: Matrix,
}

impl Matrix {
    /// Returns a matrix of the given values, row by row.
    ///
    /// # Panics
    /// If there are not `size * size` values.
    pub fn new(size: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), size * size, "a square matrix");
        Self { size, values }
    }

    /// Returns the number of rows, which is also the number of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns a row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.size..][..self.size]
    }

    /// Returns the mean of the diagonal; 0 for an empty matrix.
    pub fn mean_diagonal(&self) -> f64 {
        (0..self.size).map(|i| self.row(i)[i]).sum::<f64>() / self.size.max(1) as f64
    }

    /// Returns the matrix with `value` added to the diagonal.
    pub fn damped(mut self, value: f64) -> Self {
        (0..self.size).for_each(|i| self.values[i * self.size + i] += value);
        self
    }

    /// Returns the product with a vector.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks(LANES * self.size.max(1));
        rows.flat_map(|rows| dots(rows, self.size, vector)).collect()
    }

    /// Returns `left^T A right`.
    pub fn form(&self, left: &[f64], right: &[f64]) -> f64 {
        dot(left, &self.times(right))
    }

    /// Returns the matrix with permuted rows and columns: row `i` of the result is row `order[i]` of this
    /// one.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let row = |&i: &usize| order.iter().map(move |&j| self.row(i)[j]);
        Self { size: self.size, values: order.iter().flat_map(row).collect() }
    }

    /// Returns the Cholesky factor; `None` unless the matrix is positive definite.
    ///
    /// Golub and Van Loan, "Matrix Computations", 4.2.5 (column by column).
    pub fn cholesky(&self) -> Option<Cholesky> {
        let size = self.size;
        let mut lower = self.clone();
        for j in 0..size {
            let (above, below) = lower.values.split_at_mut((j + 1) * size);
            let own = &mut above[j * size..];
            let rest = own[j] - dot(&own[..j], &own[..j]);
            if !(rest > 0.0 && rest.is_finite()) {
                return None;
            }
            own[j] = rest.sqrt();
            own[j + 1..].fill(0.0);
            let (own, diagonal) = (&own[..j], own[j]);
            for rows in below.chunks_mut(LANES * size) {
                let sums = dots(rows, size, own);
                for (row, sum) in rows.chunks_mut(size).zip(sums) {
                    row[j] = (row[j] - sum) / diagonal;
                }
            }
        }
        Some(Cholesky { lower })
    }
}

impl Cholesky {
    /// Returns a row of L, up to the diagonal.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.lower.row(index)[..=index]
    }

    /// Returns the x of `A x = right`.
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

/// Form `B^T B` of a matrix B with fewer rows than columns. It is equivalent to the square matrix, and
/// smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct Gram {
    /// Number of rows of B.
    rows: usize,
    /// Values of B, column by column.
    values: Vec<f64>,
}

impl Gram {
    /// Returns the form of a matrix of `rows` rows, given column by column.
    pub fn new(rows: usize, values: Vec<f64>) -> Self {
        Self { rows, values }
    }

    /// Returns the number of rows of B.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns of B.
    pub fn size(&self) -> usize {
        self.values.len() / self.rows.max(1)
    }

    /// Returns a column of B.
    pub fn column(&self, index: usize) -> &[f64] {
        &self.values[index * self.rows..][..self.rows]
    }

    /// Returns the mean of the form's diagonal; 0 for an empty matrix.
    pub fn mean_diagonal(&self) -> f64 {
        self.values.iter().map(|value| value * value).sum::<f64>() / self.size().max(1) as f64
    }

    /// Returns `B v`.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows];
        for (column, &factor) in self.values.chunks_exact(self.rows.max(1)).zip(vector) {
            add(&mut sums, column, factor);
        }
        sums
    }

    /// Returns `B^T v`.
    pub fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        self.values.chunks_exact(self.rows.max(1)).map(|column| fast_dot(column, vector)).collect()
    }

    /// Returns `B B^T` with `value` added to the diagonal.
    pub fn outer(&self, value: f64) -> Matrix {
        let mut sums = vec![0.0; self.rows * self.rows];
        for column in self.values.chunks_exact(self.rows.max(1)) {
            for (sums, &factor) in sums.chunks_exact_mut(self.rows).zip(column) {
                add(sums, column, factor);
            }
        }
        Matrix::new(self.rows, sums).damped(value)
    }
}

/// Adds `factor` times a vector to `sums`.
pub(crate) fn add(sums: &mut [f64], vector: &[f64], factor: f64) {
    sums.iter_mut().zip(vector).for_each(|(sum, value)| *sum += factor * value);
}

/// Returns a scalar product, computed as several independent partial sums.
pub(crate) fn fast_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = dot(a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest
}

/// Number of rows whose scalar products are summed in parallel.
const LANES: usize = 8;

/// Returns the scalar products of up to [`LANES`] rows of `width` values with a vector, which may be shorter.
/// Each is summed in order, as in [`dot`], but independently of the others.
fn dots(rows: &[f64], width: usize, vector: &[f64]) -> impl Iterator<Item = f64> + use<> {
    let mut sums = [0.0; LANES];
    let count = rows.len() / width.max(1);
    if count == LANES {
        let each: [&[f64]; LANES] = std::array::from_fn(|lane| &rows[lane * width..][..vector.len()]);
        for (k, &value) in vector.iter().enumerate() {
            for (sum, row) in sums.iter_mut().zip(each) {
                *sum += row[k] * value;
            }
        }
    } else {
        let rows = rows.chunks_exact(width.max(1));
        sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum = dot(&row[..vector.len()], vector));
    }
    sums.into_iter().take(count)
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
