//! TRANSPOSE_CONV.

use guardbit_graph::ops::{Dilate, TransposeConv2d};
use guardbit_graph::{DType, MAX_EXTENT, Padding};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{Accumulator, NewNode, OperatorReader};

/// Reads TRANSPOSE_CONV: an image spread by the stride, then a window of stride 1 over it.
pub(super) fn transpose_conv(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(49)?;
    let padding = options.padding(Field(0, "TransposeConvOptions.padding"))?;
    let stride = [
        options.size(Field(2, "TransposeConvOptions.stride_h"), 0)?,
        options.size(Field(1, "TransposeConvOptions.stride_w"), 0)?,
    ];
    let activation = options.activation(Field(3, "TransposeConvOptions.fused_activation_function"))?;
    let declared = options.scalar::<i8>(Field(4, "TransposeConvOptions.quantized_bias_type"), 0)?;
    reader.expect_inputs(3, 4)?;
    // A computed shape equals the shape that the file declares, for which runtimes allocate memory.
    let output = if reader.is_constant(0)? { reader.sizes(0)? } else { reader.output.shape.clone() };
    let (weights, x) = (reader.constant(1)?, reader.input(2)?);
    let bias = reader.bias(3, x)?;
    if reader.tensor(x).ty.dtype == DType::UInt8 {
        reader.check_bias_scale(x, weights, bias)?;
    }
    let (&[_, rows, cols, _], &[_, high, wide, _], &[_, out_rows, out_cols, _]) =
        (reader.shape(x), reader.shape(weights), &output[..])
    else {
        return Err(reader.error("input, weights and output shape must have four axes".into()));
    };
    let axes = [Axis::new(rows, high, stride[0], out_rows), Axis::new(cols, wide, stride[1], out_cols)];
    let [Some(down), Some(across)] = axes.map(|axis| axis?.padding(padding)) else {
        return Err(reader.error(format!(
            "output shape {output:?} does not follow from input, kernel and stride {stride:?}"
        )));
    };
    let accumulator = match bias {
        Some(bias) => Accumulator::of_bias(&reader.tensor(bias).ty),
        None => Accumulator::declared(declared),
    };
    let requantize = reader.profile().convolution(&reader.tensor(x).ty, accumulator);
    let x = if stride == [1, 1] { x } else { reader.before(x, Dilate { factor: stride }, "dilated")? };
    let op =
        TransposeConv2d { padding: Padding::Explicit { rows: down, cols: across }, activation, requantize };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x), Some(weights), bias] })
}

/// The sizes along one axis.
struct Axis {
    input: usize,
    kernel: usize,
    stride: usize,
    output: usize,
}

impl Axis {
    /// Returns `None` for sizes out of range.
    fn new(input: usize, kernel: usize, stride: usize, output: usize) -> Option<Self> {
        let sound = [input, kernel, stride, output].iter().all(|size| (1..=MAX_EXTENT).contains(size));
        sound.then_some(Self { input, kernel, stride, output })
    }

    /// Returns the cells before and after the spread input. Returns `None` unless a convolution of the output would
    /// give the shape of the input.
    fn padding(&self, padding: Padding) -> Option<[usize; 2]> {
        let Self { input, kernel, stride, output } = *self;
        let made = match padding {
            Padding::Same => output.div_ceil(stride),
            _ => (output + 1).checked_sub(kernel)?.div_ceil(stride),
        };
        if made != input {
            return None;
        }
        let reach = (input - 1) * stride + kernel;
        let cut = if padding == Padding::Same { reach.saturating_sub(output) / 2 } else { 0 };
        let before = kernel - 1 - cut;
        let spread = (input - 1) * stride + 1;
        Some([before, (output + kernel - 1).checked_sub(spread + before)?])
    }
}
