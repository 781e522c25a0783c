//! Builds quantized networks, and single operations of them.

use std::collections::{HashMap, HashSet};

use guardbit_graph::ops::{Dequantize, FloatUnary, QuantizeFloat, RealFunction, Reshape, Table};
use guardbit_graph::{
    DType, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Requantize, TensorId, TensorType,
};
use guardbit_num::{Rounding, Scheme};

use crate::{QuantizeError, TensorCodes};

/// Arithmetic of ONNX Runtime: multipliers in float32, products rounded half to even, then the zero point.
pub(crate) const EVEN: Requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };

/// Network that is being built.
pub(crate) struct Emit {
    builder: GraphBuilder,
    names: HashSet<String>,
    /// Real values of tensors of codes.
    reals: HashMap<TensorId, TensorId>,
}

impl Emit {
    /// Starts an empty network; `taken` holds names that are reserved for their own tensors.
    pub fn new<'a>(name: &str, taken: impl Iterator<Item = &'a str>) -> Self {
        let names = taken.map(str::to_owned).collect();
        Self { builder: GraphBuilder::new(name), names, reals: HashMap::new() }
    }

    /// Returns an unused name.
    pub fn fresh(&mut self, base: &str, what: &str) -> String {
        let mut name = format!("{base}_{what}");
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, ty: TensorType) -> Result<TensorId, QuantizeError> {
        Ok(self.builder.input(name, ty)?)
    }

    /// Adds a constant.
    pub fn constant(
        &mut self,
        name: String,
        ty: TensorType,
        codes: Vec<i32>,
    ) -> Result<TensorId, QuantizeError> {
        Ok(self.builder.constant(name, ty, codes)?)
    }

    /// Adds a node.
    pub fn node(
        &mut self,
        op: impl Into<Op>,
        inputs: &[TensorId],
        output: OutputSpec,
    ) -> Result<TensorId, QuantizeError> {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        Ok(self.builder.node(op, &inputs, output)?)
    }

    /// Adds a node whose output is codes.
    pub fn codes(
        &mut self,
        op: impl Into<Op>,
        inputs: &[TensorId],
        name: &str,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let output = codes.spec(name)?;
        self.node(op, inputs, output)
    }

    /// Adds a node whose output is real values.
    pub fn real(
        &mut self,
        op: impl Into<Op>,
        inputs: &[TensorId],
        name: String,
    ) -> Result<TensorId, QuantizeError> {
        self.node(op, inputs, OutputSpec { name, dtype: DType::Float32, quantization: None })
    }

    /// Adds a node of a float network.
    pub fn float_node(
        &mut self,
        op: Op,
        inputs: &[Option<TensorId>],
        name: String,
    ) -> Result<TensorId, QuantizeError> {
        let output = OutputSpec { name, dtype: DType::Float32, quantization: None };
        Ok(self.builder.node(op, inputs, output)?)
    }

    /// Returns the real values of a tensor: itself, or its dequantized codes.
    pub fn dequantized(&mut self, id: TensorId) -> Result<TensorId, QuantizeError> {
        let tensor = self.builder.tensor(id);
        if tensor.ty.dtype.is_float() {
            return Ok(id);
        }
        if let Some(&real) = self.reals.get(&id) {
            return Ok(real);
        }
        let base = tensor.name.clone();
        let name = self.fresh(&base, "real");
        let real = self.real(Dequantize {}, &[id], name)?;
        self.reals.insert(id, real);
        Ok(real)
    }

    /// Adds a quantizer of real values. For `zero_point_first` see [`QuantizeFloat`].
    pub fn quantized(
        &mut self,
        real: TensorId,
        name: &str,
        codes: &TensorCodes,
        zero_point_first: bool,
    ) -> Result<TensorId, QuantizeError> {
        let op = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first };
        self.codes(op, &[real], name, codes)
    }

    /// Adds a function of single codes: a table of all codes if they have 8 bits, otherwise the function on
    /// their real values.
    pub fn function(
        &mut self,
        op: &FloatUnary,
        input: TensorId,
        name: &str,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let ty = &self.builder.tensor(input).ty;
        let (Some(from), true) = (&ty.quantization, ty.dtype.bits() <= 8) else {
            let real = self.dequantized(input)?;
            let inner = self.fresh(name, "real");
            let real = self.real(op.clone(), &[real], inner)?;
            return self.quantized(real, name, codes, false);
        };
        let (scale, zero_point) = (from.scale(0), from.zero_point(0));
        let entry = |code: i32| {
            // Dequantizes, computes and quantizes like ONNX Runtime.
            let real = (code - zero_point) as f32 * scale;
            codes.code(op.function.apply(real, &op.parameters))
        };
        let entries: Vec<i32> = (ty.dtype.min()..=ty.dtype.max()).map(entry).collect();
        let table = self.fresh(name, "table");
        let ty = codes.ty(&table, &[entries.len()])?;
        let table = self.constant(table, ty, entries)?;
        self.codes(Table {}, &[input, table], name, codes)
    }

    /// Converts codes of 8 bits to other codes of the same real values with a table. ONNX Runtime would merge
    /// two successive quantizers.
    pub fn requantized(
        &mut self,
        input: TensorId,
        name: &str,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let keep = FloatUnary { function: RealFunction::Clip, parameters: vec![f32::MIN, f32::MAX] };
        self.function(&keep, input, name, codes)
    }

    /// Adds a reshape.
    pub fn reshaped(&mut self, id: TensorId, shape: &[usize], name: &str) -> Result<TensorId, QuantizeError> {
        let output = OutputSpec { name: name.into(), ..OutputSpec::of(self.builder.tensor(id)) };
        let shape = shape.iter().map(|&size| size as i64).collect();
        self.node(Reshape { shape }, &[id], output)
    }

    /// Returns the shape of a tensor.
    pub fn shape(&self, id: TensorId) -> &[usize] {
        &self.builder.tensor(id).ty.shape
    }

    /// Returns whether a tensor has exactly these codes.
    pub fn has_codes(&self, id: TensorId, codes: &TensorCodes) -> bool {
        let tensor = self.builder.tensor(id);
        codes.ty(&tensor.name, &tensor.ty.shape).is_ok_and(|ty| ty == tensor.ty)
    }

    /// Returns whether all tensors have codes of 8 bits of one type, for which the runtime has kernels.
    pub fn bytes_alike(&self, inputs: &[TensorId], output: &TensorCodes) -> bool {
        let alike = |id: &TensorId| self.builder.tensor(*id).ty.dtype == output.dtype;
        output.dtype.bits() == 8 && inputs.iter().all(alike)
    }

    /// Returns the network.
    pub fn finish(self, outputs: Vec<TensorId>) -> Result<Graph, QuantizeError> {
        Ok(self.builder.finish(outputs)?)
    }
}
