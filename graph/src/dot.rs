//! Operations that consist of dot products: which codes meet which weights, and how sums become codes.

use std::borrow::Cow;
use std::sync::Arc;

use guardbit_num::{MultiplierError, Requantizer, Scheme};

use crate::{Activation, CodeRange, Integers, MultiplierRule, Requantize};

/// The dot products of a node. Its first input holds the activations.
#[derive(Debug, Clone, PartialEq)]
pub struct DotProducts {
    /// The activations that each output element reads.
    pub window: Window,
    /// Zero point of the activations, which is the code of a padding cell.
    pub input_zero_point: i32,
    /// The weights, or `None` if all weights are 1 (pools, mean, sum).
    pub weights: Option<DotWeights>,
    /// The bias: one integer per output channel, in the scale of the products.
    pub bias: Option<Bias>,
    /// The conversion from sums to output codes.
    pub finish: Finish,
}

/// The bias of dot products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bias {
    /// One integer per output channel.
    pub values: Arc<[i64]>,
    /// Width of the stored bias in bits: 32 or 64. The model's runtime has an accumulator of this width.
    pub bits: u32,
}

/// The weights of dot products and their layout.
#[derive(Debug, Clone, PartialEq)]
pub struct DotWeights {
    /// The codes of the weights.
    pub codes: WeightCodes,
    /// Zero point per output channel.
    pub zero_points: Vec<i32>,
    /// Distance between neighbours along `[out channel, kernel row, kernel column, kernel channel]`, in elements.
    pub strides: [usize; 4],
}

/// The source of the codes of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeightCodes {
    /// Constants of the network, which are equal for all images.
    Constant(Integers),
    /// Activations: the node's second input. Image `n` of the window reads the matrix that starts at element
    /// `starts[n]`.
    Activations {
        /// Index of the first element for each image.
        starts: Arc<[usize]>,
    },
}

/// The conversion from sums to output codes.
#[derive(Debug, Clone, PartialEq)]
pub enum Finish {
    /// Requantization with scale, zero point and clamp.
    Requantize(OutputStage),
    /// The division of a pool, mean or sum, applied to the sum of raw codes.
    Divide(Division),
}

/// Requantization of sums, with parameters per output channel.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputStage {
    /// The requantization of the model's runtime.
    pub requantize: Requantize,
    /// Scale of the activations.
    pub input_scale: f32,
    /// Scale of the weights, one per output channel.
    pub weight_scales: Vec<f32>,
    /// Scale of the output.
    pub output_scale: f32,
    /// Zero point of the output.
    pub output_zero_point: i32,
    /// The fused activation.
    pub activation: Activation,
    /// Least and greatest output code, limited by the dtype and the activation.
    pub clamp: (i32, i32),
}

/// The operation of a pool, mean or sum on the sum of raw codes.
#[derive(Debug, Clone, PartialEq)]
pub enum Division {
    /// Average pool: the sum of raw codes divided by their number, rounded half away from zero.
    ///
    /// The formula is `(s +- n/2) / n`, truncated. Source: TensorFlow Lite `reference_integer_ops::AveragePool`.
    Average {
        /// Least and greatest output code.
        clamp: (i32, i32),
    },
    /// The sum minus `n * zero point`, scaled. For a mean, the scale includes `1/n`.
    Scaled {
        /// The multiplier, including `1/n`.
        requantizer: Requantizer,
        /// Zero point of the input.
        input_zero_point: i32,
        /// Zero point of the output.
        output_zero_point: i32,
        /// Least and greatest output code.
        clamp: (i32, i32),
    },
}

/// The geometry of dot products: a window of `kernel` cells slides over the input. Sizes are in elements.
///
/// Output channel `c` belongs to group `c / (out_channels / groups)`, and reads the `kernel[2]` input channels of its
/// group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of images.
    pub batch: usize,
    /// `[rows, columns, channels]` of the input.
    pub input: [usize; 3],
    /// `[rows, columns, channels]` of the output.
    pub output: [usize; 3],
    /// `[rows, columns, channels per group]` of the window. The number of products per dot product is their product.
    pub kernel: [usize; 3],
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Distance between cells of the window along rows and columns.
    pub dilation: [usize; 2],
    /// Padding cells before the first row and column.
    pub pad: [usize; 2],
    /// Number of groups.
    pub groups: usize,
}

/// Position of an output element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct OutputPosition {
    /// Index of the image.
    pub n: usize,
    /// Row.
    pub h: usize,
    /// Column.
    pub w: usize,
    /// Channel.
    pub c: usize,
}

/// Position of a cell in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelPosition {
    /// Row.
    pub h: usize,
    /// Column.
    pub w: usize,
    /// Channel within the group.
    pub c: usize,
}

/// The elements that meet in a product of two real tensors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layout {
    /// A convolution with weights `[o, kh, kw, c]`.
    Kernel,
    /// A matrix product: first element of the row, and of the matrix, for each image.
    Matrix { rows: Vec<usize>, matrices: Vec<usize> },
}

/// The value that a cell of the window reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tap {
    /// The input element with this flat index.
    Input(usize),
    /// A cell outside the image, whose real value is 0.
    Padding,
}

impl Window {
    /// Returns the window of a matrix product: `batch` vectors of `terms` elements times `channels` weight vectors.
    pub fn dense(batch: usize, terms: usize, channels: usize) -> Self {
        Self {
            batch,
            input: [1, 1, terms],
            output: [1, 1, channels],
            kernel: [1, 1, terms],
            stride: [1, 1],
            dilation: [1, 1],
            pad: [0, 0],
            groups: 1,
        }
    }

    /// Returns the number of products per dot product, padding included.
    pub fn terms(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Returns the number of dot products.
    pub fn dots(&self) -> usize {
        self.batch * self.output.iter().product::<usize>()
    }

    /// Returns the number of output channels.
    pub fn channels(&self) -> usize {
        self.output[2]
    }

    /// Returns the position of the output element with this flat index.
    pub fn output_position(&self, index: usize) -> OutputPosition {
        let [rows, cols, channels] = self.output;
        OutputPosition {
            n: index / (rows * cols * channels),
            h: index / (cols * channels) % rows,
            w: index / channels % cols,
            c: index % channels,
        }
    }

    /// Returns the window cell with this flat index, in `[row, column, channel]` order.
    pub fn kernel_position(&self, index: usize) -> KernelPosition {
        let [_, cols, channels] = self.kernel;
        KernelPosition { h: index / (cols * channels), w: index / channels % cols, c: index % channels }
    }

    /// Returns the value that cell `k` reads when the window is at output `out`.
    pub fn tap(&self, out: OutputPosition, k: KernelPosition) -> Tap {
        let [rows, cols, channels] = self.input;
        let row = (out.h * self.stride[0] + k.h * self.dilation[0]).checked_sub(self.pad[0]);
        let col = (out.w * self.stride[1] + k.w * self.dilation[1]).checked_sub(self.pad[1]);
        match (row, col) {
            (Some(row), Some(col)) if row < rows && col < cols => {
                let channel = self.group(out.c) * self.kernel[2] + k.c;
                Tap::Input(((out.n * rows + row) * cols + col) * channels + channel)
            }
            _ => Tap::Padding,
        }
    }

    /// Returns whether cell `k` of the window lies inside the input for at least one output.
    pub fn reads(&self, k: KernelPosition) -> bool {
        let inside = |axis: usize, k: usize| {
            let place =
                |out: usize| (out * self.stride[axis] + k * self.dilation[axis]).checked_sub(self.pad[axis]);
            (0..self.output[axis]).any(|out| place(out).is_some_and(|at| at < self.input[axis]))
        };
        inside(0, k.h) && inside(1, k.w)
    }

    /// Returns whether the window of any output extends beyond the input.
    pub fn reads_padding(&self) -> bool {
        let beyond = |axis: usize| {
            let last = self.output[axis].saturating_sub(1) * self.stride[axis]
                + self.kernel[axis].saturating_sub(1) * self.dilation[axis];
            self.pad[axis] > 0 || last >= self.input[axis] + self.pad[axis]
        };
        beyond(0) || beyond(1)
    }

    /// Returns the group of an output channel.
    pub fn group(&self, channel: usize) -> usize {
        channel / (self.output[2] / self.groups)
    }
}

impl DotWeights {
    /// Returns the codes if they are constants, or `None` if they are activations.
    pub fn constant(&self) -> Option<&Integers> {
        match &self.codes {
            WeightCodes::Constant(codes) => Some(codes),
            WeightCodes::Activations { .. } => None,
        }
    }

    /// Returns the index of the weight that output channel `channel` of image `image` reads at cell `k`.
    pub fn index(&self, image: usize, channel: usize, k: KernelPosition) -> usize {
        let start = match &self.codes {
            WeightCodes::Constant(_) => 0,
            WeightCodes::Activations { starts } => starts[image],
        };
        let [by_channel, by_row, by_col, by_depth] = self.strides;
        start + channel * by_channel + k.h * by_row + k.w * by_col + k.c * by_depth
    }
}

impl OutputStage {
    /// Returns an output stage that keeps the sums of `channels` output channels as 32-bit codes. The multiplier is
    /// 1, which is exact.
    pub(crate) fn sums(channels: usize) -> Self {
        Self {
            requantize: Requantize { scheme: Scheme::Single, rule: MultiplierRule::Float64 },
            input_scale: 1.0,
            weight_scales: vec![1.0; channels],
            output_scale: 1.0,
            output_zero_point: 0,
            activation: Activation::None,
            clamp: (i32::MIN, i32::MAX),
        }
    }

    /// Returns one requantizer per output channel, under the model's scheme or the given one.
    ///
    /// # Errors
    /// [`MultiplierError`] if a multiplier is out of range.
    pub fn requantizers(&self, scheme: Option<Scheme>) -> Result<Vec<Requantizer>, MultiplierError> {
        let requantize = scheme.map_or(self.requantize, |s| self.requantize.with_scheme(s));
        let one = |&weight: &f32| requantize.requantizer(self.input_scale, weight, self.output_scale);
        self.weight_scales.iter().map(one).collect()
    }
}

impl Finish {
    /// Returns the least and the greatest output code.
    pub(crate) fn clamp(&self) -> (i32, i32) {
        match self {
            Self::Requantize(stage) => stage.clamp,
            Self::Divide(Division::Average { clamp } | Division::Scaled { clamp, .. }) => *clamp,
        }
    }

    /// Narrows the clamp to a range.
    pub(crate) fn clamp_to(&mut self, range: CodeRange) {
        let clamp = match self {
            Self::Requantize(stage) => &mut stage.clamp,
            Self::Divide(Division::Average { clamp } | Division::Scaled { clamp, .. }) => clamp,
        };
        *clamp = (range.clamp(clamp.0.into()), range.clamp(clamp.1.into()));
    }
}

impl Division {
    /// Returns the output code for the sum of `count` raw codes.
    pub fn finish(&self, sum: i128, count: usize) -> i32 {
        match self {
            Self::Average { clamp } => {
                let (rounded, count) = (sum.unsigned_abs() + count as u128 / 2, count as u128);
                // CPUs divide 32 bits much faster.
                let quotient = match (u32::try_from(rounded), u32::try_from(count)) {
                    (Ok(rounded), Ok(count)) => i128::from(rounded / count),
                    _ => (rounded / count) as i128,
                };
                let quotient = if sum > 0 { quotient } else { -quotient };
                quotient.clamp(clamp.0.into(), clamp.1.into()) as i32
            }
            Self::Scaled { requantizer, input_zero_point, output_zero_point, clamp } => {
                let centred = sum - count as i128 * i128::from(*input_zero_point);
                let code = requantizer.requantize(centred, (*output_zero_point).into());
                code.clamp(clamp.0.into(), clamp.1.into()) as i32
            }
        }
    }
}

impl DotProducts {
    /// Returns whether the weights are constants of the network. Returns false if they are activations or all 1.
    pub fn has_constant_weights(&self) -> bool {
        self.weights.as_ref().is_some_and(|weights| weights.constant().is_some())
    }

    /// Returns whether the weights are activations, which are the codes of the node's second input.
    pub fn streams_weights(&self) -> bool {
        self.weights.as_ref().is_some_and(|weights| weights.constant().is_none())
    }

    /// Returns every output code, computed exactly as in the model's runtime. `inputs` are the codes of the node's
    /// inputs.
    pub(crate) fn evaluate(&self, inputs: &[&[i32]]) -> Vec<i32> {
        let input = inputs[0];
        let weights = match self.weights.as_ref().map(|weights| &weights.codes) {
            Some(WeightCodes::Constant(codes)) => codes.to_words(),
            Some(WeightCodes::Activations { .. }) => Cow::Borrowed(inputs[1]),
            None => Cow::default(),
        };
        match (&self.weights, &self.finish) {
            (None, Finish::Divide(division)) => self.pool(division, input),
            (_, finish) => {
                let requantizers = match finish {
                    // The builder has checked the multipliers, so this cannot fail.
                    Finish::Requantize(stage) => stage.requantizers(None).unwrap_or_default(),
                    Finish::Divide(_) => Vec::new(),
                };
                (0..self.window.dots())
                    .map(|index| self.output_code(input, &weights, &requantizers, index))
                    .collect()
            }
        }
    }

    /// Returns the output codes of a pool, mean or sum. Each window is located once for all of its channels.
    fn pool(&self, division: &Division, input: &[i32]) -> Vec<i32> {
        let window = &self.window;
        let [rows, cols, depth] = window.kernel;
        let cells = || (0..rows).flat_map(move |h| (0..cols).map(move |w| KernelPosition { h, w, c: 0 }));
        let channels = window.channels();
        let mut codes = Vec::with_capacity(window.dots());
        let mut sums = vec![0i64; channels];
        let groups: Vec<usize> = (0..channels).map(|channel| window.group(channel) * depth).collect();
        let each_its_own = depth == 1 && window.groups == channels;
        for index in (0..window.dots()).step_by(channels.max(1)) {
            let out = window.output_position(index);
            sums.fill(0);
            let mut count = 0;
            for cell in cells() {
                let Tap::Input(first) = window.tap(out, cell) else { continue };
                let input = &input[first..];
                count += depth;
                // 64 bits hold the sum of 2^31 codes of 32 bits.
                if each_its_own {
                    sums.iter_mut().zip(input).for_each(|(sum, &code)| *sum += i64::from(code));
                    continue;
                }
                for (sum, &group) in sums.iter_mut().zip(&groups) {
                    *sum += input[group..group + depth].iter().map(|&code| i64::from(code)).sum::<i64>();
                }
            }
            codes.extend(sums.iter().map(|&sum| division.finish(sum.into(), count)));
        }
        codes
    }

    fn output_code(&self, input: &[i32], codes: &[i32], requantizers: &[Requantizer], index: usize) -> i32 {
        let out = self.window.output_position(index);
        let mut sum = 0i128;
        let mut count = 0;
        for k in (0..self.window.terms()).map(|k| self.window.kernel_position(k)) {
            let Tap::Input(at) = self.window.tap(out, k) else { continue };
            sum += match &self.weights {
                Some(weights) => {
                    let weight = codes[weights.index(out.n, out.c, k)] - weights.zero_points[out.c];
                    i128::from(input[at] - self.input_zero_point) * i128::from(weight)
                }
                None => i128::from(input[at]),
            };
            count += 1;
        }
        match &self.finish {
            Finish::Divide(division) => division.finish(sum, count),
            Finish::Requantize(stage) => {
                let sum = sum + self.bias.as_ref().map_or(0, |bias| bias.values[out.c].into());
                let code = requantizers[out.c].requantize(sum, stage.output_zero_point.into());
                code.clamp(stage.clamp.0.into(), stage.clamp.1.into()) as i32
            }
        }
    }
}
