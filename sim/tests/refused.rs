//! The fast engine refuses no datapath.

use std::sync::Arc;

use crate::common::{REQUANTIZE, accelerator, conv2d, datapath, one_layer, output, quantized, serial};
use guardbit_graph::ops::{AvgPool2d, BatchMatmul};
use guardbit_graph::{Activation, DType, Graph, GraphBuilder, Padding};
use guardbit_hwmodels::{
    Check, Datapath, Fixup, Level, Packing, Reduce, Register, ShiftRounding, Terms, Walk, lower,
};
use guardbit_num::{Format, Overflow, Rounding};
use guardbit_sim::{Options, Settled, Simulation};

const WALKS: [Walk; 8] = [
    Walk::Forward,
    Walk::Reverse,
    Walk::Stride(2),
    Walk::Random { seed: 7 },
    Walk::Random { seed: 8 },
    Walk::Sorted,
    Walk::SignPaired,
    Walk::Greedy,
];

/// Returns a layer of every kind, with activations of `dtype`, and their zero point.
fn layers(dtype: DType, zero_point: i32) -> Vec<(&'static str, Graph)> {
    let x = quantized(&[1, 3, 3, 2], dtype, 0.1, zero_point);
    let w = (quantized(&[2, 2, 2, 2], DType::Int8, 0.1, 0), (0..16).map(|w| w * 7 - 50).collect());
    let out = || output("y", DType::Int8, 0.7, -5);
    let conv = one_layer(conv2d(1, Padding::Same), x.clone(), Some(w), Some(vec![40, -9]), out());
    let op =
        AvgPool2d { kernel: [2; 2], stride: [1; 2], padding: Padding::Same, activation: Activation::None };
    let pool = one_layer(op, x.clone(), None, None, output("y", dtype, 0.1, zero_point));
    let mut builder = GraphBuilder::new("product");
    let x = Some(builder.input("x", x).unwrap());
    let op = BatchMatmul { adj_x: false, adj_y: true, requantize: REQUANTIZE };
    let y = builder.node(op, &[x, x], out()).unwrap();
    vec![("conv2d", conv), ("avg_pool2d", pool), ("batch_matmul", builder.finish(vec![y]).unwrap())]
}

/// Returns every combination of what a datapath chooses, by name.
fn datapaths() -> Vec<(String, Datapath, Packing)> {
    let fixed = Rounding::ALL.map(ShiftRounding::Fixed);
    let rounds: Vec<_> = fixed.into_iter().chain([ShiftRounding::Stochastic { seed: 5 }]).collect();
    let mut all = Vec::new();
    let mut add = |name: String, path: &Datapath, packing| all.push((name, path.clone(), packing));
    for (reduce, overflow) in Reduce::ALL.into_iter().flat_map(|r| Overflow::ALL.map(|o| (r, o))) {
        for (check, walk) in [Check::EachAdd, Check::HandOver].into_iter().flat_map(|c| WALKS.map(|w| (c, w)))
        {
            for &round in &rounds {
                for (bits, product) in [(12, true), (24, false), (40, true), (62, false), (64, true)] {
                    let register = |bits| {
                        let format = Format::new(bits, bits != 62).unwrap();
                        Register::Fixed { format, overflow }
                    };
                    let inner = Level {
                        reduce,
                        check,
                        shift: 1,
                        round,
                        ..serial("inner", Terms::Count(3), register(bits))
                    };
                    let outer = Level { check, ..serial("outer", Terms::All, register(bits)) };
                    let mut path = datapath(vec![inner, outer]);
                    path.order.walk = walk.clone();
                    if product {
                        (path.product.register, path.product.shift) = (register(bits), 1);
                        path.product.round = round;
                    }
                    let name = format!("{reduce} {overflow} {check:?} {walk:?} {round:?} {bits}");
                    add(name, &path, Packing::None);
                }
            }
        }
    }
    for fixup in [Fixup::None, Fixup::Lut] {
        for terms in [Terms::Count(3), Terms::All] {
            let register = Register::Fixed { format: Format::signed(18).unwrap(), overflow: Overflow::Wrap };
            let levels = vec![serial("dsp", terms, register), serial("acc", Terms::All, Register::Auto)];
            let packing = Packing::Dsp48e2Int8x2(fixup);
            add(format!("{packing:?} {terms:?}"), &datapath(levels), packing);
        }
    }
    all
}

/// Returns the names of the datapaths, by layer, of which some dot product is not run on the fast engine.
fn refused(dtype: DType, zero_point: i32) -> Vec<String> {
    let mut refused = Vec::new();
    let codes: Vec<i32> = (0..18).map(|i| if i % 3 == 0 { dtype.min() } else { dtype.max() - i }).collect();
    for (layer, graph) in layers(dtype, zero_point) {
        let graph = Arc::new(graph);
        for (name, path, packing) in datapaths() {
            let mut accelerator = accelerator(path);
            accelerator.packing = packing.into();
            let program = lower(Arc::clone(&graph), &accelerator).unwrap();
            let mut simulation = Simulation::new(&program, Options::default());
            // A trap ends the run after the layer.
            let _ = simulation.run_batch(&[vec![codes.clone()]]);
            let Settled { by_weights, by_sums, stepped } = simulation.settled();
            let layer_dots = program.mac_layers().next().unwrap().dots.window.dots() as u64;
            if by_weights + by_sums + stepped != layer_dots {
                refused.push(format!("{layer} {dtype:?}: {name}"));
            }
        }
    }
    refused
}

#[test]
fn the_fast_engine_runs_every_datapath() {
    let none: Vec<String> = Vec::new();
    for (dtype, zero_point) in [(DType::Int8, 3), (DType::Int16, 0), (DType::UInt16, 0), (DType::Int16, 500)]
    {
        assert_eq!(refused(dtype, zero_point), none);
    }
}
