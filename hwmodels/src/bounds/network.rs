//! Ranges propagated through the network, element by element.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use guardbit_graph::{
    DotProducts, Finish, Graph, Integers, Monotonicity, NodeId, OutputPosition, Tap, TensorId, Window,
};
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

/// End of a range of codes.
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

/// Returns the ranges of the sums of every accelerated layer, per node, output channel and level (innermost
/// first), for any codes at the network's inputs; `None` for nodes that the host runs.
///
/// They hold as long as no earlier layer overflows, so widths chosen from them hold for the network as a
/// whole. Monotonic operations are evaluated at both ends; other operations are assumed to give any code.
pub fn network_sums(program: &Program) -> Vec<Option<Vec<Vec<Range>>>> {
    let graph = &program.graph;
    let mut codes: Vec<Option<Codes>> = vec![None; graph.tensors().len()];
    // A state may hold any code of its type: it has an initial value, and then the values carried to it.
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
            Step::Host(_) | Step::Float(_) => None,
            Step::Mac(layer) => Some(layer.as_ref()),
        };
        let of_layer =
            |layer| Some(layer_sums(layer, input(graph, id, 0, &codes)?, input(graph, id, 1, &codes)));
        sums.push(layer.and_then(of_layer));
        codes[node.output.index()] = Some(output(graph, id, layer, &codes));
    }
    sums
}

/// Returns the codes of one of a node's inputs.
fn input<'a>(graph: &Graph, id: NodeId, index: usize, codes: &'a [Option<Codes>]) -> Option<&'a Codes> {
    codes[graph.node(id).inputs.get(index).copied()??.index()].as_ref()
}

fn any_code(graph: &Graph, id: TensorId) -> Codes {
    let ty = &graph.tensor(id).ty;
    let (low, high) = ty.code_range().ends();
    Codes { low: vec![low; ty.len()], high: vec![high; ty.len()] }
}

/// Returns the ranges per channel and level, over all outputs. `second` holds the codes of the weights if
/// they are activations.
fn layer_sums(layer: &MacLayer, input: &Codes, second: Option<&Codes>) -> Vec<Vec<Range>> {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let mut channels = vec![vec![Range::ZERO; layer.datapath.levels.len()]; window.channels()];
    let mut products = Vec::with_capacity(layer.order.len());
    let mut operands = Vec::with_capacity(layer.order.len());
    let places = Places { window, input, of_image: layer.weights.is_empty() };
    for group in 0..window.groups {
        let firsts = places.firsts(group);
        for place in (0..firsts.len()).filter(|&place| firsts[place] == place) {
            operands.clear();
            for (k, &cell) in layer.order.iter().enumerate() {
                let cell = window.kernel_position(cell);
                let operand = match window.tap(places.output(place, group), cell) {
                    Tap::Input(at) => {
                        Range::new(input.low[at] - offset.subtract, input.high[at] - offset.subtract)
                    }
                    // A pool does not read outside the image.
                    Tap::Padding if layer.dots.weights.is_none() => continue,
                    Tap::Padding => Range::point(offset.padding),
                };
                operands.push((k, cell, operand.hull(Range::ZERO)));
            }
            for c in places.channels(group) {
                products.clear();
                products.extend(operands.iter().map(|&(k, cell, operand)| {
                    match (&layer.dots.weights, second) {
                        (Some(weights), Some(second)) if places.of_image => {
                            let at = weights.index(places.output(place, group).n, c, cell);
                            let seen = |code| layer.weight_operand(c, code);
                            operand.times(Range::new(seen(second.low[at]), seen(second.high[at])))
                        }
                        _ if places.of_image => scaled(operand, 0),
                        _ => scaled(operand, layer.weights.at(c, k)),
                    }
                }));
                let sums = level_sums(&layer.datapath, &products, initial(layer, c));
                channels[c].iter_mut().zip(sums).for_each(|(all, sum)| *all = all.hull(sum));
            }
        }
    }
    channels
}

/// Places of a window over an input: its images, rows and columns, numbered in this order.
struct Places<'a> {
    window: &'a Window,
    input: &'a Codes,
    /// Whether every image has weights of its own.
    of_image: bool,
}

impl Places<'_> {
    /// Returns, for every place, the first place that reads equal ranges with equal weights and so has equal
    /// sums. Most layers have few such first places, because the tokens of a transformer, or the pixels
    /// within an image, do not differ.
    fn firsts(&self, group: usize) -> Vec<usize> {
        let [rows, cols, _] = self.window.output;
        let mut known: HashMap<u64, usize> = HashMap::new();
        let find = |place: usize| {
            let mut hasher = DefaultHasher::new();
            self.reads(place, group).for_each(|ends| ends.hash(&mut hasher));
            if self.of_image {
                self.output(place, group).n.hash(&mut hasher);
            }
            let first = *known.entry(hasher.finish()).or_insert(place);
            let same_weights = !self.of_image || self.output(place, group).n == self.output(first, group).n;
            // Different reads may have equal hashes.
            let same = same_weights && self.reads(place, group).eq(self.reads(first, group));
            if same { first } else { place }
        };
        (0..self.window.batch * rows * cols).map(find).collect()
    }

    /// Returns the ranges that the cells of the window read; `None` is padding.
    fn reads(&self, place: usize, group: usize) -> impl Iterator<Item = Option<[i32; 2]>> {
        let out = self.output(place, group);
        (0..self.window.terms()).map(move |cell| {
            match self.window.tap(out, self.window.kernel_position(cell)) {
                Tap::Input(at) => Some([self.input.low[at], self.input.high[at]]),
                Tap::Padding => None,
            }
        })
    }

    /// Returns the first channel of a group at a place.
    fn output(&self, place: usize, group: usize) -> OutputPosition {
        let [_, _, channels] = self.window.output;
        let out = self.window.output_position(place * channels);
        OutputPosition { c: self.channels(group).start, ..out }
    }

    fn channels(&self, group: usize) -> std::ops::Range<usize> {
        let each = self.window.channels() / self.window.groups;
        group * each..(group + 1) * each
    }
}

fn scaled(operand: Range, weight: i32) -> Range {
    let weight = i128::from(weight);
    let (a, b) = (operand.min * weight, operand.max * weight);
    Range { min: a.min(b), max: a.max(b) }
}

/// Returns the possible codes of a node's output.
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

/// Returns the output when input `i` is at its end `ends[i]`; the last end applies to all further inputs.
fn evaluate(graph: &Graph, id: NodeId, codes: &[Option<Codes>], ends: &[End]) -> Vec<i32> {
    let read = |(index, input): (usize, &Option<TensorId>)| -> Cow<'_, [i32]> {
        let Some(input) = input else { return Cow::default() };
        match (&graph.tensor(*input).constant, &codes[input.index()]) {
            (Some(constant), _) => constant.codes().map_or(Cow::default(), Integers::to_words),
            (None, Some(codes)) => codes.end(ends[index.min(ends.len() - 1)]).into(),
            (None, None) => Cow::default(),
        }
    };
    let inputs: Vec<Cow<'_, [i32]>> = graph.node(id).inputs.iter().enumerate().map(read).collect();
    graph.evaluate(id, &inputs.iter().map(|codes| &codes[..]).collect::<Vec<_>>())
}

/// Returns whether the layer's codes can differ from the model's only by overflow of its levels or its bias
/// adder.
fn is_exact(layer: &MacLayer) -> bool {
    let datapath = &layer.datapath;
    datapath.unit_shift(datapath.levels.len()) == 0 && datapath.product.register == Register::Auto
}

/// Returns the range of codes that the output stage allows.
fn clamp_only(graph: &Graph, layer: &MacLayer) -> Option<Codes> {
    let Finish::Requantize(stage) = &layer.dots.finish else { return None };
    let len = graph.tensor(graph.node(layer.node).output).ty.len();
    Some(Codes { low: vec![stage.clamp.0; len], high: vec![stage.clamp.1; len] })
}

/// Returns the codes of weighted sums; `None` if the requantizers do not exist.
fn dot_codes(
    dots: &DotProducts,
    layer: Option<&MacLayer>,
    input: &Codes,
    second: Option<&Codes>,
) -> Option<Codes> {
    let Finish::Requantize(stage) = &dots.finish else { return None };
    let weights = dots.weights.as_ref()?;
    // Widened once, because every output element reads them.
    let constant = weights.constant().map(Integers::to_words).unwrap_or_default();
    let ends = match weights.constant() {
        Some(_) => [&constant[..]; 2],
        None => second.map(|second| [&second.low[..], &second.high[..]])?,
    };
    let requantizers = match layer {
        Some(layer) => layer.exact_requantizers.clone(),
        None => stage.requantizers(None).ok()?,
    };
    let window = &dots.window;
    let cells: Vec<_> = (0..window.terms()).map(|k| window.kernel_position(k)).collect();
    let zero = i64::from(dots.input_zero_point);
    let mut codes = Codes { low: vec![0; window.dots()], high: vec![0; window.dots()] };
    let places = Places { window, input, of_image: weights.constant().is_none() };
    for group in 0..window.groups {
        for (place, first) in places.firsts(group).into_iter().enumerate() {
            let channels = places.channels(group);
            let at = |place: usize| place * window.channels() + channels.start;
            if first < place {
                let known = at(first)..at(first) + channels.len();
                codes.low.copy_within(known.clone(), at(place));
                codes.high.copy_within(known, at(place));
                continue;
            }
            let out = places.output(place, group);
            for c in channels.clone() {
                let (mut low, mut high) = (0i64, 0i64);
                for &cell in &cells {
                    let Tap::Input(at) = window.tap(out, cell) else { continue };
                    let [x, y] = [input.low[at], input.high[at]].map(|code| i64::from(code) - zero);
                    let index = weights.index(out.n, c, cell);
                    let [v, w] = ends.map(|codes| i64::from(codes[index] - weights.zero_points[c]));
                    let (a, b) = (x * v, y * v);
                    let (c, d) = if v == w { (a, b) } else { (x * w, y * w) };
                    low += a.min(b).min(c).min(d);
                    high += a.max(b).max(c).max(d);
                }
                let bias = dots.bias.as_ref().map_or(0, |bias| i128::from(bias.values[c]));
                let zero = stage.output_zero_point.into();
                let finish = Finisher { requantizer: requantizers[c], bias, layer, zero };
                let ends = finish.codes(Range::new(low, high));
                let clamp = |code: i128| code.clamp(stage.clamp.0.into(), stage.clamp.1.into()) as i32;
                let index = at(place) + c - channels.start;
                codes.low[index] = ends.map_or(stage.clamp.0, |ends| clamp(ends.min));
                codes.high[index] = ends.map_or(stage.clamp.1, |ends| clamp(ends.max));
            }
        }
    }
    Some(codes)
}

/// Conversion of the sums of one output to its codes.
struct Finisher<'a> {
    requantizer: Requantizer,
    bias: i128,
    layer: Option<&'a MacLayer>,
    zero: i128,
}

impl Finisher<'_> {
    /// Returns the codes before the clamp; `None` if a register on the way may overflow.
    fn codes(&self, sum: Range) -> Option<Range> {
        let at = self.layer.map_or(BiasPlace::Post, |layer| layer.datapath.bias.at);
        // In that place the constants of the zero points are rounded separately.
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
        // The runtimes' requantizers take 32 bits, and some wrap beyond, which is not monotonic.
        let left = self.requantizer.multiplier().exponent().max(0) as u32;
        let register = Range::new(i32::MIN, i32::MAX).shift_right(left, guardbit_num::Rounding::TowardZero);
        if !fits(in_adder) || !register.contains(sum) {
            return None;
        }
        let code = |sum| self.requantizer.requantize(sum, self.zero) + after;
        Some(Range { min: code(sum.min), max: code(sum.max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a window of 3x3 over an image with padding.
    fn window(batch: usize, input: [usize; 3], groups: usize) -> Window {
        Window {
            batch,
            input,
            output: [input[0], input[1], 2 * groups],
            kernel: [3, 3, input[2] / groups],
            stride: [1, 1],
            dilation: [1, 1],
            pad: [1, 1],
            groups,
        }
    }

    /// Returns the places whose reads differ from those of all places before them.
    fn own(window: &Window, input: &Codes, group: usize, of_image: bool) -> Vec<usize> {
        let places = Places { window, input, of_image };
        let firsts = places.firsts(group);
        for (place, &first) in firsts.iter().enumerate() {
            let reads = |place| places.reads(place, group).collect::<Vec<_>>();
            let same = |&other: &usize| {
                let image = |place| places.output(place, group).n;
                reads(other) == reads(place) && (!of_image || image(other) == image(place))
            };
            assert_eq!((0..=place).find(same), Some(first), "{place}");
        }
        (0..firsts.len()).filter(|&place| firsts[place] == place).collect()
    }

    /// All places within an image of arbitrary codes are alike; each edge and each corner has its own
    /// padding.
    #[test]
    fn few_places_read_ranges_of_their_own() {
        let any = |window: &Window| {
            let len = window.batch * window.input.iter().product::<usize>();
            Codes { low: vec![-128; len], high: vec![127; len] }
        };
        let of = window(2, [5, 6, 2], 1);
        let corners_edges_inside = [0, 1, 5, 6, 7, 11, 24, 25, 29];
        assert_eq!(own(&of, &any(&of), 0, false), corners_edges_inside);
        assert_eq!(own(&of, &any(&of), 0, true).len(), 18);
        let grouped = window(1, [5, 6, 4], 2);
        let mut codes = any(&grouped);
        // A pixel in the middle of the second group's channels.
        codes.high[(2 * 6 + 3) * 4 + 2] = 7;
        assert_eq!(own(&grouped, &codes, 0, false), corners_edges_inside);
        assert_eq!(own(&grouped, &codes, 1, false).len(), 9 + 9);
    }
}
