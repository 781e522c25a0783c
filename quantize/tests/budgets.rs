//! Compares budgets of weights with the proved bounds and the simulator: on any layer and datapath, weights
//! that a budget admits cannot overflow, and weights that it refuses can.

use crate::common::random::{self, Case};
use crate::common::{one_layer, program, run};
use guardbit_graph::{Graph, OutputSpec, Quantization};
use guardbit_hwmodels::bounds::{LayerBounds, Range, Witness};
use guardbit_hwmodels::{BiasPlace, MacLayer, Program, Register};
use guardbit_quantize::weights::budget::{Budget, Budgets};
use guardbit_sim::Options;
use proptest::prelude::*;

fn only_layer(program: &Program) -> &MacLayer {
    program.mac_layers().next().unwrap()
}

/// Returns the network with these weights, `[channel][cell]`, with zero point 0, and biases.
fn with(case: &Case, layer: &MacLayer, codes: &[Vec<i32>], biases: &[i64]) -> Graph {
    let (_, node) = case.graph.nodes_with_ids().next().unwrap();
    let tensors: Vec<_> = node.inputs.iter().flatten().map(|&id| case.graph.tensor(id)).collect();
    let (x, weights, output) = (tensors[0], tensors[1], case.graph.tensor(node.output));
    let strides = layer.dots.weights.as_ref().unwrap().strides;
    let mut flat = vec![0; weights.ty.len()];
    for (channel, codes) in codes.iter().enumerate() {
        for (cell, &code) in codes.iter().enumerate() {
            let at = layer.dots.window.kernel_position(cell);
            flat[channel * strides[0] + at.h * strides[1] + at.w * strides[2] + at.c * strides[3]] = code;
        }
    }
    let mut ty = weights.ty.clone();
    let old = ty.quantization.take().unwrap();
    let zero =
        Quantization::per_axis(old.scales().to_vec(), vec![0; codes.len()], old.axis().unwrap()).unwrap();
    ty.quantization = Some(match old.range() {
        Some(range) => zero.with_range(range),
        None => zero,
    });
    let bias = tensors.get(2).map(|_| biases.iter().map(|&bias| bias as i32).collect());
    let quantization = output.ty.quantization.clone();
    let out = OutputSpec { name: output.name.clone(), dtype: output.ty.dtype, quantization };
    one_layer(node.op.clone(), x.ty.clone(), Some((ty, flat)), bias, out)
}

/// Returns, for each level, whether its register holds the proved range of a channel.
fn fits(graph: &Graph, layer: &MacLayer, channel: usize) -> bool {
    let bounds = &LayerBounds::new(graph, layer).channels[channel];
    let rails = |register: Register| match register {
        Register::Auto => Range::new(i128::MIN, i128::MAX),
        Register::Fixed { format, overflow } => {
            let (min, max) = overflow.limits(format);
            Range::new(min, max)
        }
    };
    let mut levels = layer.datapath.levels.iter().zip(bounds.proved());
    let sums = levels.clone().all(|(level, &range)| rails(level.register).contains(range));
    let operand = guardbit_hwmodels::bounds::operand_range(graph, layer);
    let product =
        |&weight: &i32| rails(layer.datapath.product.register).contains(operand.times(Range::point(weight)));
    let products = layer.weights.channel(channel).iter().all(product);
    let (last, &sum) = levels.next_back().unwrap();
    let bias = layer.bias.as_ref().map_or(0, |bias| bias[channel]);
    let end = layer.datapath.levels.len();
    let unit =
        Range::point(bias).shift_right(layer.datapath.unit_shift(end), layer.datapath.unit_rounding(end));
    let out = sum.shift_right(last.shift, last.round).plus(unit);
    let post = layer.datapath.bias.at != BiasPlace::Post || rails(layer.datapath.bias.register).contains(out);
    sums && products && (post || layer.bias.is_none())
}

/// Adds arbitrary weights as far as they fit.
fn fill<'a>(budgets: &'a Budgets, bias: i64, wanted: &[i32]) -> Budget<'a> {
    let mut budget = budgets.channel(bias);
    wanted.iter().enumerate().for_each(|(cell, &code)| {
        budget.set_nearest(cell, code);
    });
    budget
}

fn check(case: &Case, seed: u64) -> Result<(), TestCaseError> {
    let own = program(&case.graph, &case.accelerator);
    let layer = only_layer(&own);
    let weights = layer.dots.weights.as_ref().filter(|_| layer.dots.has_constant_weights());
    let Some(weights) = weights else { return Ok(()) };
    let (_, node) = case.graph.nodes_with_ids().next().unwrap();
    let range = case.graph.tensor(node.inputs[1].unwrap()).ty.code_range();
    prop_assume!(range.contains(0));
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let span = i64::from(range.max()) - i64::from(range.min()) + 1;
        range.min() + ((state >> 33) as i64 % span) as i32
    };
    let channels = weights.zero_points.len();
    let wanted: Vec<Vec<i32>> = (0..channels).map(|_| layer.order.iter().map(|_| draw()).collect()).collect();

    let empty = vec![vec![0; layer.order.len()]; channels];
    let blank = with(case, layer, &empty, &vec![0; channels]);
    let blank = program(&blank, &case.accelerator);
    let budgets = Budgets::new(&blank.graph, only_layer(&blank));
    let model = |channel: usize| layer.dots.bias.as_ref().map_or(0, |bias| bias.values[channel]);
    let mut biases = Vec::new();
    for channel in 0..channels {
        let Some(room) = budgets.channel(0).biases() else { return Ok(()) };
        biases.push(i128::from(model(channel)).clamp(room.min, room.max) as i64);
    }
    let biases = if layer.dots.bias.is_some() { biases } else { vec![0; channels] };
    let filled: Vec<Budget<'_>> =
        (0..channels).map(|channel| fill(&budgets, biases[channel], &wanted[channel])).collect();
    for (channel, filled) in filled.iter().enumerate() {
        let empty = budgets.channel(biases[channel]);
        for codes in [&wanted[channel][..], filled.codes()] {
            let mut one_by_one = empty.clone();
            let set = codes.iter().enumerate().all(|(cell, &code)| one_by_one.set(cell, code));
            prop_assert_eq!(empty.fits(codes.iter().copied()), set, "channel {} of {:?}", channel, codes);
        }
    }
    // The nearest code that fits: a step further does not.
    for (channel, filled) in filled.iter().enumerate() {
        let mut again = budgets.channel(biases[channel]);
        for (cell, (&code, &wanted)) in filled.codes().iter().zip(&wanted[channel]).enumerate() {
            let further = code != wanted && again.clone().set(cell, code + (wanted - code).signum());
            prop_assert!(again.set(cell, code) && !further, "{code} of {wanted} in cell {cell}");
        }
    }
    let codes: Vec<Vec<i32>> = filled.iter().map(|budget| budget.codes().to_vec()).collect();

    let graph = with(case, layer, &codes, &biases);
    let made = program(&graph, &case.accelerator);
    let tight = only_layer(&made);
    for channel in 0..channels {
        prop_assert!(fits(&graph, tight, channel), "channel {channel} of {codes:?}");
        let own = i128::from(biases[channel]);
        if layer.dots.bias.is_some() {
            let room = filled[channel].biases();
            prop_assert!(room.is_some_and(|room| room.min <= own && own <= room.max), "{room:?} {own}");
        }
    }
    check_events(case, &graph, &made)?;

    let path = &layer.datapath;
    if path.order.walk.depends_on_data() && path.levels.len() > 1 {
        // Inner registers receive the sums of the whole dot product, which exceed the bound.
        return Ok(());
    }
    // Every refusal is justified.
    for channel in 0..channels {
        let refused = (0..layer.order.len()).find(|&cell| {
            let (code, wanted) = (codes[channel][cell], wanted[channel][cell]);
            let mut again = filled[channel].clone();
            code != wanted && !again.set(cell, code + (wanted - code).signum())
        });
        if let Some(cell) = refused {
            let mut more = codes.clone();
            more[channel][cell] += (wanted[channel][cell] - codes[channel][cell]).signum();
            let graph = with(case, layer, &more, &biases);
            let made = program(&graph, &case.accelerator);
            prop_assert!(!fits(&graph, only_layer(&made), channel), "channel {channel}, cell {cell}");
        }
    }
    Ok(())
}

/// Nothing overflows on samples or on the inputs that attain the bounds.
fn check_events(case: &Case, graph: &Graph, program: &Program) -> Result<(), TestCaseError> {
    let layer = only_layer(program);
    let bounds = LayerBounds::new(graph, layer);
    let mut samples = case.samples.clone();
    for level in 0..layer.datapath.levels.len() {
        for channel in 0..bounds.channels.len() {
            samples.extend(Witness::of_channel(graph, layer, &bounds, level, channel).map(|w| w.input));
        }
    }
    let ran = run(program, &samples, Options::default()).unwrap();
    for (level, seen) in ran.stats.levels.iter().enumerate() {
        let total = seen.total();
        prop_assert_eq!((total.events(), total.persistent, total.transient), (0, 0, 0), "level {}", level);
    }
    let total = ran.stats.total();
    prop_assert_eq!(total.product_events, 0);
    if layer.datapath.bias.at != BiasPlace::PostRequantize {
        prop_assert_eq!(total.bias_events, 0);
    }
    Ok(())
}

proptest! {
    /// Tests any layer, signed and unsigned activations, zero points subtracted or folded, and any levels,
    /// shifts, orders and places of the bias.
    #[test]
    fn what_fits_a_budget_cannot_overflow(case in random::case(), seed in any::<u64>()) {
        check(&case, seed)?;
    }
}
