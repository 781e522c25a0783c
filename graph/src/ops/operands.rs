//! The operands of a node as its operation sees them, with the checks that operations share.

use guardbit_num::{MultiplierError, Requantizer};

use crate::dot::Bias;
use crate::{DType, GraphError, Integers, Op, OutputSpec, Quantization, Requantize, Tensor};

/// The inputs and the output of one node.
pub(crate) struct Operands<'a> {
    pub op: &'static str,
    pub inputs: Vec<Option<&'a Tensor>>,
    pub output_name: &'a str,
    pub output_dtype: DType,
    pub output_quantization: Option<&'a Quantization>,
}

impl<'a> Operands<'a> {
    /// Returns the operands of a node with the output `output`.
    pub fn new(op: &Op, inputs: Vec<Option<&'a Tensor>>, output: &'a OutputSpec) -> Self {
        Self {
            op: op.name(),
            inputs,
            output_name: &output.name,
            output_dtype: output.dtype,
            output_quantization: output.quantization.as_ref(),
        }
    }

    /// Checks that there are `min..=max` inputs and that the first `min` are present.
    pub fn expect_inputs(&self, min: usize, max: usize) -> Result<(), GraphError> {
        let present = self.inputs.iter().take(min).all(Option::is_some);
        if (min..=max).contains(&self.inputs.len()) && present {
            return Ok(());
        }
        Err(self.arity_error(if min == max { min.to_string() } else { format!("{min} to {max}") }))
    }

    /// Checks that there are inputs and that none is absent.
    pub fn expect_some_inputs(&self) -> Result<(), GraphError> {
        if !self.inputs.is_empty() && self.inputs.iter().all(Option::is_some) {
            return Ok(());
        }
        Err(self.arity_error("1 or more".into()))
    }

    /// Returns input `index`, which [`expect_inputs`](Self::expect_inputs) has checked.
    pub fn input(&self, index: usize) -> &'a Tensor {
        self.inputs[index].expect("expect_inputs has checked that the input is there")
    }

    /// Returns input `index` if it is present.
    pub fn optional(&self, index: usize) -> Option<&'a Tensor> {
        self.inputs.get(index).copied().flatten()
    }

    /// Returns input `index`, or an error if it is absent.
    fn present(&self, index: usize) -> Result<&'a Tensor, GraphError> {
        self.optional(index).ok_or_else(|| self.arity_error(format!("{} or more", index + 1)))
    }

    /// Returns the shape of input `index`, which must have rank `N`.
    pub fn shape<const N: usize>(&self, index: usize) -> Result<[usize; N], GraphError> {
        let tensor = self.present(index)?;
        let shape = <[usize; N]>::try_from(tensor.ty.shape.as_slice());
        shape.map_err(|_| self.shape_error(tensor, format!("rank {N}")))
    }

    /// Checks that input `index` has a single element.
    pub fn expect_one_element(&self, index: usize) -> Result<(), GraphError> {
        let tensor = self.present(index)?;
        if tensor.ty.len() == 1 { Ok(()) } else { Err(self.shape_error(tensor, "one element".into())) }
    }

    /// Checks that input `index` has one of these dtypes.
    pub fn expect_dtype(&self, index: usize, allowed: &[DType]) -> Result<(), GraphError> {
        let tensor = self.present(index)?;
        self.check_dtype(&tensor.name, tensor.ty.dtype, allowed)
    }

    /// Checks that the output has one of these dtypes.
    pub fn expect_output_dtype(&self, allowed: &[DType]) -> Result<(), GraphError> {
        self.check_dtype(self.output_name, self.output_dtype, allowed)
    }

    /// Returns the only scale and zero point of input `index`, which must hold activations.
    pub fn activation(&self, index: usize) -> Result<&'a Quantization, GraphError> {
        self.expect_dtype(index, ACTIVATIONS)?;
        self.per_tensor(index)
    }

    /// Returns the only scale and zero point of the output, which must hold activations.
    pub fn output_activation(&self) -> Result<&'a Quantization, GraphError> {
        self.expect_output_dtype(ACTIVATIONS)?;
        self.single(self.output_name, self.output_quantization)
    }

    /// Returns the scales and zero points of input `index` and of the output, which may also have 32 bits.
    pub fn moved_codes(&self, index: usize) -> Result<(&'a Quantization, &'a Quantization), GraphError> {
        let allowed = [ACTIVATIONS, &[DType::Int32]].concat();
        self.expect_dtype(index, &allowed)?;
        self.expect_output_dtype(&allowed)?;
        Ok((self.per_tensor(index)?, self.single(self.output_name, self.output_quantization)?))
    }

    /// Returns the only scale and zero point of input `index`.
    pub fn per_tensor(&self, index: usize) -> Result<&'a Quantization, GraphError> {
        let tensor = self.present(index)?;
        self.single(&tensor.name, tensor.ty.quantization.as_ref())
    }

    /// Checks that the output has the dtype, scale, zero point and range of input `index`.
    pub fn expect_output_like(&self, index: usize) -> Result<(), GraphError> {
        self.expect_output_dtype(&[self.present(index)?.ty.dtype])?;
        if self.output_quantization != self.present(index)?.ty.quantization.as_ref() {
            let input = self.present(index)?;
            let range = |quantization: Option<&Quantization>| quantization.and_then(Quantization::range);
            let what = match range(self.output_quantization) == range(input.ty.quantization.as_ref()) {
                true => "scale and zero point differ",
                false => "the range of its codes differs",
            };
            return Err(self.operand_error(self.output_name, format!("{what} from `{}`", input.name)));
        }
        Ok(())
    }

    /// Returns the codes of input `index`, which must be a constant.
    pub fn constant(&self, index: usize) -> Result<Integers, GraphError> {
        let tensor = self.present(index)?;
        let error = || self.operand_error(&tensor.name, "must be a constant".into());
        tensor.codes().cloned().ok_or_else(error)
    }

    /// Returns scales and zero points of the weights, one per output channel. They may be per tensor or along `axis`.
    pub fn weight_channels(
        &self,
        index: usize,
        axis: usize,
        channels: usize,
    ) -> Result<(Vec<f32>, Vec<i32>), GraphError> {
        let tensor = self.input(index);
        let Some(quantization) = &tensor.ty.quantization else {
            return Err(self.operand_error(&tensor.name, "has no scale".into()));
        };
        if quantization.axis().is_some_and(|a| a != axis) {
            let problem = format!("scales must be along axis {axis}, that of the output channels");
            return Err(self.operand_error(&tensor.name, problem));
        }
        let scales = (0..channels).map(|c| quantization.scale(c)).collect();
        Ok((scales, (0..channels).map(|c| quantization.zero_point(c)).collect()))
    }

    /// Returns the bias if there is one: int32 or int64, one constant per output channel, with zero point 0.
    pub fn bias(&self, index: usize, channels: usize) -> Result<Option<Bias>, GraphError> {
        let Some(tensor) = self.optional(index) else { return Ok(None) };
        self.check_dtype(&tensor.name, tensor.ty.dtype, &[DType::Int32, DType::Int64])?;
        if tensor.ty.len() != channels {
            return Err(self.shape_error(tensor, format!("[{channels}]")));
        }
        if tensor.ty.quantization.as_ref().is_some_and(|q| q.zero_points().iter().any(|&z| z != 0)) {
            return Err(self.operand_error(&tensor.name, "a bias must have zero point 0".into()));
        }
        let constant = tensor.constant.as_ref();
        let constant =
            constant.ok_or_else(|| self.operand_error(&tensor.name, "must be a constant".into()))?;
        Ok(Some(Bias { values: constant.wide(), bits: tensor.ty.dtype.bits() }))
    }

    /// Returns a requantizer for these scales.
    pub fn requantizer(
        &self,
        requantize: Requantize,
        input: f32,
        weight: f32,
        output: f32,
    ) -> Result<Requantizer, GraphError> {
        requantize.requantizer(input, weight, output).map_err(|e| self.multiplier_error(e))
    }

    /// Returns an error about a multiplier that names the node.
    pub fn multiplier_error(&self, source: MultiplierError) -> GraphError {
        GraphError::Multiplier { node: self.output_name.into(), op: self.op, source }
    }

    /// Returns an error about an attribute that names the node.
    pub fn attribute_error(&self, attribute: &'static str, problem: String) -> GraphError {
        GraphError::Attribute { node: self.output_name.into(), op: self.op, attribute, problem }
    }

    /// Returns an error about a shape that names the node.
    pub fn shape_error(&self, tensor: &Tensor, expected: String) -> GraphError {
        GraphError::Shape {
            node: self.output_name.into(),
            op: self.op,
            tensor: tensor.name.clone(),
            found: tensor.ty.shape.clone(),
            expected,
        }
    }

    /// Returns an error about an operand that names the node.
    pub fn operand_error(&self, tensor: &str, problem: String) -> GraphError {
        GraphError::Operand { node: self.output_name.into(), op: self.op, tensor: tensor.into(), problem }
    }

    fn arity_error(&self, expected: String) -> GraphError {
        let found = self.inputs.iter().flatten().count();
        GraphError::Arity { node: self.output_name.into(), op: self.op, expected, found }
    }

    fn check_dtype(&self, tensor: &str, found: DType, allowed: &[DType]) -> Result<(), GraphError> {
        if allowed.contains(&found) {
            return Ok(());
        }
        let expected = allowed.iter().map(|d| d.name()).collect::<Vec<_>>().join(" or ");
        let node = self.output_name.into();
        Err(GraphError::DType { node, op: self.op, tensor: tensor.into(), found, expected })
    }

    fn single(
        &self,
        tensor: &str,
        quantization: Option<&'a Quantization>,
    ) -> Result<&'a Quantization, GraphError> {
        match quantization {
            None => Err(self.operand_error(tensor, "has no scale".into())),
            Some(q) if q.scales().len() > 1 => {
                Err(self.operand_error(tensor, "must have a single scale and zero point".into()))
            }
            Some(q) => Ok(q),
        }
    }
}

/// The dtypes of activations that a multiplier accepts.
const ACTIVATIONS: &[DType] =
    &[DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16];

/// The dtypes of weights.
pub(crate) const WEIGHTS: &[DType] = ACTIVATIONS;
