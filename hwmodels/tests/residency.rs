//! Activations that stay on the chip, and the resulting external traffic, computed by hand.

use std::sync::Arc;

use guardbit_graph::ops::{Add, Conv2d};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorId, TensorType,
};
use guardbit_hwmodels::{Accelerator, Program, from_yaml, lower};
use guardbit_num::Scheme;

const REQUANTIZE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// Builds graphs of images of 4x4 pixels, all int8.
struct Building(GraphBuilder);

impl Building {
    fn ty(shape: &[usize]) -> TensorType {
        let quantization = Some(Quantization::per_tensor(0.1, 0).unwrap());
        TensorType { shape: shape.into(), dtype: DType::Int8, quantization }
    }

    fn output(name: &str) -> OutputSpec {
        OutputSpec { name: name.into(), dtype: DType::Int8, quantization: Self::ty(&[]).quantization }
    }

    /// Adds a 1x1 convolution to 8 channels.
    fn conv(&mut self, name: &str, x: TensorId, depth: usize) -> TensorId {
        let codes = vec![1; 8 * depth];
        let w = self.0.constant(format!("w_{name}"), Self::ty(&[8, 1, 1, depth]), codes).unwrap();
        let op = Conv2d {
            stride: [1; 2],
            dilation: [1; 2],
            padding: Padding::Valid,
            activation: Activation::None,
            requantize: REQUANTIZE,
        };
        self.0.node(op, &[Some(x), Some(w), None], Self::output(name)).unwrap()
    }
}

/// Returns the graph `x -> a -> b -> c`, and `s` in parallel with `b` and `c`, added by the host:
///
/// ```text
/// node     reads  makes          bytes   weights
/// 0 conv   x      a              64 128  8 x 4 = 32
/// 1 conv   a      b              128 128 8 x 8 = 64
/// 2 conv   b      c              128 128 64
/// 3 conv   a      s              128 128 64
/// 4 add    c s    sum, on the host
/// ```
fn branch(outputs: &[&str]) -> Arc<Graph> {
    let mut building = Building(GraphBuilder::new("branch"));
    let x = building.0.input("x", Building::ty(&[1, 4, 4, 4])).unwrap();
    let a = building.conv("a", x, 4);
    let b = building.conv("b", a, 8);
    let c = building.conv("c", b, 8);
    let s = building.conv("s", a, 8);
    let add = Add { activation: Activation::None, scheme: Scheme::Double };
    let sum = building.0.node(add, &[Some(c), Some(s)], Building::output("sum")).unwrap();
    let named = [("a", a), ("b", b), ("sum", sum)];
    let outputs = named.into_iter().filter(|(name, _)| outputs.contains(name)).map(|(_, id)| id).collect();
    Arc::new(building.0.finish(outputs).unwrap())
}

fn accelerator(memory: &str) -> Accelerator {
    let text = format!("schema: 1\nmemory: {{{memory}}}\n");
    from_yaml(&text, "test", &[]).unwrap()
}

fn program(outputs: &[&str], memory: &str) -> Program {
    lower(branch(outputs), &accelerator(memory)).unwrap()
}

/// Checks which tensors stay, and the external traffic in bytes of every layer.
fn check(outputs: &[&str], memory: &str, stays: &[&str], bytes: [u64; 4]) {
    let program = program(outputs, memory);
    let name = |tensor: TensorId| program.graph.tensor(tensor).name.as_str();
    let found: Vec<&str> = program.residents.iter().map(|resident| name(resident.tensor)).collect();
    assert_eq!(found, stays, "{memory}");
    let found: Vec<u64> = program.mac_layers().map(|layer| layer.timing.cost.dram_bytes).collect();
    // And the multiplier of the layer, with its shift.
    assert_eq!(found, bytes.map(|bytes| bytes + 5), "{memory}");
}

#[test]
fn a_branch_keeps_a_tensor_until_its_last_reader() {
    // Everything passes outside: inputs, weights and outputs.
    let all = [64 + 32 + 128, 128 + 64 + 128, 128 + 64 + 128, 128 + 64 + 128];
    check(&["sum"], "double_buffer: false, activation_kib: 0.25", &[], all);
    // `a` and `b` are on the chip while nodes 1 and 2 run, 256 bytes: `a` waits for node 3. Inputs of the
    // host's addition pass outside.
    let some = [64 + 32, 64, 64 + 128, 64 + 128];
    check(&["sum"], "residency: fit, double_buffer: false, activation_kib: 0.25", &["a", "b"], some);
    let program = program(&["sum"], "residency: fit, double_buffer: false, activation_kib: 0.25");
    let peak = program.resident_peak().map(|(node, bits)| (node.index(), bits));
    assert_eq!(peak, Some((1, 256 * 8)));
    let held: Vec<u128> =
        program.graph.nodes_with_ids().map(|(node, _)| program.resident_bits(node) / 8).collect();
    assert_eq!(held, [128, 256, 256, 128, 0]);
}

#[test]
fn tiles_of_layers_in_between_keep_their_room() {
    // With a byte less, `a` and the 128 bytes of `b` in the tile would not fit together while node 2 runs.
    let all = [64 + 32 + 128, 128 + 64 + 128, 128 + 64 + 128, 128 + 64 + 128];
    check(&["sum"], "residency: fit, double_buffer: false, activation_kib: 0.249023", &[], all);
    // The next tile loads while one computes: a and b in addition to twice 128 bytes of the other one, 384.
    check(&["sum"], "residency: fit, double_buffer: true, activation_kib: 0.374", &[], all);
    check(
        &["sum"],
        "residency: fit, double_buffer: true, activation_kib: 0.375",
        &["a", "b"],
        [64 + 32, 64, 64 + 128, 64 + 128],
    );
}

#[test]
fn outputs_of_the_network_are_stored_too() {
    check(
        &["a", "sum"],
        "residency: fit, double_buffer: false, activation_kib: 0.25",
        &["a", "b"],
        [64 + 32 + 128, 64, 64 + 128, 64 + 128],
    );
}

/// A single layer can be excluded from residency.
#[test]
fn residency_is_the_makers() {
    let text = "schema: 1\nmemory: {residency: fit}\nlayers: {a: {memory.residency: none}}\n";
    let program = lower(branch(&["sum"]), &from_yaml(text, "test", &[]).unwrap()).unwrap();
    let made: Vec<usize> = program.residents.iter().map(|resident| resident.from.index()).collect();
    assert_eq!(made, [1]);
}

#[test]
fn what_does_not_pass_takes_no_time() {
    let memory = "double_buffer: false, activation_kib: 0.25, dram_bytes_per_cycle: 1";
    let cycles = |residency: &str| {
        let program = program(&["sum"], &format!("{memory}, residency: {residency}"));
        program.mac_layers().map(|layer| layer.timing.cycles).collect::<Vec<_>>()
    };
    let [none, fit] = ["none", "fit"].map(cycles);
    // At a byte per cycle, without double buffering, data that does not pass takes no time.
    let saved: Vec<u64> = none.iter().zip(&fit).map(|(none, fit)| none - fit).collect();
    assert_eq!(saved, [128, 256, 128, 128]);
}
