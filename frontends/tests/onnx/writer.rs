//! Writes ONNX files by hand. Unlike a library, it allows invalid contents.

use std::iter::once;

/// Element types by their number in a file.
pub mod element {
    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const FLOAT8E4M3FN: i32 = 17;
}

/// A constant. Its bytes need not match its shape.
#[derive(Debug, Clone)]
pub struct Tensor {
    pub name: String,
    pub dims: Vec<i64>,
    pub element: i32,
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Creates a list of 64-bit integers.
    pub fn integers(name: &str, values: &[i64]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name: name.into(), dims: vec![values.len() as i64], element: element::INT64, bytes }
    }

    /// Creates a list of real numbers.
    pub fn reals(name: &str, values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name: name.into(), dims: vec![values.len() as i64], element: element::FLOAT, bytes }
    }

    /// Returns the constant with another shape.
    pub fn with_dims(self, dims: &[i64]) -> Self {
        Self { dims: dims.to_vec(), ..self }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let dims = self.dims.iter().flat_map(|&dim| integer(1, dim)).collect();
        [dims, integer(2, self.element.into()), field(8, self.name.as_bytes()), field(9, &self.bytes)]
            .concat()
    }
}

/// The value of an attribute.
#[derive(Debug, Clone)]
pub enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Text(String),
    Tensor(Tensor),
}

impl Attribute {
    fn to_bytes(&self, name: &str) -> Vec<u8> {
        let (value, kind) = match self {
            Self::Int(value) => (integer(3, *value), 2),
            Self::Text(text) => (field(4, text.as_bytes()), 3),
            Self::Tensor(tensor) => (field(5, &tensor.to_bytes()), 4),
            Self::Ints(values) => (values.iter().flat_map(|&value| integer(8, value)).collect(), 7),
        };
        [field(1, name.as_bytes()), value, integer(20, kind)].concat()
    }
}

/// An operator on names. An empty name is an absent input or output.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub op: String,
    pub domain: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub attributes: Vec<(String, Attribute)>,
}

impl Node {
    pub fn new(op: &str, inputs: &[&str], outputs: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self { op: op.into(), inputs: owned(inputs), outputs: owned(outputs), ..Self::default() }
    }

    /// Returns the node with an additional attribute.
    pub fn with(mut self, name: &str, attribute: Attribute) -> Self {
        self.attributes.push((name.into(), attribute));
        self
    }

    fn to_bytes(&self) -> Vec<u8> {
        let inputs = self.inputs.iter().flat_map(|name| field(1, name.as_bytes()));
        let outputs = self.outputs.iter().flat_map(|name| field(2, name.as_bytes()));
        let attributes = self.attributes.iter().flat_map(|(name, value)| field(5, &value.to_bytes(name)));
        let texts = [field(4, self.op.as_bytes()), field(7, self.domain.as_bytes())].concat();
        inputs.chain(outputs).chain(texts).chain(attributes).collect()
    }
}

/// A model of one graph.
#[derive(Debug, Clone)]
pub struct Model {
    pub opset: i64,
    pub nodes: Vec<Node>,
    pub constants: Vec<Tensor>,
    /// Name, element type and sizes. -1 is an axis without a length, -2 an axis called `n`.
    pub inputs: Vec<(String, i32, Vec<i64>)>,
    pub outputs: Vec<String>,
}

impl Model {
    pub fn to_bytes(&self) -> Vec<u8> {
        let nodes = self.nodes.iter().flat_map(|node| field(1, &node.to_bytes()));
        let constants = self.constants.iter().flat_map(|tensor| field(5, &tensor.to_bytes()));
        let inputs = self.inputs.iter().flat_map(|(name, element, dims)| {
            let dims: Vec<u8> = dims
                .iter()
                .flat_map(|&dim| field(1, &if dim == -2 { field(2, b"n") } else { integer(1, dim) }))
                .collect();
            let tensor = [integer(1, (*element).into()), field(2, &dims)].concat();
            field(11, &[field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat())
        });
        let outputs = self.outputs.iter().flat_map(|name| field(12, &field(1, name.as_bytes())));
        let graph: Vec<u8> = nodes.chain(constants).chain(inputs).chain(outputs).collect();
        let opset = [field(1, b""), integer(2, self.opset)].concat();
        [integer(1, 8), field(7, &graph), field(8, &opset)].concat()
    }
}

/// Encodes a number with seven bits per byte.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.into_iter().chain(once(value as u8)).collect()
}

fn integer(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value as u64)].concat()
}

/// Encodes a field of bytes: a text or another message.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [&varint(number << 3 | 2)[..], &varint(bytes.len() as u64), bytes].concat()
}
