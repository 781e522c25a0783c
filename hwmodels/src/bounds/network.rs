//! Ranges propagated through the network, element by element.

use guardbit_graph::{DotProducts, Finish, Graph, Monotonicity, NodeId, Tap, TensorId};
use guardbit_num::Requantizer;

use super::layer::initial;
use super::{Range, level_sums};
use crate::{BiasPlace, MacLayer, Program, Register, Step, ZeroPoint};

/// Least and greatest code of every element of a tensor.
#[derive(Debug, Clone)]
struct Codes {
    low: Vec<i32>,
    high: Vec<i32>,
}

/// An end of the codes.
#[derive(Debug, Clone, Copy)]
enum End {
    Low,
    High,
}

impl Codes {
    fn end(&self, end: End) -> &[i32] {
        match end {
            End::Low => &self.low,
            End::High => &self.high,
        }
    }
}

/// The ranges of the sums of every accelerated layer, per node, output channel and level (innermost first), for
/// any codes at the network's inputs; `None` for what the host runs.
///
/// They hold as long as no layer before overflows: widths chosen by them hold for the network as a whole.
/// Operations that keep order are evaluated at both ends; what is not known to keep order may give any code.
pub fn network_sums(program: &Program) -> Vec<Option<Vec<Vec<Range>>>> {
    let graph = &program.graph;
    let mut codes: Vec<Option<Codes>> = vec![None; graph.tensors().len()];
    // A state may hold any code that its type allows: it starts as the network says, and goes on with what is carried to it.
    let states = graph.states().iter().map(|state| &state.tensor);
    for &id in graph.inputs().iter().chain(states) {
        codes[id.index()] = Some(any_code(graph, id));
    }
    for layer in program.mac_layers() {
        let input = graph.node(layer.node).inputs[0];
        if let Some((id, constant)) = input.and_then(|id| Some((id, graph.tensor(id).codes()?.to_vec()))) {
            codes[id.index()] = Some(Codes { low: constant.clone(), high: constant });
        }
    }
    let mut sums = Vec::with_capacity(graph.nodes().len());
    for (id, node) in graph.nodes_with_ids() {
        let layer = match &program.steps[id.index()] {
            Step::Host(_) => None,
            Step::Mac(layer) => Some(layer.as_ref()),
        };
        let of_layer =
            |layer| Some(layer_sums(layer, input(graph, id, 0, &codes)?, input(graph, id, 1, &codes)));
        sums.push(layer.and_then(of_layer));
        codes[node.output.index()] = Some(output(graph, id, layer, &codes));
    }
    sums
}

/// The codes of one of a node's inputs.
fn input<'a>(graph: &Graph, id: NodeId, index: usize, codes: &'a [Option<Codes>]) -> Option<&'a Codes> {
    codes[graph.node(id).inputs.get(index).copied()??.index()].as_ref()
}

fn any_code(graph: &Graph, id: TensorId) -> Codes {
    let ty = &graph.tensor(id).ty;
    let (low, high) = ty.code_range().ends();
    Codes { low: vec![low; ty.len()], high: vec![high; ty.len()] }
}

/// Per channel and level, over all outputs; `second` are the codes of the weights where they are activations.
fn layer_sums(layer: &MacLayer, input: &Codes, second: Option<&Codes>) -> Vec<Vec<Range>> {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let mut channels = vec![vec![Range::ZERO; layer.datapath.levels.len()]; window.channels()];
    let mut products = Vec::with_capacity(layer.order.len());
    for out in (0..window.dots()).map(|index| window.output_position(index)) {
        products.clear();
        for (k, &cell) in layer.order.iter().enumerate() {
            let cell = window.kernel_position(cell);
            let operand = match window.tap(out, cell) {
                Tap::Input(at) => {
                    Range::new(input.low[at] - offset.subtract, input.high[at] - offset.subtract)
                }
                // A pool does not read what is outside.
                Tap::Padding if layer.dots.weights.is_none() => continue,
                Tap::Padding => Range::point(offset.padding),
            };
            let operand = operand.hull(Range::ZERO);
            products.push(match (layer.weights.get(out.c), &layer.dots.weights, second) {
                (None, Some(weights), Some(second)) => {
                    let at = weights.index(out.n, out.c, cell);
                    let seen = |code| layer.weight_operand(out.c, code);
                    operand.times(Range::new(seen(second.low[at]), seen(second.high[at])))
                }
                (weights, ..) => scaled(operand, weights.map_or(0, |weights| weights[k])),
            });
        }
        let sums = level_sums(&layer.datapath, &products, initial(layer, out.c));
        channels[out.c].iter_mut().zip(sums).for_each(|(all, sum)| *all = all.hull(sum));
    }
    channels
}

fn scaled(operand: Range, weight: i32) -> Range {
    let weight = i128::from(weight);
    let (a, b) = (operand.min * weight, operand.max * weight);
    Range { min: a.min(b), max: a.max(b) }
}

/// The codes that a node can make.
fn output(graph: &Graph, id: NodeId, layer: Option<&MacLayer>, codes: &[Option<Codes>]) -> Codes {
    let anything = || any_code(graph, graph.node(id).output);
    if let Some(layer) = layer.filter(|layer| !is_exact(layer)) {
        return clamp_only(graph, layer).unwrap_or_else(anything);
    }
    let dots = graph.dot_products(id);
    if let Some(dots) = dots.filter(|dots| dots.weights.is_some()) {
        let weighted = || dot_codes(&dots, layer, input(graph, id, 0, codes)?, input(graph, id, 1, codes));
        return weighted().unwrap_or_else(anything);
    }
    let at = |ends: &[End]| evaluate(graph, id, codes, ends);
    match graph.node(id).op.monotonicity() {
        Monotonicity::Increasing => Codes { low: at(&[End::Low]), high: at(&[End::High]) },
        Monotonicity::Bilinear => {
            let corners =
                [[End::Low, End::Low], [End::Low, End::High], [End::High, End::Low], [End::High, End::High]];
            let corners = corners.map(|corner| at(&corner));
            let fold = |pick: fn(i32, i32) -> i32| {
                let join = |a: Vec<i32>, b: &Vec<i32>| a.iter().zip(b).map(|(&a, &b)| pick(a, b)).collect();
                corners[1..].iter().fold(corners[0].clone(), join)
            };
            Codes { low: fold(i32::min), high: fold(i32::max) }
        }
        Monotonicity::Unknown => anything(),
    }
}

/// The output where input `i` stands at `ends[i]`; the last end holds for all further inputs.
fn evaluate(graph: &Graph, id: NodeId, codes: &[Option<Codes>], ends: &[End]) -> Vec<i32> {
    let read = |(index, input): (usize, &Option<TensorId>)| -> &[i32] {
        let Some(input) = input else { return &[] };
        match (&graph.tensor(*input).constant, &codes[input.index()]) {
            (Some(constant), _) => constant.codes().map_or(&[], |codes| codes),
            (None, Some(codes)) => codes.end(ends[index.min(ends.len() - 1)]),
            (None, None) => &[],
        }
    };
    let inputs: Vec<&[i32]> = graph.node(id).inputs.iter().enumerate().map(read).collect();
    graph.evaluate(id, &inputs)
}

/// Whether nothing but overflow of its levels or its bias adder makes the layer's codes differ from the model's.
fn is_exact(layer: &MacLayer) -> bool {
    let datapath = &layer.datapath;
    datapath.unit_shift(datapath.levels.len()) == 0 && datapath.product.register == Register::Auto
}

/// Any code that the output stage lets pass.
fn clamp_only(graph: &Graph, layer: &MacLayer) -> Option<Codes> {
    let Finish::Requantize(stage) = &layer.dots.finish else { return None };
    let len = graph.tensor(graph.node(layer.node).output).ty.len();
    Some(Codes { low: vec![stage.clamp.0; len], high: vec![stage.clamp.1; len] })
}

/// The codes of weighted sums; `None` if the requantizers do not exist.
fn dot_codes(
    dots: &DotProducts,
    layer: Option<&MacLayer>,
    input: &Codes,
    second: Option<&Codes>,
) -> Option<Codes> {
    let Finish::Requantize(stage) = &dots.finish else { return None };
    let weights = dots.weights.as_ref()?;
    let ends: [&[i32]; 2] = match weights.constant() {
        Some(codes) => [codes, codes],
        None => second.map(|second| [&second.low[..], &second.high[..]])?,
    };
    let requantizers = match layer {
        Some(layer) => layer.exact_requantizers.clone(),
        None => stage.requantizers(None).ok()?,
    };
    let window = &dots.window;
    let cells: Vec<_> = (0..window.terms()).map(|k| window.kernel_position(k)).collect();
    let zero = i64::from(dots.input_zero_point);
    let mut codes = Codes { low: Vec::new(), high: Vec::new() };
    for out in (0..window.dots()).map(|index| window.output_position(index)) {
        let (mut low, mut high) = (0i64, 0i64);
        for &cell in &cells {
            let Tap::Input(at) = window.tap(out, cell) else { continue };
            let [x, y] = [input.low[at], input.high[at]].map(|code| i64::from(code) - zero);
            let index = weights.index(out.n, out.c, cell);
            let [v, w] = ends.map(|codes| i64::from(codes[index] - weights.zero_points[out.c]));
            let (a, b) = (x * v, y * v);
            let (c, d) = if v == w { (a, b) } else { (x * w, y * w) };
            low += a.min(b).min(c).min(d);
            high += a.max(b).max(c).max(d);
        }
        let bias = dots.bias.as_ref().map_or(0, |bias| i128::from(bias.values[out.c]));
        let finish =
            Finisher { requantizer: requantizers[out.c], bias, layer, zero: stage.output_zero_point.into() };
        let ends = finish.codes(Range::new(low, high));
        let clamp = |code: i128| code.clamp(stage.clamp.0.into(), stage.clamp.1.into()) as i32;
        codes.low.push(ends.map_or(stage.clamp.0, |ends| clamp(ends.min)));
        codes.high.push(ends.map_or(stage.clamp.1, |ends| clamp(ends.max)));
    }
    Some(codes)
}

/// From the sums of one output to its codes.
struct Finisher<'a> {
    requantizer: Requantizer,
    bias: i128,
    layer: Option<&'a MacLayer>,
    zero: i128,
}

impl Finisher<'_> {
    /// The codes before the clamp; `None` where a register on the way may overflow.
    fn codes(&self, sum: Range) -> Option<Range> {
        let at = self.layer.map_or(BiasPlace::Post, |layer| layer.datapath.bias.at);
        // There the constants of the zero points are rounded on their own.
        let folds = self.layer.is_some_and(|layer| layer.datapath.operands.zero_point == ZeroPoint::Fold);
        if folds && at == BiasPlace::PostRequantize {
            return None;
        }
        let after = if at == BiasPlace::PostRequantize { self.requantizer.scale(self.bias) } else { 0 };
        let sum = if at == BiasPlace::PostRequantize { sum } else { sum.plus(Range::point(self.bias)) };
        let adder = self.layer.map_or(Register::Auto, |layer| layer.datapath.bias.register);
        let fits = |range: Range| match (adder, at) {
            (Register::Fixed { format, .. }, BiasPlace::Post | BiasPlace::PostRequantize) => {
                format.holds(range.min) && format.holds(range.max)
            }
            _ => true,
        };
        let in_adder = if at == BiasPlace::PostRequantize { Range::point(after) } else { sum };
        // The runtimes' requantizers take 32 bits; some wrap beyond, where order is lost.
        let left = self.requantizer.multiplier().exponent().max(0) as u32;
        let register = Range::new(i32::MIN, i32::MAX).shift_right(left, guardbit_num::Rounding::TowardZero);
        if !fits(in_adder) || !register.contains(sum) {
            return None;
        }
        let code = |sum| self.requantizer.requantize(sum, self.zero) + after;
        Some(Range { min: code(sum.min), max: code(sum.max) })
    }
}
