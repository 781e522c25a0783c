//! The graph under construction.

use std::collections::HashMap;

use guardbit_graph::ops::Table;
use guardbit_graph::{
    DType, FileNode, FileOutcome, Graph, GraphBuilder, GraphError, Op, OutputSpec, Quantization, Tensor,
    TensorId, TensorType, plain_name,
};

use super::new_node::NewNode;
use super::policy::Profile;
use crate::tflite::parse::{self, Budget, Input, Names, Operator, OperatorPlace, State, TfliteError, Values};

/// A network under construction.
pub(crate) struct Network<'a> {
    /// The runtime whose results are computed.
    pub profile: Profile,
    /// The tensors of the file.
    tensors: HashMap<usize, parse::Tensor<'a>>,
    builder: GraphBuilder,
    /// The tensors of the graph created so far, by index in the file.
    ids: HashMap<usize, TensorId>,
    names: Names,
    /// The budget for additions of operators beyond their outputs.
    budget: Budget,
}

impl<'a> Network<'a> {
    /// Creates a network called `name` with the tensors of the file and without operators.
    pub fn new(
        name: &str,
        profile: Profile,
        tensors: HashMap<usize, parse::Tensor<'a>>,
        names: Names,
        budget: Budget,
    ) -> Self {
        Self { profile, tensors, builder: GraphBuilder::new(name), ids: HashMap::new(), names, budget }
    }

    /// Returns a tensor of the file.
    pub fn file_tensor(&self, index: usize) -> &parse::Tensor<'a> {
        &self.tensors[&index]
    }

    /// Returns the name of a tensor of the file. The first call records a note about the name, if there is one.
    pub fn name(&mut self, index: usize) -> String {
        let Some(tensor) = self.tensors.get_mut(&index) else { return String::new() };
        if let Some(note) = tensor.renamed.take() {
            self.builder.note(&tensor.name, note);
        }
        tensor.name.clone()
    }

    /// Adds an input of the network.
    pub fn add_input(&mut self, index: usize) -> Result<(), TfliteError> {
        let name = self.name(index);
        let ty = self.tensors[&index].ty()?.clone();
        let id = self.builder.input(name, ty).map_err(|error| at(None, error))?;
        self.ids.insert(index, id);
        Ok(())
    }

    /// Adds a state, which a step of a stream reads from the previous step.
    pub fn add_state(&mut self, state: &State<'_>) -> Result<(), TfliteError> {
        let fail = |problem: String| TfliteError::Operator { place: state.place.clone(), problem };
        let name = self.name(state.tensor);
        let ty = self.tensors[&state.tensor].ty()?.clone();
        self.builder.check_room(&name, &ty).map_err(|error| at(Some(&state.place), error))?;
        let codes = match &state.initial {
            Some(initial) => {
                let first = initial.ty()?;
                if (first.dtype, &first.shape) != (ty.dtype, &ty.shape) {
                    return Err(fail(format!(
                        "reads variable `{}` as {} {:?}, but it starts as {} {:?}",
                        plain_name(&state.variable),
                        ty.dtype,
                        ty.shape,
                        first.dtype,
                        first.shape
                    )));
                }
                match initial.data()?.map(|data| initial.values(data)).transpose()? {
                    Some(Values::Codes(codes)) => codes.to_vec(),
                    _ => return Err(fail("reads a variable of int64, which is not supported".into())),
                }
            }
            // TensorFlow Lite Micro fills the memory of variables with the code of 0.
            None if self.profile.is_micro() => {
                self.budget.spend(ty.len())?;
                vec![ty.quantization.as_ref().map_or(0, |quantization| quantization.zero_point(0)); ty.len()]
            }
            None => {
                return Err(fail(format!(
                    "reads variable `{}`, which no earlier initialization (CALL_ONCE) assigns: LiteRT \
                     rejects this; TensorFlow Lite Micro (`--profile tflm`) starts from 0",
                    plain_name(&state.variable)
                )));
            }
        };
        let id = self.builder.state(name, ty, codes).map_err(|error| at(Some(&state.place), error))?;
        self.ids.insert(state.tensor, id);
        Ok(())
    }

    /// Sets the next value of a state.
    pub fn carry(&mut self, state: &State<'_>) -> Result<(), TfliteError> {
        let next = self.operand(state.next, &state.place)?;
        let Some((&tensor, next)) = self.ids.get(&state.tensor).zip(next) else { return Ok(()) };
        self.builder.carry(tensor, next).map_err(|error| at(Some(&state.place), error))
    }

    /// Returns the tensor of the graph for an operand. A constant is added when it is read first.
    pub fn operand(&mut self, input: Input, place: &OperatorPlace) -> Result<Option<TensorId>, TfliteError> {
        let Some(index) = input.tensor() else { return Ok(None) };
        if let Some(&id) = self.ids.get(&index) {
            return Ok(Some(id));
        }
        let name = self.name(index);
        let tensor = &self.tensors[&index];
        let Some(data) = tensor.data()? else {
            return Err(TfliteError::Order { place: place.clone(), tensor: name });
        };
        let mut ty = tensor.ty()?.clone();
        self.builder.check_room(&name, &ty).map_err(|error| at(Some(place), error))?;
        if let Some(mended) = along_the_only_axis(&ty) {
            let axis = ty.quantization.replace(mended).and_then(|q| q.axis()).unwrap_or_default();
            let text = format!(
                "the scales are applied along the only axis, not along axis {axis} as declared in \
                         the file"
            );
            self.builder.note(&name, text);
        }
        let id = match tensor.values(data)? {
            Values::Codes(codes) => self.builder.packed_constant(name, ty, codes),
            Values::Wide(values) => self.builder.wide_constant(name, ty, values),
        };
        let id = id.map_err(|error| at(Some(place), error))?;
        self.ids.insert(index, id);
        Ok(Some(id))
    }

    /// Returns the values of a constant with a shape, axes or the like, or `None` if it is not a constant.
    pub fn integers(&mut self, index: usize) -> Result<Option<Vec<i64>>, TfliteError> {
        self.name(index);
        self.tensors[&index].integers()
    }

    /// Returns a constant of indices, converted from 64 to 32 bits, or `None` if it is not a constant.
    pub fn indices(&mut self, input: Input, place: &OperatorPlace) -> Result<Option<TensorId>, TfliteError> {
        let Some(index) = input.tensor() else { return Ok(None) };
        if !self.tensors[&index].is_wide()? || self.ids.contains_key(&index) {
            return match self.operand(input, place) {
                Err(TfliteError::Order { .. }) => Ok(None),
                operand => operand,
            };
        }
        let name = self.name(index);
        let tensor = &self.tensors[&index];
        let Some(codes) = tensor.narrow()? else { return Ok(None) };
        let shape = tensor.ty()?.shape.clone();
        let ty = TensorType { shape, dtype: DType::Int32, quantization: None };
        let id = self.builder.constant(name, ty, codes).map_err(|error| at(Some(place), error))?;
        self.ids.insert(index, id);
        Ok(Some(id))
    }

    /// Returns a tensor of the graph.
    pub fn graph_tensor(&self, id: TensorId) -> &Tensor {
        self.builder.tensor(id)
    }

    /// Adds a node on `x` that has no operator in the file. Its output has the type of `x` and is named after it.
    pub fn before(
        &mut self,
        x: TensorId,
        op: Op,
        suffix: &str,
        place: &OperatorPlace,
    ) -> Result<TensorId, TfliteError> {
        let tensor = self.builder.tensor(x);
        let name = format!("{}/{suffix}", tensor.name);
        let (dtype, quantization) = (tensor.ty.dtype, tensor.ty.quantization.clone());
        let name = self.names.invent(&plain_name(&name), place.index);
        let output = OutputSpec { name, dtype, quantization };
        self.builder.node(op, &[Some(x)], output).map_err(|error| at(Some(place), error))
    }

    /// Adds a table with a code for each code of `x`, from the least one on, with the dtype and quantization of
    /// `like`.
    pub fn table(
        &mut self,
        x: TensorId,
        codes: Vec<i32>,
        like: &TensorType,
        place: &OperatorPlace,
    ) -> Result<TensorId, TfliteError> {
        self.budget.spend(codes.len())?;
        let name = self.builder.tensor(x).name.clone();
        let mut name = |suffix| self.names.invent(&plain_name(&format!("{name}/{suffix}")), place.index);
        let (moved, table) = (name("moved"), name("table"));
        let TensorType { dtype, quantization, .. } = like.clone();
        let ty = TensorType { shape: vec![codes.len()], ..like.clone() };
        let table = self.builder.constant(table, ty, codes).map_err(|error| at(Some(place), error))?;
        let output = OutputSpec { name: moved, dtype, quantization };
        let id = self.builder.node(Table {}, &[Some(x), Some(table)], output);
        id.map_err(|error| at(Some(place), error))
    }

    /// Adds the node that computes the tensor `output` of the file, with type `ty`.
    pub fn add_node(
        &mut self,
        output: usize,
        ty: TensorType,
        NewNode { op, inputs }: NewNode,
        place: &OperatorPlace,
    ) -> Result<(), TfliteError> {
        let name = self.name(output);
        let spec = OutputSpec { name, dtype: ty.dtype, quantization: ty.quantization };
        let id = self.builder.node(op, &inputs, spec).map_err(|error| at(Some(place), error))?;
        let Tensor { name, ty: inferred, .. } = self.builder.tensor(id);
        if inferred.shape != ty.shape {
            return Err(TfliteError::Shape {
                place: place.clone(),
                tensor: name.clone(),
                declared: ty.shape,
                inferred: inferred.shape.clone(),
            });
        }
        self.ids.insert(output, id);
        Ok(())
    }

    /// Returns the number of nodes so far.
    pub fn node_count(&self) -> usize {
        self.builder.node_count()
    }

    /// Returns the outcome of an operator: the nodes after the first `from`.
    pub fn outcome(&self, from: usize) -> FileOutcome {
        FileOutcome::Read(self.builder.names_from(from))
    }

    /// Records the outcome of an operator.
    pub fn record(&mut self, operator: &Operator<'_>, outcome: FileOutcome) {
        let name = operator.outputs.first().map_or_else(String::new, |&output| self.name(output));
        self.builder.file_node(FileNode { name, op: operator.place().name.to_owned(), outcome });
    }

    /// Returns the graph with these outputs.
    pub fn finish(mut self, outputs: &[usize]) -> Result<Graph, TfliteError> {
        let mut ids = Vec::new();
        for &index in outputs {
            let name = self.name(index);
            let Some(&id) = self.ids.get(&index) else {
                let problem = "is an output of the network, but no operator produces it".into();
                return Err(TfliteError::Tensor { tensor: name, problem });
            };
            ids.push(id);
        }
        self.builder.finish(ids).map_err(|error| at(None, error))
    }
}

/// Returns the quantization of a one-dimensional constant whose scales are declared along another axis: along its
/// only axis. Returns `None` for any other constant.
///
/// Runtimes ignore the axis of a bias, and some converters copied that of the weights.
fn along_the_only_axis(ty: &TensorType) -> Option<Quantization> {
    let quantization = ty.quantization.as_ref()?;
    let misplaced = ty.shape.len() == 1 && quantization.axis().is_some_and(|axis| axis != 0);
    let (scales, zero_points) = (quantization.scales().to_vec(), quantization.zero_points().to_vec());
    misplaced.then(|| Quantization::per_axis(scales, zero_points, 0).ok()).flatten()
}

/// Returns an error of the graph about an operator, or about inputs and outputs.
fn at(place: Option<&OperatorPlace>, error: GraphError) -> TfliteError {
    TfliteError::Graph { place: place.cloned(), error: Box::new(error) }
}
