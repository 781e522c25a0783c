//! Matrix product.

use guardbit_num::Requantizer;

use super::strides::{each_index, flat, row_major};
use super::{Mac, Operands, Operator};
use crate::dot::{DotProducts, DotWeights, Finish, OutputStage, WeightCodes, Window};
use crate::effort::Effort;
use crate::{Activation, GraphError, Products, Requantize};

/// `y[.., i, j] = sum over k of (a[.., i, k] - za) * (b[.., k, j] - zb)`, requantized.
///
/// The leading axes broadcast as in NumPy. An accelerator can run the operation if `a` is an activation and `b` is an
/// activation or one constant matrix. Other forms run on the host: a constant `a`, an `a` whose matrices are repeated
/// by broadcasting, a `b` of several constant matrices, and a transposed `a` with a constant `b`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BatchMatmul {
    /// Whether `a` is given as `[.., k, i]`.
    pub adj_x: bool,
    /// Whether `b` is given as `[.., j, k]`.
    pub adj_y: bool,
    /// Requantization from sums to codes.
    pub requantize: Requantize,
}

impl Operator for BatchMatmul {
    const NAME: &'static str = "batch_matmul";
    const EFFORT: Effort = Effort::PRODUCTS;
    const MAC: Option<Mac> = Some(Mac::Weighted);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        self.requantizer(operands)?;
        let sizes = self.sizes(operands)?;
        Ok([&sizes.front[..], &[sizes.rows, sizes.cols]].concat())
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        let (a, b, y) = self.quantizations(operands).ok()?;
        let Sizes { front, rows, terms, cols } = self.sizes(operands).ok()?;
        let (left, right) = (operands.input(0), operands.input(1));
        let images: usize = front.iter().product();
        // A window reads one matrix per image. A matrix shared by several images would be read again for each.
        if left.constant.is_some() || left.ty.len() != images * rows * terms {
            return None;
        }
        let codes = match operands.constant(1) {
            Ok(codes) if codes.len() == terms * cols && !self.adj_x => WeightCodes::Constant(codes),
            Ok(_) => return None,
            Err(_) => {
                let shape = &right.ty.shape;
                let strides = matrices(&shape[..shape.len() - 2], &front);
                let start = |index: &[usize]| flat(index.iter().copied(), &strides) * terms * cols;
                WeightCodes::Activations { starts: each_index(&front, start).into() }
            }
        };
        let [by_channel, by_term] = if self.adj_y { [terms, 1] } else { [1, cols] };
        let (window, strides) = match (self.adj_x, &codes) {
            (false, WeightCodes::Constant(_)) => {
                (Window::dense(images * rows, terms, cols), [by_channel, 0, 0, by_term])
            }
            // The rows of the output are columns of the window's image, and the terms are its channels.
            (false, WeightCodes::Activations { .. }) => {
                let (input, output) = ([1, rows, terms], [1, rows, cols]);
                let window = Window { batch: images, input, output, ..Window::dense(images, terms, cols) };
                (window, [by_channel, 0, 0, by_term])
            }
            // The rows of the output are columns of the window's image, and the terms are its rows.
            (true, _) => {
                let (input, output, kernel) = ([terms, rows, 1], [1, rows, cols], [terms, 1, 1]);
                let window =
                    Window { batch: images, input, output, kernel, ..Window::dense(images, terms, cols) };
                (window, [by_channel, by_term, 0, 0])
            }
        };
        let stage = OutputStage {
            requantize: self.requantize,
            input_scale: a.0,
            weight_scales: vec![b.0; cols],
            output_scale: y.0,
            output_zero_point: y.1,
            activation: Activation::None,
            clamp: (operands.output_dtype.min(), operands.output_dtype.max()),
        };
        Some(DotProducts {
            window,
            input_zero_point: a.1,
            weights: Some(DotWeights { codes, zero_points: vec![b.1; cols], strides }),
            bias: None,
            finish: Finish::Requantize(stage),
        })
    }

    fn products(&self, operands: &Operands<'_>) -> Option<Products> {
        let Sizes { front, rows, terms, cols } = self.sizes(operands).ok()?;
        Some(Products { terms, dots: front.iter().product::<usize>() * rows * cols })
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(requantizer), Ok((a, b, y)), Ok(sizes)) =
            (self.requantizer(operands), self.quantizations(operands), self.sizes(operands))
        else {
            return Vec::new();
        };
        let Sizes { front, rows, terms, cols } = sizes;
        let [(left, at_left), (right, at_right)] = [0, 1].map(|index| {
            let shape = &operands.input(index).ty.shape;
            (inputs[index], matrices(&shape[..shape.len() - 2], &front))
        });
        let starts = each_index(&front, |index| {
            let start = |strides: &[usize]| flat(index.iter().copied(), strides);
            (start(&at_left) * rows * terms, start(&at_right) * terms * cols)
        });
        let left_strides = if self.adj_x { [1, rows] } else { [terms, 1] };
        let right_strides = if self.adj_y { [1, terms] } else { [cols, 1] };
        let mut output = Vec::with_capacity(starts.len() * rows * cols);
        for (at_left, at_right) in starts {
            let place = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
            output.extend(place.map(|(i, j)| {
                let product = |k: usize| {
                    let x = left[at_left + i * left_strides[0] + k * left_strides[1]] - a.1;
                    let w = right[at_right + k * right_strides[0] + j * right_strides[1]] - b.1;
                    i128::from(x) * i128::from(w)
                };
                let sum = (0..terms).map(product).sum();
                operands.output_dtype.saturate(requantizer.requantize(sum, y.1.into()))
            }));
        }
        output
    }
}

/// Sizes of a product: leading axes, rows, terms of a sum, columns.
struct Sizes {
    front: Vec<usize>,
    rows: usize,
    terms: usize,
    cols: usize,
}

type Affine = (f32, i32);

impl BatchMatmul {
    fn sizes(&self, operands: &Operands<'_>) -> Result<Sizes, GraphError> {
        operands.expect_inputs(2, 2)?;
        let matrix = |index: usize, transposed: bool| {
            let tensor = operands.input(index);
            let Some((front, &[first, second])) = tensor.ty.shape.split_last_chunk::<2>() else {
                return Err(operands.shape_error(tensor, "at least two axes".into()));
            };
            Ok((front, if transposed { [second, first] } else { [first, second] }))
        };
        let (left, [rows, terms]) = matrix(0, self.adj_x)?;
        let (right, [depth, cols]) = matrix(1, self.adj_y)?;
        if depth != terms {
            let expected = format!("{terms} terms, like `{}`", operands.input(0).name);
            return Err(operands.shape_error(operands.input(1), expected));
        }
        let rank = left.len().max(right.len());
        let size =
            |front: &[usize], axis: usize| (axis + front.len()).checked_sub(rank).map_or(1, |i| front[i]);
        let common = |axis| match (size(left, axis), size(right, axis)) {
            (a, b) if a == b => Some(a),
            (1, other) | (other, 1) => Some(other),
            _ => None,
        };
        let front: Option<Vec<_>> = (0..rank).map(common).collect();
        let expected = || format!("leading axes that broadcast with {left:?}");
        let front = front.ok_or_else(|| operands.shape_error(operands.input(1), expected()))?;
        Ok(Sizes { front, rows, terms, cols })
    }

    fn quantizations(&self, operands: &Operands<'_>) -> Result<(Affine, Affine, Affine), GraphError> {
        operands.expect_inputs(2, 2)?;
        let [a, b, y] = [operands.activation(0)?, operands.activation(1)?, operands.output_activation()?];
        let affine = |q: &crate::Quantization| (q.scale(0), q.zero_point(0));
        Ok((affine(a), affine(b), affine(y)))
    }

    fn requantizer(&self, operands: &Operands<'_>) -> Result<Requantizer, GraphError> {
        let (a, b, y) = self.quantizations(operands)?;
        operands.requantizer(self.requantize, a.0, b.0, y.0)
    }
}

/// Returns the distance in matrices between neighbours along each of the axes `front`, for matrices with the leading
/// axes `own`. The distance is 0 along a repeated axis.
fn matrices(own: &[usize], front: &[usize]) -> Vec<usize> {
    let strides =
        row_major(own).into_iter().zip(own).map(|(stride, &size)| if size == 1 { 0 } else { stride });
    std::iter::repeat_n(0, front.len() - own.len()).chain(strides).collect()
}
