//! Which codes a tensor has: their dtype, range, scale and zero point.

use guardbit_graph::{CodeRange, DType, OutputSpec, Quantization, TensorType};

use crate::{Parameters, QuantizeError, Scales, Symmetry, Target};

/// What is wanted of the codes of activations or weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSetting {
    /// Width, 2 to 16.
    pub bits: u32,
    /// Two's complement, or plain binary.
    pub signed: bool,
    /// Whether the least code of signed ones is left out: -127 to 127.
    pub restricted: bool,
    /// Whether the zero point may be chosen.
    pub symmetry: Symmetry,
    /// Which scales are allowed.
    pub scales: Scales,
}

impl CodeSetting {
    /// Activations unless told otherwise: 0 to 255, any zero point. ONNX Runtime on x86-64 computes on unsigned activations
    /// whatever a file has, unless a session is told otherwise.
    pub const ACTIVATIONS: Self = Self {
        bits: 8,
        signed: false,
        restricted: false,
        symmetry: Symmetry::Asymmetric,
        scales: Scales::Any,
    };

    /// Weights unless told otherwise: -127 to 127, zero point 0.
    pub const WEIGHTS: Self =
        Self { signed: true, restricted: true, symmetry: Symmetry::Symmetric, ..Self::ACTIVATIONS };

    /// Least and greatest code.
    pub fn range(self) -> CodeRange {
        let (min, max) = match self.signed {
            true => (-(1 << (self.bits - 1)) + i32::from(self.restricted), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        };
        CodeRange::new(min, max).expect("a width of at least 2 bits has codes")
    }

    /// What a method is asked for.
    pub fn target(self) -> Target {
        Target { codes: self.range(), symmetry: self.symmetry, scales: self.scales }
    }

    /// The type that holds the codes: of 8 bits up to 8 bits, since runtimes have kernels for those, else of 16.
    pub fn dtype(self) -> DType {
        dtype_of(self.range())
    }
}

/// The least dtype of 8 or 16 bits that holds codes.
pub(crate) fn dtype_of(codes: CodeRange) -> DType {
    let holds = |dtype: &DType| CodeRange::of(*dtype).includes(codes);
    let unsigned = codes.min() >= 0;
    let order = match unsigned {
        true => [DType::UInt8, DType::UInt16, DType::Int16],
        false => [DType::Int8, DType::Int16, DType::Int16],
    };
    order.into_iter().find(holds).unwrap_or(DType::Int16)
}

/// The codes of an activation tensor: a variable of the simulated network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensorCodes {
    /// The type that holds them.
    pub dtype: DType,
    /// Least and greatest code.
    pub range: CodeRange,
    /// Scale and zero point.
    pub parameters: Parameters,
}

impl TensorCodes {
    /// Codes of a range with a scale and a zero point.
    pub fn new(range: CodeRange, parameters: Parameters) -> Self {
        Self { dtype: dtype_of(range), range, parameters }
    }

    /// The code of a real value: half to even, clamped.
    pub fn code(&self, value: f32) -> i32 {
        self.parameters.code(value, self.range)
    }

    /// The real value of a code, in float32 as ONNX `DequantizeLinear` has it.
    pub fn real(&self, code: i32) -> f32 {
        (i64::from(code) - i64::from(self.parameters.zero_point)) as f32 * self.parameters.scale
    }

    /// As a tensor's type has it.
    ///
    /// # Errors
    /// [`QuantizeError::Scale`] if the scale is no positive number.
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
