//! Generates small networks of a few layers from every operation of graph YAML.

use guardbit_frontends::yaml::{OPERATIONS, Operation};
use serde_json::{Value, json};

use crate::Choices;

/// Returns the YAML text of a network.
pub(crate) fn network(choices: &mut Choices<'_>) -> String {
    let mut network = Network { constants: Vec::new(), nodes: Vec::new(), at: input_shape(choices) };
    let input = json!({
        "name": "input", "shape": network.at, "dtype": dtype(choices), "scale": scale(choices),
        "zero_point": zero_point(choices),
    });
    let mut last = String::from("input");
    for index in 0..=choices.below(3) {
        last = network.node(index, &last, choices);
    }
    let Network { constants, nodes, .. } = network;
    json!({"schema": 1, "inputs": [input], "constants": constants, "nodes": nodes, "outputs": [last]})
        .to_string()
}

/// The parts of a network generated so far.
struct Network {
    constants: Vec<Value>,
    nodes: Vec<Value>,
    /// Shape of the last tensor, as far as the generator knows it. The reader rejects what is wrong.
    at: Vec<u64>,
}

impl Network {
    /// Adds an operation that reads `read` and returns the name of its output.
    fn node(&mut self, index: u64, read: &str, choices: &mut Choices<'_>) -> String {
        let name = format!("t{index}");
        let mut node = json!({
            "inputs": [read],
            "output": {"name": name, "dtype": dtype(choices), "scale": scale(choices), "zero_point": zero_point(choices)},
        });
        let Operation { name: op, attributes, .. } = choices.one(OPERATIONS);
        node["op"] = json!(op);
        attributes.iter().for_each(|&attribute| self.attribute(attribute, &mut node, choices));
        self.operands(op, index, &mut node, choices);
        self.nodes.push(node);
        name
    }

    /// Sets one attribute to a value that it allows, or leaves it out.
    fn attribute(&mut self, attribute: &str, node: &mut Value, choices: &mut Choices<'_>) {
        let pair = |choices: &mut Choices<'_>| json!([1 + choices.below(3), 1 + choices.below(3)]);
        node[attribute] = match attribute {
            "kernel" => pair(choices),
            "padding" => json!(choices.one(&["same", "valid"])),
            "stride" if choices.once_in(2) => pair(choices),
            "dilation" if choices.once_in(4) => pair(choices),
            "activation" => json!(choices.one(&["none", "relu", "relu6", "relu_n1_to_1"])),
            "axes" => choices.one(&[json!([1, 2]), json!([1]), json!([3]), json!([0, 1, 2, 3])]),
            "keep_dims" => json!(choices.once_in(2)),
            "shape" => choices.one(&[json!([1, -1]), json!([1, 1, 1, -1]), json!([-1])]),
            "axis" => json!(choices.below(5)),
            "paddings" => json!([[0, 0], [choices.below(4), 1], [0, choices.below(4)], [0, 0]]),
            "permutation" => choices.one(&[json!([0, 2, 1, 3]), json!([0, 3, 1, 2]), json!([1, 0])]),
            _ => return,
        };
    }

    /// Adds constants and further inputs.
    fn operands(&mut self, op: &str, index: u64, node: &mut Value, choices: &mut Choices<'_>) {
        let channels = self.at.last().copied().unwrap_or(1);
        let outputs = 1 + choices.below(5);
        let kernel = [1 + choices.below(3), 1 + choices.below(3)];
        let (shape, made, axis) = match op {
            "conv2d" => (vec![outputs, kernel[0], kernel[1], channels], outputs, 0),
            "depthwise_conv2d" => (vec![1, kernel[0], kernel[1], channels], channels, 3),
            "fully_connected" => {
                let width: u64 = self.at.iter().product();
                let shape = vec![outputs, width];
                self.at = vec![1, outputs];
                (shape, outputs, 0)
            }
            "add" | "mul" | "concat" => {
                let first = node["inputs"][0].clone();
                node["inputs"] = json!([first, first]);
                return;
            }
            _ => return,
        };
        if let Some(last) = self.at.last_mut() {
            *last = made;
        }
        let weights = format!("w{index}");
        let mut constant = json!({
            "name": weights, "shape": shape, "dtype": choices.one(&["int8", "int8", "int4", "uint8"]),
            "random": {"seed": choices.below(256)}, "scale": scale(choices),
        });
        if choices.once_in(3) {
            constant["scale"] = (0..made).map(|_| json!(scale(choices))).collect();
            constant["axis"] = json!(axis);
        }
        self.constants.push(constant);
        let bias = choices.once_in(2).then(|| {
            let name = format!("b{index}");
            let dtype = choices.one(&["int32", "int64"]);
            let value = |choices: &mut Choices<'_>| choices.between(i64::from(i32::MIN), i64::from(i32::MAX));
            let values: Vec<_> = (0..made).map(|_| value(choices)).collect();
            self.constants.push(json!({"name": name, "shape": [made], "dtype": dtype, "values": values}));
            name
        });
        let read = node["inputs"][0].clone();
        node["inputs"] = json!([read, weights, bias]);
    }
}

fn input_shape(choices: &mut Choices<'_>) -> Vec<u64> {
    match choices.below(4) {
        0 => vec![1, 1 + choices.below(12)],
        _ => vec![1, 1 + choices.below(5), 1 + choices.below(5), 1 + choices.below(5)],
    }
}

fn dtype(choices: &mut Choices<'_>) -> &'static str {
    choices.one(&["int8", "int8", "int8", "uint8", "int16", "int4"])
}

fn scale(choices: &mut Choices<'_>) -> f64 {
    choices.one(&[0.1, 0.05, 1.0, 0.003, 0.5, 1e-6, 1e6, 1e-30])
}

fn zero_point(choices: &mut Choices<'_>) -> i64 {
    match choices.below(4) {
        0 | 1 => 0,
        2 => choices.between(-128, 127),
        _ => choices.between(0, 255),
    }
}
