//! Writing of networks as graph YAML, with larger constants as `.npy` files.

mod attributes;

use attributes::map;
use guardbit_documents::flow;
use guardbit_graph::{Constant, DType, Graph, Node, Quantization, Tensor, TensorId, real_of};
use serde_yaml::{Mapping, Value};

use crate::npy;

/// Error for a network that graph YAML cannot represent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{op} `{node}`: {problem}")]
pub struct YamlExportError {
    /// The operation, or `state` for a state.
    pub op: &'static str,
    /// Name of the node.
    pub node: String,
    /// The reason, and what would be needed.
    pub problem: String,
}

impl YamlExportError {
    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        "guardbit::graph_yaml::export"
    }

    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        "graph YAML supports every elementary operation; expand accelerator operations first \
         (`pattern::Expand`)"
    }
}

/// A network as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlFiles {
    /// The YAML text.
    pub text: String,
    /// Names and bytes of the `.npy` files that the text refers to, all in the given folder.
    pub arrays: Vec<(String, Vec<u8>)>,
}

/// Maximum number of elements of a constant in the text.
const INLINE: usize = 16;

/// Returns a network as graph YAML, with larger constants in `.npy` files in `folder`.
///
/// Reading it gives an equal network, with its tensors in the order of [`Graph::in_order_of_files`].
///
/// # Errors
/// [`YamlExportError`] for composites and for states.
pub fn write_yaml(graph: &Graph, folder: &str) -> Result<YamlFiles, YamlExportError> {
    if let Some(state) = graph.states().first() {
        return Err(YamlExportError {
            op: "state",
            node: graph.tensor(state.tensor).name.clone(),
            problem: "is a state of a stream, which graph YAML does not support".into(),
        });
    }
    let mut files = YamlFiles { text: String::new(), arrays: Vec::new() };
    let name = |id: TensorId| Value::from(graph.tensor(id).name.clone());
    files.text = format!("schema: 1\nname: {}\n", flow::text_in_float32(&Value::from(graph.name())));
    let inputs = graph.inputs().iter().map(|&id| {
        let tensor = graph.tensor(id);
        map([("name", name(id)), ("shape", sizes(&tensor.ty.shape))].into_iter().chain(codes(tensor, true)))
    });
    list(&mut files.text, "inputs", inputs.collect());
    let constants = graph.tensors().iter().filter_map(|tensor| Some((tensor, tensor.constant.as_ref()?)));
    let constants: Vec<Mapping> =
        constants.map(|(tensor, values)| constant(tensor, values, folder, &mut files.arrays)).collect();
    list(&mut files.text, "constants", constants);
    let nodes = graph.nodes().iter().map(|node| self::node(graph, node)).collect::<Result<_, _>>()?;
    list(&mut files.text, "nodes", nodes);
    let outputs = Value::Sequence(graph.outputs().iter().map(|&id| name(id)).collect());
    files.text += &format!("outputs: {}\n", flow::text_in_float32(&outputs));
    if !graph.metadata().is_empty() {
        let texts = graph.metadata().iter().map(|(key, text)| (key.as_str(), Value::from(text.as_str())));
        files.text += &format!("metadata: {}\n", flow::text_in_float32(&Value::Mapping(map(texts))));
    }
    Ok(files)
}

/// Appends a list under a key, with a line for each of its maps.
fn list(text: &mut String, key: &str, maps: Vec<Mapping>) {
    if maps.is_empty() {
        *text += &format!("{key}: []\n");
        return;
    }
    *text += &format!("{key}:\n");
    for map in maps {
        *text += &format!("  - {}\n", flow::text_in_float32(&Value::Mapping(map)));
    }
}

fn sizes(shape: &[usize]) -> Value {
    shape.iter().map(|&size| Value::from(size)).collect::<Vec<_>>().into()
}

/// Returns dtype, scales, zero points and range. Inputs and outputs without a scale get `scale: none`.
fn codes(tensor: &Tensor, says_none: bool) -> Vec<(&'static str, Value)> {
    let dtype = tensor.ty.dtype;
    let mut said = vec![("dtype", Value::from(dtype.name()))];
    match &tensor.ty.quantization {
        Some(quantization) => said.extend(scales(quantization)),
        None if says_none && !dtype.is_float() => said.push(("scale", "none".into())),
        None => {}
    }
    said
}

fn scales(quantization: &Quantization) -> Vec<(&'static str, Value)> {
    let (scales, zero_points) = (quantization.scales(), quantization.zero_points());
    let number = |&scale: &f32| Value::from(f64::from(scale));
    let mut said = Vec::new();
    match quantization.axis() {
        None => said.push(("scale", number(&scales[0]))),
        Some(axis) => {
            said.push(("scale", scales.iter().map(number).collect::<Vec<_>>().into()));
            said.push(("axis", axis.into()));
        }
    }
    match zero_points {
        [first, others @ ..] if others.iter().all(|zero_point| zero_point == first) => {
            if *first != 0 {
                said.push(("zero_point", (*first).into()));
            }
        }
        _ => {
            said.push(("zero_point", zero_points.iter().map(|&z| Value::from(z)).collect::<Vec<_>>().into()))
        }
    }
    if let Some(range) = quantization.range() {
        said.push(("range", vec![Value::from(range.min()), Value::from(range.max())].into()));
        if range.step() != 1 {
            said.push(("step", range.step().into()));
        }
    }
    said
}

fn constant(
    tensor: &Tensor,
    values: &Constant,
    folder: &str,
    arrays: &mut Vec<(String, Vec<u8>)>,
) -> Mapping {
    let mut said = vec![("name", Value::from(tensor.name.clone())), ("shape", sizes(&tensor.ty.shape))];
    said.extend(codes(tensor, false));
    match inline(tensor, values).filter(|values| values.len() <= INLINE) {
        Some(values) => {
            said.push((if tensor.ty.dtype == DType::Float32 { "reals" } else { "values" }, values.into()))
        }
        None => {
            let file = format!("{:04}.npy", arrays.len());
            said.push(("file", format!("{folder}/{file}").into()));
            arrays.push((file, npy::array(&tensor.ty.shape, tensor.ty.dtype, values)));
        }
    }
    map(said)
}

/// Returns the values for the text, or `None` if one of them is not finite.
fn inline(tensor: &Tensor, values: &Constant) -> Option<Vec<Value>> {
    let real = |word: i32| Some(real_of(word)).filter(|x| x.is_finite()).map(|x| Value::from(f64::from(x)));
    match values {
        Constant::Codes(words) if tensor.ty.dtype == DType::Float32 => words.iter().map(real).collect(),
        Constant::Codes(codes) => Some(codes.iter().map(Value::from).collect()),
        Constant::Wide(values) => Some(values.iter().map(|&value| Value::from(value)).collect()),
    }
}

fn node(graph: &Graph, node: &Node) -> Result<Mapping, YamlExportError> {
    let output = graph.tensor(node.output);
    let name = |id: &Option<TensorId>| id.map_or(Value::Null, |id| graph.tensor(id).name.clone().into());
    let inputs: Vec<Value> = node.inputs.iter().map(name).collect();
    let made = [("name", Value::from(output.name.clone()))].into_iter().chain(codes(output, true));
    let operands = [("inputs", Value::from(inputs)), ("output", Value::Mapping(map(made)))];
    attributes::written(&node.op, &operands).ok_or_else(|| YamlExportError {
        op: node.op.name(),
        node: output.name.clone(),
        problem: "cannot be written in graph YAML so that it is read as an equal operation".into(),
    })
}
