//! Accelerated layers that read a constant, and constants that are outputs.

use std::sync::Arc;

use guardbit_graph::ops::{Add, FullyConnected};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Quantization, Requantize, TensorType,
};
use guardbit_hwmodels::bounds::network_sums;
use guardbit_hwmodels::{load, lower};
use guardbit_num::Scheme;
use guardbit_sim::{Codes, Engine, Keep, Mode, Options, Simulation};

/// Returns `f = fully_connected(c, w)` and `y = x + f`, where `c` and `w` are constants and `c` is an output
/// too.
fn network() -> Graph {
    let quantization = Some(Quantization::per_tensor(0.1, 0).unwrap());
    let ty = |shape: &[usize]| TensorType {
        shape: shape.to_vec(),
        dtype: DType::Int8,
        quantization: quantization.clone(),
    };
    let output =
        |name: &str| OutputSpec { name: name.into(), dtype: DType::Int8, quantization: quantization.clone() };
    let mut builder = GraphBuilder::new("constant");
    let x = builder.input("x", ty(&[1, 3])).unwrap();
    let c = builder.constant("c", ty(&[1, 4]), vec![1, 2, 3, 4]).unwrap();
    let w = builder.constant("w", ty(&[3, 4]), vec![1; 12]).unwrap();
    let requantize = Requantize { scheme: Scheme::Float64Away, rule: MultiplierRule::Float64 };
    let dense = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize };
    let f = builder.node(dense, &[Some(c), Some(w)], output("f")).unwrap();
    let add = Add { activation: Activation::None, scheme: Scheme::Double };
    let y = builder.node(add, &[Some(x), Some(f)], output("y")).unwrap();
    builder.finish(vec![y, c]).unwrap()
}

/// Codes of LiteRT 2.3.0's reference kernels for this network.
const LITERT: [([i32; 3], [i32; 3]); 2] = [([-128, 0, 127], [-127, 1, 127]), ([5, -7, 100], [6, -6, 101])];

#[test]
fn constant_activations_are_read() {
    let graph = Arc::new(network());
    let program = lower(Arc::clone(&graph), &load("fpga-int14-os", &[]).unwrap()).unwrap();
    assert_eq!(program.mac_layers().count(), 1);
    for engine in [Engine::Reference, Engine::Fast] {
        for mode in [Mode::Propagated, Mode::Isolated] {
            for keep in [Keep::Outputs, Keep::All] {
                let mut simulation =
                    Simulation::new(&program, Options { engine, mode, keep, ..Options::default() });
                let samples: Vec<_> = LITERT.iter().map(|(x, _)| vec![x.to_vec()]).collect();
                let tensors = simulation.run_batch(&samples).unwrap();
                for (sample, (_, expected)) in tensors.iter().zip(LITERT) {
                    let codes = |run: &[Option<Codes>], output: usize| {
                        run[graph.outputs()[output].index()].as_ref().map(Codes::to_vec)
                    };
                    for run in [&sample.exact, &sample.simulated] {
                        assert_eq!(codes(run, 0), Some(expected.to_vec()), "{engine:?} {mode:?} {keep:?}");
                        assert_eq!(codes(run, 1), Some(vec![1, 2, 3, 4]), "{engine:?} {mode:?} {keep:?}");
                    }
                }
            }
        }
    }
}

/// The only possible sum is 10.
#[test]
fn ranges_of_constant_activations_are_their_codes() {
    let program = lower(Arc::new(network()), &load("fpga-int14-os", &[]).unwrap()).unwrap();
    let sums = network_sums(&program);
    let channels = sums[0].as_ref().unwrap();
    assert_eq!(channels.len(), 3);
    for levels in channels {
        assert_eq!((levels[0].min, levels[0].max), (0, 10));
    }
}

/// The layer alone takes its activations from outside.
#[test]
fn a_layer_alone_reads_an_input() {
    let graph = network();
    let alone = graph.single_node(graph.find_node("f").unwrap());
    let names = |ids: &[guardbit_graph::TensorId]| -> Vec<String> {
        ids.iter().map(|&id| alone.tensor(id).name.clone()).collect()
    };
    assert_eq!((names(alone.inputs()), names(alone.outputs())), (vec!["c".to_owned()], vec!["f".to_owned()]));
    assert!(alone.tensor(alone.find_tensor("w").unwrap()).constant.is_some());
}
