//! Scales per block.

use std::rc::Rc;

use guardbit_graph::CodeRange;

use super::quant::{dtype, range};
use crate::onnx::parse::constant::{Constant, chosen_places, permuted_places};

/// Scales and zero points of blocks along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) struct Blocks {
    pub axis: usize,
    /// Number of elements of a block. The last block may have fewer.
    pub size: usize,
    /// One scale per block, row-major, with the blocks along the axis.
    pub scales: Vec<f32>,
    /// Zero points, if there are any.
    pub zeros: Option<Vec<f32>>,
}

impl Blocks {
    /// Returns the number of blocks along each axis of codes of a shape.
    pub fn counts(&self, shape: &[usize]) -> Vec<usize> {
        counts(shape, self.axis, self.size)
    }

    /// Returns the block of every element of codes of a shape, row-major.
    pub fn places(&self, shape: &[usize]) -> impl Iterator<Item = usize> + use<> {
        let along = |(axis, &count): (usize, &usize)| {
            let size = if axis == self.axis { self.size } else { 1 };
            (0..count).map(|at| at / size).collect()
        };
        let lists: Vec<Vec<usize>> = shape.iter().enumerate().map(along).collect();
        chosen_places(&self.counts(shape), &lists)
    }

    /// Returns the zero point of a block.
    pub fn zero(&self, block: usize) -> f32 {
        self.zeros.as_ref().map_or(0.0, |zeros| zeros[block])
    }

    /// Returns the scale of every element of codes of a shape, and its zero point if there are any.
    pub fn spread(&self, shape: &[usize]) -> (Vec<f32>, Option<Vec<f32>>) {
        let of = |values: &Vec<f32>| self.places(shape).map(|block| values[block]).collect();
        (of(&self.scales), self.zeros.as_ref().map(of))
    }
}

/// Returns the number of blocks along each axis of codes of a shape.
pub(in crate::onnx) fn counts(shape: &[usize], axis: usize, size: usize) -> Vec<usize> {
    let count = |(at, &count): (usize, &usize)| if at == axis { count.div_ceil(size) } else { count };
    shape.iter().enumerate().map(count).collect()
}

/// Constant codes with a scale per block.
#[derive(Debug, Clone)]
pub(in crate::onnx) struct Blocked {
    /// The codes, which are integers.
    pub codes: Rc<Constant>,
    pub blocks: Blocks,
    /// Whether the scales of blocks belong to elements in another order.
    pub reordered: bool,
}

impl Blocked {
    /// Returns the possible codes, or `None` for types without codes.
    pub fn range(&self) -> Option<CodeRange> {
        let Constant { element, range: own, .. } = *self.codes;
        own.or_else(|| range(element)).or_else(|| dtype(element).map(CodeRange::of))
    }

    /// Returns the real values of the codes.
    pub fn reals(&self) -> Constant {
        let places = self.blocks.places(&self.codes.shape);
        let real = |(code, block): (f32, usize)| (code - self.blocks.zero(block)) * self.blocks.scales[block];
        let reals = self.codes.numbers().into_iter().zip(places).map(real).collect();
        Constant { of_codes: true, ..Constant::reals(self.codes.shape.clone(), reals) }
    }

    /// Returns codes `[output channel, input channel]` as a kernel of one cell, `[output channel, 1, 1, input
    /// channel]`.
    pub fn as_kernel(&self) -> Self {
        let mut codes = Constant::clone(&self.codes);
        codes.shape = vec![codes.shape[0], 1, 1, codes.shape[1]];
        let axis = if self.blocks.axis == 1 { 3 } else { 0 };
        Self { codes: Rc::new(codes), blocks: Blocks { axis, ..self.blocks.clone() }, ..*self }
    }

    /// Returns the codes with permuted axes.
    pub fn permuted(&self, axes: &[usize]) -> Self {
        let Blocks { axis, size, ref scales, ref zeros } = self.blocks;
        let counts = self.blocks.counts(&self.codes.shape);
        let of = |values: &Vec<f32>| permuted_places(&counts, axes).map(|at| values[at]).collect();
        let axis = axes.iter().position(|&from| from == axis).unwrap_or(axis);
        let blocks = Blocks { axis, size, scales: of(scales), zeros: zeros.as_ref().map(of) };
        Self { codes: Rc::new(self.codes.permuted(axes)), blocks, ..*self }
    }
}
