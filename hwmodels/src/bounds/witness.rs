//! Inputs that attain a bound.

use guardbit_graph::{CodeRange, Graph, OutputPosition, Tap};

use super::layer::{
    Products, initial, initial_depends_on_weights, input_codes, read_range, weight_codes, weight_offset,
};
use super::sums::{run_span, run_sums};
use super::{LayerBounds, Range, operand_range};
use crate::MacLayer;

/// End of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Greatest sum.
    High,
    /// Least sum.
    Low,
}

/// Input for which a sum of one output channel attains the proved bound at one level, at the end that
/// requires more bits. The bound is that from its weights, or from the types if the weights are activations.
///
/// One bit less than the bound cannot hold that sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Index of the level, innermost first.
    pub level: usize,
    /// The output channel.
    pub channel: usize,
    /// Index of the run of the level; 0 at the last level.
    pub run: usize,
    /// End of the range that is attained.
    pub side: Side,
    /// Sum in the level's unit, including a preloaded bias.
    pub sum: i128,
    /// Number of bits that hold the sum.
    pub bits: u32,
    /// Output that reads `input`.
    pub out: OutputPosition,
    /// Codes of the layer's input tensor. Elements outside the run hold the zero point, or the nearest code.
    pub input: Vec<i32>,
    /// Codes of the layer's second input tensor if the weights are activations, otherwise `None`.
    pub weights: Option<Vec<i32>>,
    /// Whether the sum equals the bound. It does not if the run of every output extends beyond the image's
    /// edge: padding keeps the operands from their extremes there, and the sum is the most extreme one at
    /// `out`. It does not either if no code represents 0, which bounds include.
    pub attained: bool,
}

impl Side {
    /// Returns the value of a range at this end.
    pub fn of(self, range: Range) -> i128 {
        match self {
            Self::High => range.max,
            Self::Low => range.min,
        }
    }

    /// Returns the end that requires more bits; the upper one if both require equally many.
    pub fn critical(range: Range, signed: bool) -> Self {
        let bits = |value: i128| Range::point(value).bits(signed);
        if bits(range.max) >= bits(range.min) { Self::High } else { Self::Low }
    }

    /// Returns the code whose product with `weight` is at this end.
    fn code(self, weight: i32, codes: CodeRange, neutral: i32) -> i32 {
        match (weight.signum(), self) {
            (0, _) => neutral,
            (1, Self::High) | (-1, Self::Low) => codes.max(),
            _ => codes.min(),
        }
    }
}

impl Witness {
    /// Returns the witness of one level in the channel that requires most bits there; the first of several.
    pub fn of_level(graph: &Graph, layer: &MacLayer, bounds: &LayerBounds, level: usize) -> Option<Self> {
        let need = |channel: &usize| bounds.channels[*channel].proved()[level].bits(bounds.signed[level]);
        let channel = (0..bounds.channels.len()).rev().max_by_key(need)?;
        Self::of_channel(graph, layer, bounds, level, channel)
    }

    /// Returns the witness of one level in one output channel. Returns `None` if the layer has no output, or
    /// if it is unknown which products a run contains or how they are rounded. This is the case for orders
    /// that depend on the data, unless the level only adds complete products, and after a stage that rounds
    /// randomly.
    pub fn of_channel(
        graph: &Graph,
        layer: &MacLayer,
        bounds: &LayerBounds,
        level: usize,
        channel: usize,
    ) -> Option<Self> {
        if !is_determined(layer, level) {
            return None;
        }
        let signed = bounds.signed[level];
        if layer.dots.streams_weights() {
            return Self::of_two_activations(graph, layer, bounds, level, channel);
        }
        let bound = bounds.channels[channel].by_weights.as_ref()?[level];
        let side = Side::critical(bound, signed);
        let products = Products::of(graph, layer);
        let runs =
            run_sums(&layer.datapath, &products.of_channel(layer, channel), initial(layer, channel), level);
        let run = runs.iter().position(|&sums| side.of(sums) == side.of(bound)).unwrap_or(0);
        let terms = products.places.len();
        let span = run_span(&layer.datapath, terms, level);
        let covered = (run * span).min(terms)..((run + 1).saturating_mul(span)).min(terms);
        let places = &products.places[covered];
        let (out, inside) = widest_position(layer, channel, places)?;
        let padding = places.iter().filter(|place| products.padding.binary_search(place).is_ok()).count();
        let all = inside + padding == places.len() && (padding == 0 || padding_is_zero(layer));
        let attained = all && read_range(graph, layer) == operand_range(graph, layer);
        let input = attaining_input(graph, layer, out, side, places);
        let sum = if attained { side.of(bound) } else { sum_at(layer, out, &input, level, side) };
        let bits = Range::point(sum).bits(signed);
        Some(Self { level, channel, run, side, sum, bits, out, input, weights: None, attained })
    }

    /// Returns the witness of a layer whose weights are activations: one code everywhere in each operand.
    fn of_two_activations(
        graph: &Graph,
        layer: &MacLayer,
        bounds: &LayerBounds,
        level: usize,
        channel: usize,
    ) -> Option<Self> {
        let (signed, bound) = (bounds.signed[level], bounds.channels[channel].by_type[level]);
        let side = Side::critical(bound, signed);
        let (activation, weight) = extreme_codes(graph, layer, channel, side)?;
        let product = product_of_codes(layer, channel, activation, weight);
        let products = vec![Range::point(product); layer.order.len()];
        let runs = run_sums(&layer.datapath, &products, initial(layer, channel), level);
        let furthest = |&(_, a): &(usize, &Range), &(_, b): &(usize, &Range)| {
            let order = side.of(*a).cmp(&side.of(*b));
            if side == Side::High { order.reverse() } else { order }
        };
        let (run, sum) = runs.iter().enumerate().min_by(furthest)?;
        let sum = side.of(*sum);
        let node = graph.node(layer.node);
        let filled = |index: usize, code: i32| Some(vec![code; graph.tensor(node.inputs[index]?).ty.len()]);
        Some(Self {
            level,
            channel,
            run,
            side,
            sum,
            bits: Range::point(sum).bits(signed),
            out: OutputPosition { c: channel, ..OutputPosition::default() },
            input: filled(0, activation)?,
            weights: Some(filled(1, weight)?),
            attained: sum == side.of(bound),
        })
    }
}

/// Returns the codes of an activation and a weight whose product is most extreme towards `side`; `None` if
/// there are no weights.
fn extreme_codes(graph: &Graph, layer: &MacLayer, channel: usize, side: Side) -> Option<(i32, i32)> {
    let (activations, weights) = (input_codes(graph, layer), weight_codes(graph, layer)?);
    let corners = [activations.min(), activations.max()]
        .into_iter()
        .flat_map(|activation| [weights.min(), weights.max()].map(|weight| (activation, weight)));
    let product = |&(activation, weight): &(i32, i32)| product_of_codes(layer, channel, activation, weight);
    match side {
        Side::High => corners.max_by_key(product),
        Side::Low => corners.min_by_key(product),
    }
}

fn product_of_codes(layer: &MacLayer, channel: usize, activation: i32, weight: i32) -> i128 {
    let activation = i128::from(activation) - i128::from(layer.activation_offset().subtract);
    activation * i128::from(i64::from(weight) - i64::from(weight_offset(layer, channel)))
}

/// Weights and activations that attain a channel's bound by type, with equal codes at every product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeWitness {
    /// End of the range.
    pub side: Side,
    /// Code of every weight.
    pub weight: i32,
    /// Code of every activation.
    pub activation: i32,
    /// Sum, including a preloaded bias.
    pub sum: i128,
    /// Number of bits that hold the sum.
    pub bits: u32,
}

impl TypeWitness {
    /// Returns the witness of one output channel, at the end that requires more bits. Returns `None` without
    /// weights, and if the bound is not attained: because the initial value of the last level depends on the
    /// weights, because no code represents 0, or for the reasons given at [`Witness::of_channel`].
    pub fn of_channel(graph: &Graph, layer: &MacLayer, bounds: &LayerBounds, channel: usize) -> Option<Self> {
        let last = layer.datapath.levels.len() - 1;
        let moves = !is_determined(layer, last);
        let products = Products::of(graph, layer);
        if moves
            || initial_depends_on_weights(layer)
            || !products.padding.is_empty() && !padding_is_zero(layer)
            || read_range(graph, layer) != operand_range(graph, layer)
        {
            return None;
        }
        let signed = bounds.signed[last];
        let bound = bounds.channels[channel].by_type[last];
        let side = Side::critical(bound, signed);
        let (activation, weight) = extreme_codes(graph, layer, channel, side)?;
        let sum = side.of(bound);
        Some(Self { side, weight, activation, sum, bits: Range::point(sum).bits(signed) })
    }
}

/// Returns whether padding adds 0.
fn padding_is_zero(layer: &MacLayer) -> bool {
    layer.activation_offset().padding == 0
}

/// Returns whether the sums of a level's runs follow from the products alone.
fn is_determined(layer: &MacLayer, level: usize) -> bool {
    let datapath = &layer.datapath;
    if datapath.order.walk.depends_on_data() {
        return level + 1 == datapath.levels.len() && datapath.unit_shift(level) == 0;
    }
    !datapath.rounds_at_random_before(level)
}

/// Returns the output of a channel whose window has the most cells within the image, among those read by the
/// products at `places` of the order, and their number.
fn widest_position(layer: &MacLayer, channel: usize, places: &[usize]) -> Option<(OutputPosition, usize)> {
    let window = &layer.dots.window;
    let inside = |out: OutputPosition| {
        let is_inside = |&&place: &&usize| {
            matches!(window.tap(out, window.kernel_position(layer.order[place])), Tap::Input(_))
        };
        places.iter().filter(is_inside).count()
    };
    let [rows, cols, _] = window.output;
    let positions = (0..rows).flat_map(|h| (0..cols).map(move |w| OutputPosition { n: 0, h, w, c: channel }));
    let mut best: Option<(OutputPosition, usize)> = None;
    for out in positions {
        let count = inside(out);
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((out, count));
        }
        if count == places.len() {
            break;
        }
    }
    best
}

fn attaining_input(
    graph: &Graph,
    layer: &MacLayer,
    out: OutputPosition,
    side: Side,
    places: &[usize],
) -> Vec<i32> {
    let window = &layer.dots.window;
    let codes = input_codes(graph, layer);
    let neutral = codes.clamp(layer.dots.input_zero_point.into());
    let mut input = vec![neutral; window.batch * window.input.iter().product::<usize>()];
    for &place in places {
        if let Tap::Input(at) = window.tap(out, window.kernel_position(layer.order[place])) {
            input[at] = side.code(layer.weights.at(out.c, place), codes, neutral);
        }
    }
    input
}

/// Returns the most extreme sum towards `side` of a level's runs at `out`, in the level's unit, with
/// unlimited widths.
fn sum_at(layer: &MacLayer, out: OutputPosition, input: &[i32], level: usize, side: Side) -> i128 {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let operand = |cell: usize| match window.tap(out, window.kernel_position(cell)) {
        Tap::Input(at) => Some(input[at] - offset.subtract),
        Tap::Padding => layer.dots.weights.as_ref().map(|_| offset.padding),
    };
    let product = |(&cell, &weight): (&usize, &i32)| {
        operand(cell).map(|x| Range::point(i128::from(x) * i128::from(weight)))
    };
    let weights = layer.weights.channel(out.c);
    let products: Vec<Range> = layer.order.iter().zip(&*weights).filter_map(product).collect();
    let runs = run_sums(&layer.datapath, &products, initial(layer, out.c), level);
    side.of(runs.into_iter().reduce(Range::hull).unwrap_or(Range::ZERO))
}
