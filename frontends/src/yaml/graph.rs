//! Conversion from the file type to the graph.

use std::collections::HashMap;
use std::path;

use guardbit_graph::{
    DType, Graph, GraphBuilder, GraphError, OutputSpec, TensorId, TensorType, brief, plain_name,
};

use super::constants::Values;
use super::error::Kind;
use super::file::{ConstantFile, GraphFile, InputFile};
use super::operations::NodeFile;
use guardbit_documents::Path;

use super::problem::Problem;
use super::{constants, operations, quantization};

/// Returns the graph of a file whose codes lie in `dir`.
pub(super) fn build(file: GraphFile, dir: &path::Path, name: &str) -> Result<Graph, Problem> {
    if file.schema != 1 {
        let message = format!("is {}; it must be 1", file.schema);
        return Err(Problem::new(Kind::Value, Path::keys(&["schema"]), message));
    }
    let name = file.name.as_deref().unwrap_or(name);
    if file.name.is_some() && plain_name(name) != name {
        let message = format!("is `{}`, with control characters or too long", brief(&plain_name(name)));
        return Err(Problem::new(Kind::Value, Path::keys(&["name"]), message));
    }
    let mut network = Network { builder: GraphBuilder::new(name), ids: HashMap::new(), random: 0 };
    for (index, input) in file.inputs.iter().enumerate() {
        network.add_input(input, &Path::keys(&["inputs"]).item(index))?;
    }
    for (index, constant) in file.constants.iter().enumerate() {
        network.add_constant(constant, dir, &Path::keys(&["constants"]).item(index))?;
    }
    for (index, node) in file.nodes.iter().enumerate() {
        network.add_node(node, &Path::keys(&["nodes"]).item(index))?;
    }
    let outputs = file.outputs.iter().enumerate();
    let outputs = outputs.map(|(index, name)| network.find(name, &Path::keys(&["outputs"]).item(index)));
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    let graph = network.builder.finish(outputs).map_err(|error| {
        let key = if file.inputs.is_empty() { "inputs" } else { "outputs" };
        Problem::new(Kind::Graph, Path::keys(&[key]), format!("is empty: {error}"))
    })?;
    Ok(graph.with_metadata(file.metadata))
}

struct Network {
    builder: GraphBuilder,
    ids: HashMap<String, TensorId>,
    /// Number of random codes of constants so far. A few bytes of text can request any number of them.
    random: usize,
}

impl Network {
    fn add_input(&mut self, input: &InputFile, path: &Path) -> Result<(), Problem> {
        check_name(&input.name, path)?;
        let dtype = dtype(&input.dtype, path)?;
        let quantization = quantization::of_activation(&input.said(), dtype, path)?;
        let ty = TensorType { shape: input.shape.clone(), dtype, quantization };
        let id = self.builder.input(&input.name, ty).map_err(|error| tensor_error(&error, path))?;
        self.ids.insert(input.name.clone(), id);
        Ok(())
    }

    fn add_constant(
        &mut self,
        constant: &ConstantFile,
        dir: &path::Path,
        path: &Path,
    ) -> Result<(), Problem> {
        check_name(&constant.name, path)?;
        let dtype = dtype(&constant.dtype, path)?;
        let quantization = quantization::of_tensor(&constant.said(), dtype, path)?;
        let ty = TensorType { shape: constant.shape.clone(), dtype, quantization };
        let room = self.builder.check_room(&constant.name, &ty);
        room.map_err(|error| constants::error(constant, &error, path))?;
        if constant.random.is_some() {
            self.random = self.random.saturating_add(ty.len());
            constants::check_random(self.random, path)?;
        }
        let id = match constants::values(constant, &ty, dir, path)? {
            Values::Codes(codes) => self.builder.constant(&constant.name, ty, codes),
            Values::Wide(values) => self.builder.wide_constant(&constant.name, ty, values),
        };
        let id = id.map_err(|error| constants::error(constant, &error, path))?;
        self.ids.insert(constant.name.clone(), id);
        Ok(())
    }

    fn add_node(&mut self, node: &NodeFile, path: &Path) -> Result<(), Problem> {
        let op = operations::read(node, path)?;
        let inputs = node.inputs.iter().enumerate().map(|(index, name)| {
            name.as_deref().map(|name| self.find(name, &path.join("inputs").item(index))).transpose()
        });
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let (name, output) = (&node.output.name, path.join("output"));
        check_name(name, &output)?;
        let dtype = dtype(&node.output.dtype, &output)?;
        let quantization = quantization::of_activation(&node.output.said(), dtype, &output)?;
        let spec = OutputSpec { name: name.clone(), dtype, quantization };
        let id = self.builder.node(op, &inputs, spec).map_err(|error| node_error(node, &error, path))?;
        self.ids.insert(name.clone(), id);
        Ok(())
    }

    fn find(&self, name: &str, path: &Path) -> Result<TensorId, Problem> {
        self.ids.get(name).copied().ok_or_else(|| {
            let mut names: Vec<_> = self.ids.iter().map(|(name, id)| (id.index(), name.as_str())).collect();
            names.sort_unstable();
            let names = names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
            let message = format!("is `{}`, which is not defined before it", brief(name));
            Problem::new(Kind::UnknownTensor, path.clone(), message)
                .help(format!("the tensors defined before it are {}", brief(&names)))
        })
    }
}

/// Returns the dtype called `name` in the map at `path`.
fn dtype(name: &str, path: &Path) -> Result<DType, Problem> {
    name.parse().map_err(|_| Problem::not_one_of(path.join("dtype"), name, DType::ALL.map(DType::name)))
}

fn check_name(name: &str, path: &Path) -> Result<(), Problem> {
    if name.is_empty() {
        return Err(Problem::new(Kind::Value, path.join("name"), "is empty; every tensor needs a name"));
    }
    Ok(())
}

/// Returns an error about the tensor at `path`, located at the key that it is about.
fn tensor_error(error: &GraphError, path: &Path) -> Problem {
    let path = match error {
        GraphError::DuplicateTensor { .. } | GraphError::Name { .. } => path.join("name"),
        GraphError::TensorShape { .. } | GraphError::TooLarge { .. } | GraphError::TooManyElements { .. } => {
            path.join("shape")
        }
        GraphError::TensorType { .. } => path.join("zero_point"),
        _ => path.clone(),
    };
    Problem::new(Kind::Graph, path, format!("is wrong: {error}"))
}

/// Returns an error about a node, located at the attribute, input or output that it is about.
fn node_error(node: &NodeFile, error: &GraphError, path: &Path) -> Problem {
    let place = |tensor: &str| {
        let input = node.inputs.iter().position(|name| name.as_deref() == Some(tensor));
        match input {
            Some(index) => path.join("inputs").item(index),
            None => path.join("output"),
        }
    };
    let path = match error {
        GraphError::Attribute { attribute, .. } => path.join(attribute),
        GraphError::Arity { .. } => path.join("inputs"),
        GraphError::Shape { tensor, .. }
        | GraphError::DType { tensor, .. }
        | GraphError::Operand { tensor, .. } => place(tensor),
        GraphError::Multiplier { .. } => path.join("output").join("scale"),
        error => return tensor_error(error, &path.join("output")),
    };
    Problem::new(Kind::Graph, path, format!("does not fit: {error}"))
}
