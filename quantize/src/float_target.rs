//! Requirements on the floating-point codes of a tensor, and the scale that follows from a range of real values.

use guardbit_graph::ops::FloatBlockScale;
use guardbit_graph::{DType, RealCodes};

use crate::target::allowed;
use crate::{Parameters, Scales};

/// Dtypes of the operands of layers on floating-point codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortFloats {
    /// Dtype of activations: float8 or float16 or bfloat16.
    pub activations: DType,
    /// Dtype of weights: float8, or that of the activations.
    pub weights: DType,
    /// Scales of blocks of activations.
    pub activation_blocks: Option<BlockScales>,
    /// Scales of blocks of weights.
    pub weight_blocks: Option<BlockScales>,
}

/// Scales that blocks of an operand's elements share. Blocks lie along the products of a sum: along input channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockScales {
    /// A power of two per 32 elements, as of OCP Microscaling Formats 1.0. Nothing is left to choose.
    Mx,
    /// A value of e4m3 per 16 elements, in addition to one float32 per tensor, as of NVFP4.
    Nv,
}

impl ShortFloats {
    /// Returns codes without scales of blocks.
    pub fn new(activations: DType, weights: DType) -> Self {
        Self { activations, weights, activation_blocks: None, weight_blocks: None }
    }
}

impl BlockScales {
    /// Returns the operation that chooses the scales of blocks along an axis.
    pub fn op(self, axis: usize, element_dtype: DType) -> FloatBlockScale {
        let (block_size, scale_dtype) = match self {
            Self::Mx => (32, DType::Float8E8M0),
            Self::Nv => (16, DType::Float8E4M3Fn),
        };
        FloatBlockScale { axis, block_size, scale_dtype, element_dtype }
    }

    /// Returns the scale of a tensor with a magnitude, with which the largest scale of a block is the largest value of
    /// e4m3; `None` if there is none.
    pub fn scale(self, magnitude: f64, target: &FloatTarget) -> Option<f32> {
        const LARGEST_SCALE: f64 = 448.0;
        let scale = (magnitude / (target.largest() * LARGEST_SCALE)) as f32;
        (self == Self::Nv).then_some(if scale.is_normal() { scale } else { 1.0 })
    }
}

/// Floating-point codes of a tensor: `real = scale * value of the code`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatTarget {
    dtype: DType,
    codes: RealCodes,
    largest: f64,
    scales: Scales,
}

impl FloatTarget {
    /// Returns the requirements for a dtype with finite codes of at most 16 bits, or `None` for another dtype.
    pub fn new(dtype: DType, scales: Scales) -> Option<Self> {
        let format = dtype.float_format().filter(|_| dtype.is_short_float() && dtype != DType::Float8E8M0)?;
        let codes = RealCodes::of(dtype)?;
        Some(Self { dtype, codes, largest: codes.real(format.largest() as i32).into(), scales })
    }

    /// Returns the dtype of the codes.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the largest finite value of a code.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns the scale with which the largest code has a magnitude: `magnitude / largest` in float64, rounded to
    /// float32. If the scale must be a power of two, it is the least one that is not below this quotient.
    ///
    /// Codes of 16 bits have the scale 1, and so have codes whose scale would be below the least normal float32.
    pub fn scale(&self, magnitude: f64) -> f32 {
        match self.dtype.bits() {
            16 => 1.0,
            _ => allowed(magnitude / self.largest, self.scales).map_or(1.0, |scale| scale as f32),
        }
    }

    /// Returns the code of a real value as ONNX `QuantizeLinear` computes it: `value / scale` in float32, rounded to
    /// the nearest code, ties to even. Values beyond the largest code become the largest code of 8 bits, and infinity
    /// with 16 bits.
    pub fn code(&self, value: f32, scale: f32) -> i32 {
        self.codes.code(value / scale, self.saturates())
    }

    /// Returns the real value of a code, computed in float32 like ONNX `DequantizeLinear`.
    pub fn real(&self, code: i32, scale: f32) -> f32 {
        self.codes.real(code) * scale
    }

    /// Returns whether values beyond the largest code become the largest code.
    pub fn saturates(&self) -> bool {
        self.dtype.bits() < 16
    }

    /// Returns the sum of the squared errors of values with their counts.
    pub fn error(&self, values: impl Iterator<Item = (f64, u64)>, scale: f32) -> f64 {
        let squared = |(value, count): (f64, u64)| {
            let error = f64::from(self.real(self.code(value as f32, scale), scale)) - value;
            error * error * count as f64
        };
        values.map(squared).sum()
    }

    /// Returns scale and zero point.
    pub(crate) fn parameters(scale: f32) -> Parameters {
        Parameters { scale, zero_point: 0 }
    }
}
