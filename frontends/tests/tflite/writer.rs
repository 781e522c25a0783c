//! Writes small TFLite files with the reference implementation of FlatBuffers.

use flatbuffers::{
    FlatBufferBuilder, ForwardsUOffset, Push, TableFinishedWIPOffset, UnionWIPOffset, Vector, WIPOffset,
};

type Builder = FlatBufferBuilder<'static>;
type Table = WIPOffset<TableFinishedWIPOffset>;
type Tables = WIPOffset<Vector<'static, ForwardsUOffset<TableFinishedWIPOffset>>>;

/// Element types by number.
pub const FLOAT32: i8 = 0;
pub const INT32: i8 = 2;
pub const UINT8: i8 = 3;
pub const INT64: i8 = 4;
pub const INT16: i8 = 7;
pub const INT8: i8 = 9;
pub const INT4: i8 = 17;

/// A file.
#[derive(Debug, Clone)]
pub struct Model {
    pub version: u32,
    pub subgraphs: usize,
    pub tensors: Vec<Tensor>,
    pub operators: Vec<Operator>,
    /// The contents of the subgraphs after the network, from index 1 on.
    pub initializations: Vec<(Vec<Tensor>, Vec<Operator>)>,
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
    /// Whether data of constants are stored after the flatbuffer instead of inside.
    pub data_outside: bool,
    /// Whether constants with equal data share a buffer.
    pub share_buffers: bool,
    /// How often the list of operators contains each of them.
    pub repeat_operators: usize,
}

#[derive(Debug, Clone)]
pub struct Tensor {
    pub name: &'static str,
    pub element: i8,
    pub shape: Vec<i32>,
    pub scales: Vec<f32>,
    pub zero_points: Vec<i64>,
    pub axis: i32,
    pub data: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
pub struct Operator {
    pub builtin: i32,
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
    /// Number of the options in the schema and their fields.
    pub options: Option<(u8, Vec<(u16, Value)>)>,
}

#[derive(Debug, Clone)]
pub enum Value {
    Byte(i8),
    Int(i32),
    Float(f32),
    Ints(Vec<i32>),
    Text(&'static str),
}

impl Tensor {
    /// Creates an activation.
    pub fn int8(name: &'static str, shape: &[i32], scale: f32, zero_point: i64) -> Self {
        Self { scales: vec![scale], zero_points: vec![zero_point], ..Self::plain(name, INT8, shape) }
    }

    /// Creates a constant with a shape, axes or the like.
    pub fn ints(name: &'static str, values: &[i32]) -> Self {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self { data: Some(data), ..Self::plain(name, INT32, &[values.len() as i32]) }
    }

    /// Creates biases of 64 bits.
    pub fn wide(name: &'static str, values: &[i64]) -> Self {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self { data: Some(data), ..Self::plain(name, INT64, &[values.len() as i32]) }
    }

    pub fn plain(name: &'static str, element: i8, shape: &[i32]) -> Self {
        let (scales, zero_points) = (Vec::new(), Vec::new());
        Self { name, element, shape: shape.into(), scales, zero_points, axis: 0, data: None }
    }

    pub fn with_data(self, data: impl IntoIterator<Item = i8>) -> Self {
        Self { data: Some(data.into_iter().map(|v| v as u8).collect()), ..self }
    }
}

impl Operator {
    pub fn new(builtin: i32, inputs: &[i32], output: i32) -> Self {
        Self { builtin, inputs: inputs.into(), outputs: vec![output], options: None }
    }

    pub fn with_options(self, number: u8, fields: impl IntoIterator<Item = (u16, Value)>) -> Self {
        Self { options: Some((number, fields.into_iter().collect())), ..self }
    }
}

impl Model {
    /// Creates a network whose first tensor is its input and whose last operator computes its output.
    pub fn new(tensors: Vec<Tensor>, operators: Vec<Operator>) -> Self {
        let outputs = operators.last().map_or(vec![0], |o| o.outputs.clone());
        Self {
            version: 3,
            subgraphs: 1,
            tensors,
            operators,
            initializations: Vec::new(),
            inputs: vec![0],
            outputs,
            data_outside: false,
            share_buffers: false,
            repeat_operators: 1,
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // The position of outside data is known once the flatbuffer is written. Its size does not depend on that
        // position.
        let length = self.finished(0).len();
        let mut bytes = self.finished(length);
        if self.data_outside {
            bytes.extend(self.all_tensors().flat_map(|t| t.data.iter().flatten()));
        }
        bytes
    }

    fn finished(&self, outside: usize) -> Vec<u8> {
        let mut b = Builder::new();
        let mut codes = Vec::new();
        let others = self.initializations.iter().flat_map(|(_, operators)| operators);
        for operator in self.operators.iter().chain(others) {
            codes.push(table(&mut b, |b| {
                b.push_slot_always(slot(0), operator.builtin.min(127) as i8);
                b.push_slot_always(slot(3), operator.builtin);
            }));
        }
        let codes = b.create_vector(&codes);
        let buffers = self.buffers(&mut b, outside);
        let network =
            self.subgraph(&mut b, (&self.tensors, 0), (&self.operators, 0), [&self.inputs, &self.outputs]);
        let mut subgraphs = vec![network; self.subgraphs];
        let (mut buffer, mut code) = (self.tensors.len(), self.operators.len());
        for (tensors, operators) in &self.initializations {
            subgraphs.push(self.subgraph(&mut b, (tensors, buffer), (operators, code), [&[], &[]]));
            (buffer, code) = (buffer + tensors.len(), code + operators.len());
        }
        let subgraphs = b.create_vector(&subgraphs);
        let root = table(&mut b, |b| {
            b.push_slot_always(slot(0), self.version);
            b.push_slot_always(slot(1), codes);
            b.push_slot_always(slot(2), subgraphs);
            b.push_slot_always(slot(4), buffers);
        });
        b.finish(root, Some("TFL3"));
        b.finished_data().to_vec()
    }

    fn all_tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().chain(self.initializations.iter().flat_map(|(tensors, _)| tensors))
    }

    /// Writes the empty buffer 0, then one buffer per tensor.
    fn buffers(&self, b: &mut Builder, outside: usize) -> Tables {
        let mut buffers = vec![table(b, |_| {})];
        let mut written: Vec<(&[u8], WIPOffset<Vector<'static, u8>>)> = Vec::new();
        let mut offset = outside as u64;
        for tensor in self.all_tensors() {
            let data = tensor.data.as_deref().unwrap_or_default();
            if self.data_outside && !data.is_empty() {
                buffers.push(table(b, |b| {
                    b.push_slot_always(slot(1), offset);
                    b.push_slot_always(slot(2), data.len() as u64);
                }));
                offset += data.len() as u64;
            } else {
                let seen = written.iter().find(|(known, _)| self.share_buffers && *known == data);
                let data = match seen {
                    Some((_, place)) => *place,
                    None => {
                        written.push((data, b.create_vector(data)));
                        written[written.len() - 1].1
                    }
                };
                buffers.push(table(b, |b| b.push_slot_always(slot(0), data)));
            }
        }
        b.create_vector(&buffers)
    }

    /// Writes a subgraph. The numbers of tensors and operators before it are given.
    fn subgraph(
        &self,
        b: &mut Builder,
        (tensors, buffers): (&[Tensor], usize),
        (operators, codes): (&[Operator], usize),
        [inputs, outputs]: [&[i32]; 2],
    ) -> Table {
        let tensors = (1..).zip(tensors).map(|(index, tensor)| tensor.write(b, (buffers + index) as u32));
        let tensors: Vec<_> = tensors.collect();
        let operators = operators.iter().enumerate().map(|(index, o)| o.write(b, (codes + index) as u32));
        let operators: Vec<_> = operators.collect();
        let operators: Vec<Table> =
            operators.into_iter().flat_map(|operator| vec![operator; self.repeat_operators]).collect();
        let (tensors, operators) = (b.create_vector(&tensors), b.create_vector(&operators));
        let (inputs, outputs) = (b.create_vector(inputs), b.create_vector(outputs));
        table(b, |b| {
            b.push_slot_always(slot(0), tensors);
            b.push_slot_always(slot(1), inputs);
            b.push_slot_always(slot(2), outputs);
            b.push_slot_always(slot(3), operators);
        })
    }
}

impl Tensor {
    fn write(&self, b: &mut Builder, buffer: u32) -> Table {
        let (scale, zero_point) = (b.create_vector(&self.scales), b.create_vector(&self.zero_points));
        let quantization = table(b, |b| {
            b.push_slot_always(slot(2), scale);
            b.push_slot_always(slot(3), zero_point);
            b.push_slot_always(slot(6), self.axis);
        });
        let (shape, name) = (b.create_vector(&self.shape), b.create_string(self.name));
        table(b, |b| {
            b.push_slot_always(slot(0), shape);
            b.push_slot_always(slot(1), self.element);
            b.push_slot_always(slot(2), buffer);
            b.push_slot_always(slot(3), name);
            b.push_slot_always(slot(4), quantization);
        })
    }
}

impl Operator {
    fn write(&self, b: &mut Builder, code: u32) -> Table {
        let (inputs, outputs) = (b.create_vector(&self.inputs), b.create_vector(&self.outputs));
        let options = self.options.as_ref().map(|(number, fields)| (*number, options(b, fields)));
        table(b, |b| {
            b.push_slot_always(slot(0), code);
            b.push_slot_always(slot(1), inputs);
            b.push_slot_always(slot(2), outputs);
            if let Some((number, options)) = options {
                b.push_slot_always(slot(3), number);
                b.push_slot_always(slot(4), options);
            }
        })
    }
}

fn options(b: &mut Builder, fields: &[(u16, Value)]) -> WIPOffset<UnionWIPOffset> {
    let stored = |b: &mut Builder, value: &Value| match value {
        Value::Ints(values) => Some(b.create_vector(values).as_union_value()),
        Value::Text(text) => Some(b.create_string(text).as_union_value()),
        _ => None,
    };
    let stored: Vec<_> = fields.iter().map(|(_, value)| stored(b, value)).collect();
    let options = table(b, |b| {
        for ((number, value), stored) in fields.iter().zip(&stored) {
            match (value, stored) {
                (Value::Byte(v), _) => push(b, *number, *v),
                (Value::Int(v), _) => push(b, *number, *v),
                (Value::Float(v), _) => push(b, *number, *v),
                (Value::Ints(_) | Value::Text(_), Some(stored)) => push(b, *number, *stored),
                (Value::Ints(_) | Value::Text(_), None) => {}
            }
        }
    });
    options.as_union_value()
}

fn push<T: Push>(b: &mut Builder, number: u16, value: T) {
    b.push_slot_always(slot(number), value);
}

fn table(b: &mut Builder, fill: impl FnOnce(&mut Builder)) -> Table {
    let start = b.start_table();
    fill(b);
    let end = b.end_table(start);
    WIPOffset::new(end.value())
}

/// Returns the position in the vtable of the offset of field `number`.
fn slot(number: u16) -> u16 {
    4 + 2 * number
}
