//! 2-D convolution of real values.

use super::elements::{add_products, expect};
use crate::dot::{Tap, Window};
use crate::effort::Effort;
use crate::ops::window::{self, Sliding};
use crate::ops::{Operands, Operator};
use crate::{GraphError, Padding, Products, real_of, word_of};

/// `y[n,h,w,o] = sum over kh, kw, i of x[n, h*s+kh*d-p, .., g*I+i] * w[o,kh,kw,i]`, plus bias. Padding is 0.
///
/// Inputs: `[n, h, w, c]`, weights `[o, kh, kw, c/groups]`, optional bias `[o]`. Sums are computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatConv2d {
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Distance between cells of the window along rows and columns.
    pub dilation: [usize; 2],
    /// Padding.
    pub padding: Padding,
}

impl Operator for FloatConv2d {
    const NAME: &'static str = "float_conv2d";
    const EFFORT: Effort = Effort::per_cell(1).and_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 2, 3)?;
        let window = self.geometry(operands)?;
        if let Some(bias) = operands.optional(2).filter(|bias| bias.ty.shape != [window.channels()]) {
            return Err(operands.shape_error(bias, format!("[{}]", window.channels())));
        }
        Ok(window::output_shape(&window))
    }

    fn products(&self, operands: &Operands<'_>) -> Option<Products> {
        self.geometry(operands).ok().map(|window| Products::of(&window))
    }

    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.geometry(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(window) = self.geometry(operands) else { return Vec::new() };
        let (channels, depth) = (window.channels(), window.kernel[2]);
        let per_group = channels / window.groups;
        let weights = by_term(inputs[1], channels);
        let bias = inputs.get(2).copied().unwrap_or_default();
        let mut sums = vec![0.0; channels];
        let mut output = Vec::with_capacity(window.dots());
        for first in (0..window.dots()).step_by(channels) {
            let out = window.output_position(first);
            sums.fill(-0.0);
            for term in (0..window.terms()).step_by(depth) {
                let Tap::Input(cell) = window.tap(out, window.kernel_position(term)) else {
                    sums.iter_mut().for_each(|sum| *sum += 0.0);
                    continue;
                };
                for (group, sums) in sums.chunks_mut(per_group).enumerate() {
                    for c in 0..depth {
                        let weights = &weights[(term + c) * channels + group * per_group..];
                        add_products(sums, inputs[0][cell + group * depth + c], weights);
                    }
                }
            }
            let bias = |channel: usize| bias.get(channel).map_or(0.0, |&word| f64::from(real_of(word)));
            output.extend(sums.iter().enumerate().map(|(o, &sum)| word_of((sum + bias(o)) as f32)));
        }
        output
    }
}

/// Reorders weights from `[o, kh, kw, c/groups]` to `[kh, kw, c/groups, o]`, so that the sums of all channels can be
/// accumulated together.
fn by_term(words: &[i32], channels: usize) -> Vec<f64> {
    let terms = words.len() / channels;
    let mut weights = vec![0.0; words.len()];
    for (channel, words) in words.chunks(terms.max(1)).enumerate() {
        for (term, &word) in words.iter().enumerate() {
            weights[term * channels + channel] = real_of(word).into();
        }
    }
    weights
}

impl FloatConv2d {
    fn geometry(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        let input @ [_, _, _, channels] = operands.shape(0)?;
        let [out_channels, rows, cols, depth] = operands.shape(1)?;
        let groups = if depth > 0 && channels % depth == 0 { channels / depth } else { 0 };
        if groups == 0 || out_channels == 0 || out_channels % groups != 0 {
            let expected = format!("[o, kh, kw, {channels} / groups] with o a multiple of groups");
            return Err(operands.shape_error(operands.input(1), expected));
        }
        let (stride, dilation, padding) = (self.stride, self.dilation, self.padding);
        let sliding = Sliding { kernel: [rows, cols], stride, dilation, padding };
        sliding.over(operands, input, out_channels, depth, groups)
    }
}
