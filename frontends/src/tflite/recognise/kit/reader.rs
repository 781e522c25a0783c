//! The context of the reader of an operator.

use guardbit_graph::{DType, Op, Tensor, TensorId, TensorType};

use super::network::Network;
use super::policy::Profile;
use crate::tflite::parse::{Input, Operator, OperatorPlace, Options, TfliteError};

/// An operator, the network read so far, and its output's type.
pub(crate) struct OperatorReader<'n, 'a> {
    pub network: &'n mut Network<'a>,
    pub place: OperatorPlace,
    pub operator: &'n Operator<'a>,
    pub inputs: &'n [Input],
    pub output: &'n TensorType,
    /// The types of all outputs.
    pub outputs: &'n [TensorType],
}

impl<'a> OperatorReader<'_, 'a> {
    /// Returns the options, which must have number `expected` in the schema.
    pub fn options(&self, expected: u8) -> Result<Options<'a>, TfliteError> {
        self.operator.options(expected)
    }

    /// Returns the only input of an operator.
    pub fn one_input(&mut self) -> Result<Vec<Option<TensorId>>, TfliteError> {
        self.expect_inputs(1, 1)?;
        Ok(vec![Some(self.input(0)?)])
    }

    /// Checks that the operator has `min..=max` inputs.
    pub fn expect_inputs(&self, min: usize, max: usize) -> Result<(), TfliteError> {
        match self.inputs.len() {
            count if (min..=max).contains(&count) => Ok(()),
            count => Err(self.error(format!("has {count} inputs, expected {min} to {max}"))),
        }
    }

    /// Returns input `index`, which must be present.
    pub fn input(&mut self, index: usize) -> Result<TensorId, TfliteError> {
        match self.optional(index)? {
            Some(id) => Ok(id),
            None => Err(self.error(format!("lacks input {index}"))),
        }
    }

    /// Returns input `index`, if present.
    pub fn optional(&mut self, index: usize) -> Result<Option<TensorId>, TfliteError> {
        self.network.operand(self.operand(index), &self.place)
    }

    /// Returns the bias at input `index`, if present.
    ///
    /// Its width is that of the kernel's accumulator: 32 bits, or 64 bits with 16-bit activations `x`.
    pub fn bias(&mut self, index: usize, x: TensorId) -> Result<Option<TensorId>, TfliteError> {
        let Some(id) = self.optional(index)? else { return Ok(None) };
        let (x, bias) = (&self.tensor(x).ty, self.tensor(id));
        if bias.ty.dtype == DType::Int64 && x.dtype != DType::Int16 {
            let problem =
                format!("bias `{}` is int64, which needs int16 activations, not {}", bias.name, x.dtype);
            return Err(self.error(problem));
        }
        Ok(Some(id))
    }

    /// Rejects a bias scale that the runtime rejects.
    ///
    /// LiteRT's `GetQuantizedConvolutionMultipler` allows less than 0.02 output steps of distance from input scale
    /// times weight scale.
    pub fn check_bias_scale(
        &self,
        x: TensorId,
        weights: TensorId,
        bias: Option<TensorId>,
    ) -> Result<(), TfliteError> {
        const STEPS: f64 = 0.02;
        let single =
            |ty: &TensorType| ty.quantization.as_ref().filter(|q| q.scales().len() == 1).map(|q| q.scale(0));
        let Some(bias) = bias.map(|bias| self.tensor(bias)) else { return Ok(()) };
        let scales = [&self.tensor(x).ty, &self.tensor(weights).ty, &bias.ty, self.output].map(single);
        let [Some(x), Some(weight), Some(own), Some(output)] = scales else { return Ok(()) };
        let product = f64::from(x * weight);
        if (product - f64::from(own)).abs() / f64::from(output) <= STEPS {
            return Ok(());
        }
        let name = &bias.name;
        Err(self.error(format!(
            "bias `{name}` has scale {own:e}, input scale times weight scale is {product:e}: LiteRT \
             rejects more than {STEPS} output steps ({output:e}) between them"
        )))
    }

    /// Returns input `index`, which must be a constant.
    pub fn constant(&mut self, index: usize) -> Result<TensorId, TfliteError> {
        let id = self.input(index)?;
        let tensor = self.network.graph_tensor(id);
        if tensor.constant.is_none() {
            return Err(self.error(format!("tensor `{}` must be a constant", tensor.name)));
        }
        Ok(id)
    }

    /// Returns whether input `index` is a constant with a shape, axes or the like.
    pub fn is_constant(&mut self, index: usize) -> Result<bool, TfliteError> {
        let Some(tensor) = self.operand(index).tensor() else { return Ok(false) };
        Ok(self.network.integers(tensor)?.is_some())
    }

    /// Returns input `index`, a constant of indices, which have 32 bits in the graph.
    pub fn indices(&mut self, index: usize) -> Result<TensorId, TfliteError> {
        let tensor = self.present(index)?;
        match self.network.indices(self.operand(index), &self.place)? {
            Some(id) => Ok(id),
            None => Err(self.must_be_constant(tensor)),
        }
    }

    /// Checks that the operator has `count` outputs.
    pub fn expect_outputs(&self, count: usize) -> Result<(), TfliteError> {
        match self.outputs.len() {
            found if found == count => Ok(()),
            found => Err(self.error(format!("has {found} outputs, expected {count}"))),
        }
    }

    /// Returns the only value of input `index`, a constant with an axis or the like.
    pub fn integer(&mut self, index: usize) -> Result<i64, TfliteError> {
        match self.integers(index)?[..] {
            [value] => Ok(value),
            ref values => Err(self.error(format!("input {index} has {} values, expected 1", values.len()))),
        }
    }

    /// Returns the sizes in input `index`, a constant. Negative sizes are an error.
    pub fn sizes(&mut self, index: usize) -> Result<Vec<usize>, TfliteError> {
        let values = self.integers(index)?;
        let size = |value: i64| {
            usize::try_from(value)
                .map_err(|_| self.error(format!("input {index} contains the negative value {value}")))
        };
        values.into_iter().map(size).collect()
    }

    /// Returns the pairs of sizes in input `index`, a constant. Negative sizes are an error.
    pub fn pairs(&mut self, index: usize) -> Result<Vec<[usize; 2]>, TfliteError> {
        Ok(self.sizes(index)?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    }

    /// Returns the axes in input `index`, a constant: from 0, in order, each once.
    pub fn axes(&mut self, index: usize, rank: usize) -> Result<Vec<usize>, TfliteError> {
        let axes = self.integers(index)?.into_iter().map(|axis| self.axis(axis, rank));
        let mut axes = axes.collect::<Result<Vec<_>, _>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// Returns the shape of a tensor of the graph.
    pub fn shape(&self, id: TensorId) -> &[usize] {
        &self.tensor(id).ty.shape
    }

    /// Returns input `index`, constant weights of a type for which the profile is verified.
    pub fn weights(&mut self, index: usize) -> Result<TensorId, TfliteError> {
        let id = self.constant(index)?;
        let known = self.profile().check_weights(&self.tensor(id).ty);
        known.map(|()| id).map_err(|problem| self.error(problem))
    }

    /// Returns the values of input `index`, a constant with a shape, axes or the like.
    pub fn integers(&mut self, index: usize) -> Result<Vec<i64>, TfliteError> {
        let tensor = self.present(index)?;
        match self.network.integers(tensor)? {
            Some(values) => Ok(values),
            None => Err(self.must_be_constant(tensor)),
        }
    }

    /// Adds an operation on `x` that has no operator in the file. Its output has the type of `x`.
    pub fn before(&mut self, x: TensorId, op: impl Into<Op>, suffix: &str) -> Result<TensorId, TfliteError> {
        self.network.before(x, op.into(), suffix, &self.place)
    }

    /// Adds a table with an output code for each code of `x`, from the least one on.
    pub fn table(&mut self, x: TensorId, codes: Vec<i32>) -> Result<TensorId, TfliteError> {
        self.network.table(x, codes, self.output, &self.place)
    }

    /// Returns an axis in `0..rank`. A negative one counts from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, TfliteError> {
        let from_start = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        let in_range = from_start.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        in_range.ok_or_else(|| self.error(format!("axis {axis} does not exist in {rank} axes")))
    }

    /// Returns the runtime whose results are computed.
    pub fn profile(&self) -> Profile {
        self.network.profile
    }

    /// Returns a tensor of the graph.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        self.network.graph_tensor(id)
    }

    /// Returns an error that names the operator.
    pub fn error(&self, problem: String) -> TfliteError {
        TfliteError::Operator { place: self.place.clone(), problem }
    }

    fn operand(&self, index: usize) -> Input {
        self.inputs.get(index).copied().unwrap_or(Input::Absent)
    }

    fn present(&self, index: usize) -> Result<usize, TfliteError> {
        self.operand(index).tensor().ok_or_else(|| self.error(format!("lacks input {index}")))
    }

    fn must_be_constant(&self, tensor: usize) -> TfliteError {
        self.error(format!("tensor `{}` must be a constant", self.network.file_tensor(tensor).name))
    }
}
