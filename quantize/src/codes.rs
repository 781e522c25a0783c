//! Codes of a tensor: their dtype, range, scale and zero point.

use guardbit_graph::{CodeRange, DType, OutputSpec, Quantization, TensorType};

use crate::{Parameters, QuantizeError, Scales, Symmetry, Target};

/// Requirements on the codes of activations or weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSetting {
    /// Width in bits, 2 to 16.
    pub bits: u32,
    /// Whether codes are two's complement; otherwise they are unsigned.
    pub signed: bool,
    /// Whether the least code of signed codes is left out, e.g. -127 to 127.
    pub restricted: bool,
    /// Whether the zero point may be chosen.
    pub symmetry: Symmetry,
    /// Allowed scales.
    pub scales: Scales,
}

impl CodeSetting {
    /// Default for activations: 0 to 255, any zero point. ONNX Runtime on x86-64 computes with unsigned
    /// activations, whatever a file contains, unless a session is configured otherwise.
    pub const ACTIVATIONS: Self = Self {
        bits: 8,
        signed: false,
        restricted: false,
        symmetry: Symmetry::Asymmetric,
        scales: Scales::Any,
    };

    /// Default for weights: -127 to 127, zero point 0.
    pub const WEIGHTS: Self =
        Self { signed: true, restricted: true, symmetry: Symmetry::Symmetric, ..Self::ACTIVATIONS };

    /// Returns the range of the codes.
    pub fn range(self) -> CodeRange {
        let (min, max) = match self.signed {
            true => (-(1 << (self.bits - 1)) + i32::from(self.restricted), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        };
        CodeRange::new(min, max).expect("widths of at least 2 bits have codes")
    }

    /// Returns the requirements in the form in which methods receive them.
    pub fn target(self) -> Target {
        Target { codes: self.range(), symmetry: self.symmetry, scales: self.scales }
    }

    /// Returns the dtype of the codes: 8 bits wide for up to 8 bits, because runtimes have kernels for those,
    /// otherwise 16 bits wide.
    pub fn dtype(self) -> DType {
        dtype_of(self.range())
    }
}

/// Returns the smallest dtype of 8 or 16 bits that holds the codes.
pub(crate) fn dtype_of(codes: CodeRange) -> DType {
    let holds = |dtype: &DType| CodeRange::of(*dtype).includes(codes);
    let unsigned = codes.min() >= 0;
    let order = match unsigned {
        true => [DType::UInt8, DType::UInt16, DType::Int16],
        false => [DType::Int8, DType::Int16, DType::Int16],
    };
    order.into_iter().find(holds).unwrap_or(DType::Int16)
}

/// Codes of an activation tensor: a variable of the simulated network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensorCodes {
    /// Dtype of the codes.
    pub dtype: DType,
    /// Range of the codes.
    pub range: CodeRange,
    /// Scale and zero point.
    pub parameters: Parameters,
}

impl TensorCodes {
    /// Returns codes of a range with a scale and a zero point.
    pub fn new(range: CodeRange, parameters: Parameters) -> Self {
        Self { dtype: dtype_of(range), range, parameters }
    }

    /// Returns the code of a real value, rounded half to even and clamped.
    pub fn code(&self, value: f32) -> i32 {
        self.parameters.code(value, self.range)
    }

    /// Returns the real value of a code, computed in float32 like ONNX `DequantizeLinear`.
    pub fn real(&self, code: i32) -> f32 {
        (i64::from(code) - i64::from(self.parameters.zero_point)) as f32 * self.parameters.scale
    }

    /// Returns scale and zero point in the form of a tensor's type.
    ///
    /// # Errors
    /// [`QuantizeError::Scale`] if the scale is not a positive number.
    pub fn quantization(&self, tensor: &str) -> Result<Quantization, QuantizeError> {
        let Parameters { scale, zero_point } = self.parameters;
        let quantization = Quantization::per_tensor(scale, zero_point)
            .map_err(|source| QuantizeError::Scale { tensor: tensor.into(), source })?;
        Ok(quantization.with_range(self.range))
    }

    pub(crate) fn spec(&self, name: &str) -> Result<OutputSpec, QuantizeError> {
        let quantization = Some(self.quantization(name)?);
        Ok(OutputSpec { name: name.into(), dtype: self.dtype, quantization })
    }

    pub(crate) fn ty(&self, name: &str, shape: &[usize]) -> Result<TensorType, QuantizeError> {
        let quantization = Some(self.quantization(name)?);
        Ok(TensorType { shape: shape.to_vec(), dtype: self.dtype, quantization })
    }
}
