//! Matrix product of real values.

use super::elements::{add_products, expect};
use crate::dot::Layout;
use crate::effort::Effort;
use crate::ops::strides::{offsets, row_major};
use crate::ops::{Operands, Operator};
use crate::{GraphError, Products, Window, real_of, word_of};

/// The matrix product of the last two axes, `[.., m, k]` times `[.., k, n]`.
///
/// The leading axes broadcast as in NumPy. Sums are computed in float64.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct FloatMatMul {}

impl Operator for FloatMatMul {
    const NAME: &'static str = "float_matmul";
    const EFFORT: Effort = Effort::per_cell(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 2, 2)?;
        let Product { batch, rows, cols, .. } = Product::new(operands)?;
        Ok([&batch[..], &[rows, cols]].concat())
    }

    fn products(&self, operands: &Operands<'_>) -> Option<Products> {
        let Product { batch, rows, terms, cols, .. } = Product::new(operands).ok()?;
        Some(Products { terms, dots: batch.iter().product::<usize>() * rows * cols })
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(Product { batch, strides: [a, b], rows, terms, cols }) = Product::new(operands) else {
            return Vec::new();
        };
        let mut sums = vec![0.0; cols];
        let mut output = Vec::new();
        for (a, b) in offsets(&batch, &a).zip(offsets(&batch, &b)) {
            let weights: Vec<f64> =
                inputs[1][b..b + terms * cols].iter().map(|&word| real_of(word).into()).collect();
            for row in 0..rows {
                sums.fill(-0.0);
                for k in 0..terms {
                    add_products(&mut sums, inputs[0][a + row * terms + k], &weights[k * cols..]);
                }
                output.extend(sums.iter().map(|&sum| word_of(sum as f32)));
            }
        }
        output
    }
}

impl FloatMatMul {
    /// Returns the product as one image per row of the first operand, and the elements that each image reads.
    pub(crate) fn rows(&self, operands: &Operands<'_>) -> Option<(Window, Layout)> {
        let Product { batch, strides: [a, b], rows, terms, cols } = Product::new(operands).ok()?;
        let images = || offsets(&batch, &a).zip(offsets(&batch, &b));
        let own = images().flat_map(|(a, _)| (0..rows).map(move |row| a + row * terms)).collect();
        let matrices = images().flat_map(|(_, b)| std::iter::repeat_n(b, rows)).collect();
        let count = batch.iter().product::<usize>() * rows;
        Some((Window::dense(count, terms, cols), Layout::Matrix { rows: own, matrices }))
    }
}

/// The geometry of a product.
struct Product {
    /// The common shape of the leading axes.
    batch: Vec<usize>,
    /// Distances between matrices along these axes, per input.
    strides: [Vec<usize>; 2],
    rows: usize,
    terms: usize,
    cols: usize,
}

impl Product {
    fn new(operands: &Operands<'_>) -> Result<Self, GraphError> {
        let [a, b] = [0, 1].map(|index| operands.input(index).ty.shape.as_slice());
        let wrong = |index: usize, expected: String| operands.shape_error(operands.input(index), expected);
        let ([batch_a @ .., rows, terms], [batch_b @ .., terms_b, cols]) = (a, b) else {
            return Err(wrong(usize::from(a.len() > 1), "at least two axes".into()));
        };
        if terms != terms_b {
            return Err(wrong(1, format!("[.., {terms}, n]")));
        }
        let rank = batch_a.len().max(batch_b.len());
        let size =
            |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
        let mut batch = Vec::new();
        for axis in 0..rank {
            batch.push(match (size(batch_a, axis), size(batch_b, axis)) {
                (a, b) if a == b => a,
                (1, other) | (other, 1) => other,
                _ => return Err(wrong(1, format!("one that broadcasts with {a:?}"))),
            });
        }
        let strides = |shape: &[usize], matrix: usize| {
            let own = row_major(shape);
            let stride = |axis: usize| match (axis + shape.len()).checked_sub(rank) {
                Some(i) if shape[i] > 1 => own[i] * matrix,
                _ => 0,
            };
            (0..rank).map(stride).collect()
        };
        let strides = [strides(batch_a, rows * terms), strides(batch_b, terms * cols)];
        Ok(Self { batch, strides, rows: *rows, terms: *terms, cols: *cols })
    }
}
