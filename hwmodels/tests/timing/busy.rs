//! No part of an accelerator exceeds its capacity.

use std::sync::Arc;

use guardbit_graph::ops::Conv2d;
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorType, Window,
};
use guardbit_hwmodels::cost::{Part, layer_costs, load_cost};
use guardbit_hwmodels::timing::LayerTiming;
use guardbit_hwmodels::{
    Accelerator, Array, ArrayKind, Dataflow, Level, Reduce, Terms, TimingConvention, from_yaml, lower,
};
use guardbit_num::Scheme;
use proptest::prelude::*;

use super::common::{INT8, accelerators, window, windows};

/// Returns a convolution with this window.
fn graph(window: &Window) -> Arc<Graph> {
    let quantization = || Some(Quantization::per_tensor(0.1, 0).unwrap());
    let ty = |shape: &[usize]| TensorType {
        shape: shape.into(),
        dtype: DType::Int8,
        quantization: quantization(),
    };
    let [rows, cols, depth] = window.input;
    let mut builder = GraphBuilder::new("busy");
    let x = builder.input("x", ty(&[window.batch, rows, cols, depth])).unwrap();
    let [kh, kw, ic] = window.kernel;
    let codes = vec![1; window.channels() * window.terms()];
    let w = builder.constant("w", ty(&[window.channels(), kh, kw, ic]), codes).unwrap();
    let op = Conv2d {
        stride: window.stride,
        dilation: window.dilation,
        padding: Padding::Valid,
        activation: Activation::None,
        requantize: Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 },
    };
    let output = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization: quantization() };
    let y = builder.node(op, &[Some(x), Some(w), None], output).unwrap();
    Arc::new(builder.finish(vec![y]).unwrap())
}

/// Generates accelerators with up to three levels of runs of all lengths inside the last one.
fn levelled() -> impl Strategy<Value = Accelerator> {
    let level = (1..10usize, any::<bool>());
    (accelerators(), prop::collection::vec(level, 0..4), 1..10usize).prop_map(
        |(mut accelerator, runs, dot_width)| {
            accelerator.array.dot_width = dot_width;
            let last = accelerator.datapath.levels.pop().unwrap();
            let inner = runs.into_iter().enumerate().map(|(index, (terms, tree))| Level {
                name: format!("level{index}"),
                terms: Terms::Count(terms),
                reduce: if tree { Reduce::Tree } else { Reduce::Serial },
                ..last.clone()
            });
            accelerator.datapath.levels = inner.chain([last.clone()]).collect();
            accelerator
        },
    )
}

proptest! {
    /// Multipliers, adders and registers are used at most once per cycle; ports and external memory stay
    /// within their rate.
    #[test]
    fn no_part_is_busier_than_it_can_be(accelerator in levelled(), window in windows()) {
        let program = lower(graph(&window), &accelerator).unwrap();
        let layer = program.mac_layers().next().unwrap();
        let scalesim = accelerator.timing.convention == TimingConvention::ScalesimV3;
        // SCALE-Sim counts one cycle less per matrix product than it takes.
        let cycles = layer.timing.cycles + if scalesim { window.groups as u64 } else { 0 };
        for part in layer_costs(&program, layer, &load_cost("aladdin-40nm").unwrap()) {
            if matches!(part.part, Part::Multiplier | Part::Adder | Part::Register) {
                let most = part.instances as f64 * cycles as f64;
                prop_assert!(part.accesses <= most, "{} in {cycles} cycles: {part:?}", part.label());
            }
        }
        if accelerator.timing.convention == TimingConvention::Overlapped {
            let (moved, memory) = (layer.timing.cost.moved, accelerator.memory);
            let most = |rate: f64, ports: usize| rate * 8.0 * ports as f64 * cycles as f64 * (1.0 + 1e-9);
            let cores = accelerator.array.cores;
            prop_assert!(moved.activations as f64 <= most(memory.sram_bytes_per_cycle, cores));
            prop_assert!(moved.weights as f64 <= most(memory.sram_bytes_per_cycle, cores));
            prop_assert!(moved.sums as f64 <= most(memory.accumulator_bytes_per_cycle, cores));
            prop_assert!(moved.loaded() as f64 <= most(memory.dram_bytes_per_cycle, 1));
            prop_assert!(moved.stored as f64 <= most(memory.dram_bytes_per_cycle, 1));
        }
    }
}

/// Compute cycles of 32 dot products of 144 products on 32 lanes of 8 multipliers, with trees of different
/// numbers of inputs.
#[test]
fn trees_shorter_than_the_dot_product_take_more_steps() {
    let steps = |terms: usize| {
        let text = format!(
            "schema: 1\narray: {{rows: 1, cols: 32, dot_width: 8}}\ndataflow: vector\naccumulation:\n  \
             - {{name: tree, reduce: tree, terms: {terms}, bits: auto}}\n  - {{name: acc, terms: all, bits: 20}}\n"
        );
        let accelerator = from_yaml(&text, "hw.yaml", &[]).unwrap();
        LayerTiming::new(&accelerator, &window(1, 144, 32, 1), INT8).cost.compute_cycles
    };
    // A step has 8, 4 * 2, 2 * 3, 2 * 4, 5, 6 and 7 products; a longer tree takes several steps.
    let expected = [(8, 18), (2, 18), (3, 24), (4, 18), (5, 29), (6, 24), (7, 21), (16, 18)];
    assert_eq!(expected.map(|(terms, _)| (terms, steps(terms))), expected);
}

/// All kinds and dataflows of one processing element take equally many steps.
#[test]
fn every_dataflow_takes_whole_runs() {
    let places = |dataflow: Dataflow, kind: ArrayKind| {
        let text = "schema: 1\narray: {rows: 16, cols: 16, dot_width: 8}\naccumulation:\n  \
                    - {name: tree, reduce: tree, terms: 5, bits: auto}\n  - {name: acc, terms: all, bits: 20}\n";
        let accelerator = from_yaml(text, "hw.yaml", &[]).unwrap();
        let array = Array { kind, ..accelerator.array };
        let accelerator = Accelerator { dataflow, array, ..accelerator };
        let window = window(16, 40, 16, 1);
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        let place = |k: usize| timing.place(window.output_position(0), k, 0);
        let mut steps: Vec<_> = (0..40).map(|k| (place(k).cycle, place(k).row)).collect();
        steps.dedup();
        steps.len()
    };
    for dataflow in [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary] {
        assert_eq!(places(dataflow, ArrayKind::Outputs), 8, "{dataflow}");
    }
    for kind in [ArrayKind::Outputs, ArrayKind::Channels, ArrayKind::Folded, ArrayKind::Block] {
        assert_eq!(places(Dataflow::Vector, kind), 8, "{kind:?}");
    }
}
