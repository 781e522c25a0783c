//! The walk over a file: inputs, operators in order, outputs.

use std::collections::{HashMap, HashSet};

use guardbit_graph::{
    DType, Graph, GraphBuilder, GraphError, MAX_NAME_BYTES, Op, OutputSpec, Tensor, TensorId, TensorType,
    plain_name,
};

use super::error::{OperatorPlace, TfliteError};
use super::flatbuffer::Vector;
use super::operator::{NewNode, OperatorReader};
use super::ops::{Elements, Reader};
use super::policy::Profile;
use super::schema::{self, Model, Operator, SubGraph};
use super::tensors::{self, Budget, Values};
use super::{operators, ops};

/// Reads the network in `file` as a runtime of that profile does.
pub(super) fn read(file: &[u8], name: &str, profile: Profile) -> Result<Graph, TfliteError> {
    if file.get(4..8) != Some(Model::IDENTIFIER) {
        return Err(TfliteError::Identifier);
    }
    let model = Model::root(file)?;
    let version = model.version()?;
    if version != Model::VERSION {
        return Err(TfliteError::Version { version });
    }
    let subgraphs = model.subgraphs()?;
    let (1, Some(subgraph)) = (subgraphs.len(), subgraphs.get(0)?) else {
        return Err(TfliteError::Subgraphs { count: subgraphs.len() });
    };
    let mut network = Network {
        file,
        profile,
        model,
        subgraph: SubGraph(subgraph),
        builder: GraphBuilder::new(name),
        ids: HashMap::new(),
        names: Names::default(),
        budget: Budget::for_file(file.len()),
    };
    network.reserve_names()?;
    network.add_inputs()?;
    let operators = network.subgraph.operators()?;
    let mut index = 0;
    while let Some(table) = operators.get(index)? {
        network.add_operator(index, Operator(table))?;
        index += 1;
    }
    network.finish()
}

/// A network half built.
pub(super) struct Network<'a> {
    file: &'a [u8],
    /// The runtime whose results are wanted.
    pub profile: Profile,
    model: Model<'a>,
    subgraph: SubGraph<'a>,
    builder: GraphBuilder,
    /// The tensors of the graph that exist, by index in the file.
    ids: HashMap<usize, TensorId>,
    names: Names,
    budget: Budget,
}

impl<'a> Network<'a> {
    /// The tensor at `index` of the file.
    pub fn tensor(&self, index: i32) -> Result<schema::Tensor<'a>, TfliteError> {
        let tensor = usize::try_from(index).ok().map(|i| self.subgraph.tensor(i)).transpose()?.flatten();
        tensor.ok_or(TfliteError::Index { what: "tensor", index: index.into() })
    }

    /// The name of the tensor at `index` of the file, the same whenever it is asked for.
    pub fn name(&mut self, index: i32) -> Result<String, TfliteError> {
        let known = usize::try_from(index).ok().and_then(|index| self.names.given.get(&index));
        if let Some(name) = known {
            return Ok(name.clone());
        }
        let stored = self.tensor(index)?.name()?;
        self.budget.spend(stored.len())?;
        let plain = plain_name(stored);
        let name = self.names.give(index as usize, &plain);
        if plain != stored {
            let text = match stored.len() {
                ..=MAX_NAME_BYTES => "its name holds control characters, for which `_` stands here".into(),
                length => format!("its name has {length} bytes and is cut here"),
            };
            self.builder.note(&name, text);
        }
        Ok(name)
    }

    /// The tensor of the graph that `index` of the file stands for. A constant is added when first read.
    pub fn operand(&mut self, index: i32, place: &OperatorPlace) -> Result<TensorId, TfliteError> {
        if let Some(&id) = usize::try_from(index).ok().and_then(|i| self.ids.get(&i)) {
            return Ok(id);
        }
        let tensor = self.tensor(index)?;
        let name = self.name(index)?;
        let Some(bytes) = tensors::constant_bytes(self.file, self.model, tensor, &name)? else {
            return Err(TfliteError::Order { place: place.clone(), tensor: name });
        };
        let mut ty = tensors::tensor_type(tensor, &name, &mut self.budget)?;
        let room = self.builder.check_room(&name, &ty);
        room.map_err(|error| in_operator(place, error))?;
        if let Some(mended) = tensors::along_the_only_axis(&ty) {
            let axis = ty.quantization.replace(mended).and_then(|q| q.axis()).unwrap_or_default();
            let text =
                format!("the scales are taken along the only axis, not along axis {axis} as the file has it");
            self.builder.note(&name, text);
        }
        let id = match tensors::values(bytes, &ty, &name, &mut self.budget)? {
            Values::Codes(codes) => self.builder.constant(name, ty, codes),
            Values::Wide(values) => self.builder.wide_constant(name, ty, values),
        };
        let id = id.map_err(|error| in_operator(place, error))?;
        self.ids.insert(index as usize, id);
        Ok(id)
    }

    /// The values of a constant that holds a shape, axes or the like; `None` if it is no constant.
    pub fn integers(&mut self, index: i32) -> Result<Option<Vec<i64>>, TfliteError> {
        let tensor = self.tensor(index)?;
        let name = self.name(index)?;
        let bytes = tensors::constant_bytes(self.file, self.model, tensor, &name)?;
        bytes.map(|bytes| tensors::integers(tensor, bytes, &name)).transpose()
    }

    /// A constant of indices: those of 64 bits become 32 in the graph. `None` if it is no constant.
    pub fn indices(&mut self, index: i32, place: &OperatorPlace) -> Result<Option<TensorId>, TfliteError> {
        let tensor = self.tensor(index)?;
        if tensor.element_type()? != tensors::INT64 || self.ids.contains_key(&(index as usize)) {
            return match self.operand(index, place) {
                Ok(id) => Ok(Some(id)),
                Err(TfliteError::Order { .. }) => Ok(None),
                Err(error) => Err(error),
            };
        }
        let name = self.name(index)?;
        let Some(bytes) = tensors::constant_bytes(self.file, self.model, tensor, &name)? else {
            return Ok(None);
        };
        let shape = tensors::shape(tensor, &name)?;
        let ty = TensorType { shape, dtype: DType::Int32, quantization: None };
        let codes = tensors::narrow(bytes, &name, &mut self.budget)?;
        let id = self.builder.constant(name, ty, codes).map_err(|error| in_operator(place, error))?;
        self.ids.insert(index as usize, id);
        Ok(Some(id))
    }

    /// A tensor of the graph.
    pub fn graph_tensor(&self, id: TensorId) -> &Tensor {
        self.builder.tensor(id)
    }

    /// Adds a node that the file has no operator for, on `x`: its output is like `x`, and named after it.
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
        self.builder.node(op, &[Some(x)], output).map_err(|error| in_operator(place, error))
    }

    /// Gives inputs and outputs of operators their names before any constant can take them.
    fn reserve_names(&mut self) -> Result<(), TfliteError> {
        for index in indices(self.subgraph.inputs()?) {
            self.name(index)?;
        }
        let operators = self.subgraph.operators()?;
        let mut index = 0;
        while let Some(table) = operators.get(index)? {
            for output in indices(Operator(table).outputs()?) {
                self.budget.spend(1)?;
                self.name(output)?;
            }
            index += 1;
        }
        Ok(())
    }

    fn add_inputs(&mut self) -> Result<(), TfliteError> {
        for index in indices(self.subgraph.inputs()?) {
            let tensor = self.tensor(index)?;
            let name = self.name(index)?;
            let ty = tensors::tensor_type(tensor, &name, &mut self.budget)?;
            let id = self.builder.input(name, ty);
            let id = id.map_err(|error| TfliteError::Graph { place: None, error: Box::new(error) })?;
            self.ids.insert(index as usize, id);
        }
        Ok(())
    }

    fn add_operator(&mut self, index: usize, operator: Operator<'a>) -> Result<(), TfliteError> {
        let opcode = operator.opcode_index()?;
        let code = self.model.operator_code(opcode as usize)?;
        let code = code.ok_or(TfliteError::Index { what: "operator code", index: opcode.into() })?;
        let builtin = code.builtin()?;
        let place = OperatorPlace { index, name: operators::name(builtin) };
        let outputs = operator.outputs()?;
        let Some(output) = indices(outputs).next() else {
            return Err(TfliteError::Operator { place, problem: "has no output".into() });
        };
        let output_name = self.name(output)?;
        let Some((read, elements)) = ops::find(builtin) else {
            return Err(unsupported(index, builtin, code.custom()?, output_name));
        };
        let mut types = Vec::new();
        for output in indices(outputs) {
            self.budget.spend(1)?;
            let name = self.name(output)?;
            types.push(tensors::output_type(self.tensor(output)?, &name, &mut self.budget)?);
        }
        let known = self.profile.check(builtin, &types[0]);
        known.map_err(|problem| TfliteError::Operator { place: place.clone(), problem })?;
        let inputs = operator.inputs()?;
        // An operator may be listed many times over.
        self.budget.spend(1 + inputs.map_or(0, |i| i.len()))?;
        if elements == Elements::Codes {
            self.check_codes(&place, indices(inputs).chain(indices(outputs)))?;
        }
        let mut reader = OperatorReader {
            network: self,
            place: place.clone(),
            operator,
            inputs: indices(inputs).collect(),
            output: &types[0],
            outputs: &types,
        };
        let nodes = match read {
            Reader::One(read) => {
                reader.expect_outputs(1)?;
                vec![read(&mut reader)?]
            }
            Reader::Several(read) => read(&mut reader)?,
        };
        for ((output, ty), node) in indices(outputs).zip(types).zip(nodes) {
            self.add_node(output, ty, node, &place)?;
        }
        Ok(())
    }

    /// Fails where an operator on codes reads or makes real values.
    fn check_codes(
        &mut self,
        place: &OperatorPlace,
        tensors: impl Iterator<Item = i32>,
    ) -> Result<(), TfliteError> {
        for index in tensors.filter(|&index| index >= 0) {
            if self.tensor(index)?.element_type()? == tensors::FLOAT32 {
                let tensor = self.name(index)?;
                return Err(TfliteError::FloatOperator { place: place.clone(), tensor });
            }
        }
        Ok(())
    }

    /// Adds what makes the tensor at `output` of the file, of type `ty`.
    fn add_node(
        &mut self,
        output: i32,
        ty: TensorType,
        NewNode { op, inputs }: NewNode,
        place: &OperatorPlace,
    ) -> Result<(), TfliteError> {
        let name = self.name(output)?;
        let spec = OutputSpec { name, dtype: ty.dtype, quantization: ty.quantization };
        let id = self.builder.node(op, &inputs, spec).map_err(|error| in_operator(place, error))?;
        let Tensor { name, ty: inferred, .. } = self.builder.tensor(id);
        if inferred.shape != ty.shape {
            return Err(TfliteError::Shape {
                place: place.clone(),
                tensor: name.clone(),
                declared: ty.shape,
                inferred: inferred.shape.clone(),
            });
        }
        self.ids.insert(output as usize, id);
        Ok(())
    }

    fn finish(mut self) -> Result<Graph, TfliteError> {
        let mut outputs = Vec::new();
        for index in indices(self.subgraph.outputs()?) {
            self.budget.spend(1)?;
            let name = self.name(index)?;
            let Some(&id) = self.ids.get(&(index as usize)) else {
                let problem = "is an output of the network, but no operator makes it".into();
                return Err(TfliteError::Tensor { tensor: name, problem });
            };
            outputs.push(id);
        }
        self.builder
            .finish(outputs)
            .map_err(|error| TfliteError::Graph { place: None, error: Box::new(error) })
    }
}

/// Unique names: an empty or taken one gets `#` and the tensor's index appended.
#[derive(Debug, Default)]
struct Names {
    given: HashMap<usize, String>,
    taken: HashSet<String>,
}

impl Names {
    /// The name of the tensor at `index` of the file.
    fn give(&mut self, index: usize, stored: &str) -> String {
        let name = self.invent(stored, index);
        self.given.insert(index, name.clone());
        name
    }

    /// A name that nothing has yet.
    fn invent(&mut self, stored: &str, number: usize) -> String {
        let mut name = stored.to_owned();
        while name.is_empty() || self.taken.contains(&name) {
            name.push_str(&format!("#{number}"));
        }
        self.taken.insert(name.clone());
        name
    }
}

fn indices(vector: Option<Vector<'_, i32>>) -> impl Iterator<Item = i32> {
    vector.into_iter().flat_map(|v| v.iter())
}

fn in_operator(place: &OperatorPlace, error: GraphError) -> TfliteError {
    TfliteError::Graph { place: Some(place.clone()), error: Box::new(error) }
}

fn unsupported(index: usize, builtin: i32, custom: &str, output: String) -> TfliteError {
    let operator = match operators::describe(builtin) {
        name if builtin == operators::CUSTOM => format!("{name} `{}`", plain_name(custom)),
        name => name,
    };
    TfliteError::UnsupportedOperator { index, operator, output }
}
