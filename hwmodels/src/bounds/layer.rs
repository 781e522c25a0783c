//! Bounds from operand types and from actual weights.

use guardbit_graph::{CodeRange, Graph};

use super::closed_form::{OperandBits, a2q_bits, a2q_plus_bits, a2q_type_bits};
use super::{Range, level_sums};
use crate::{BiasPlace, MacLayer, ZeroPoint};

/// Bounds of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerBounds {
    /// Bounds per output channel.
    pub channels: Vec<ChannelBounds>,
    /// Whether the register is signed, per level; registers without a fixed width are.
    pub signed: Vec<bool>,
}

/// Bounds of one output channel. The closed forms apply to the complete dot product.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelBounds {
    /// Ranges of the sums of every level, innermost first, for any weights of the tensor's type.
    pub by_type: Vec<Range>,
    /// Ranges of the sums of every level, innermost first, for the actual weights; `None` if the weights are
    /// activations.
    pub by_weights: Option<Vec<Range>>,
    /// A2Q's width from the types; `None` if it does not apply.
    pub a2q_type: Option<u32>,
    /// A2Q's width from the weights; `None` if it does not apply.
    pub a2q: Option<u32>,
    /// A2Q+'s width; `None` if it does not apply.
    pub a2q_plus: Option<u32>,
}

/// Returns the range of the activation operands of the multiplier: all codes that the input can hold
/// ([`Graph::possible_codes`]), minus its zero point under `subtract`, including 0 and the operand of padding.
pub fn operand_range(graph: &Graph, layer: &MacLayer) -> Range {
    let padding = Range::point(layer.activation_offset().padding);
    read_range(graph, layer).hull(padding).hull(Range::ZERO)
}

/// Returns the [`operand_range`] of every product of a layer with weights, in the order of addition. A
/// product that reads padding for every output has a range of only padding and 0.
pub fn operand_ranges(graph: &Graph, layer: &MacLayer) -> Vec<Range> {
    Products::of(graph, layer).operands
}

/// Returns the range of the operands that result from the input's codes.
pub(super) fn read_range(graph: &Graph, layer: &MacLayer) -> Range {
    let offset = i128::from(layer.activation_offset().subtract);
    Range::of_codes(input_codes(graph, layer)).plus(Range::point(-offset))
}

/// Products of a layer's dot product, in the order of addition.
pub(super) struct Products {
    /// Range of the activation operands, including 0 and the operand of padding.
    read: Range,
    /// Indices into the layer's order.
    pub places: Vec<usize>,
    /// Ranges of the activation operands, including 0.
    pub operands: Vec<Range>,
    /// Indices of products that read padding for every output, ascending.
    pub padding: Vec<usize>,
}

impl Products {
    pub fn of(graph: &Graph, layer: &MacLayer) -> Self {
        let (read, window) = (operand_range(graph, layer), &layer.dots.window);
        let outside = Range::point(layer.activation_offset().padding).hull(Range::ZERO);
        let mut products = Self { read, places: Vec::new(), operands: Vec::new(), padding: Vec::new() };
        for (place, &cell) in layer.order.iter().enumerate() {
            let is_read = window.reads(window.kernel_position(cell));
            // Pools skip padding.
            if !is_read && layer.dots.weights.is_none() {
                continue;
            }
            products.places.push(place);
            products.operands.push(if is_read { read } else { outside });
            if !is_read {
                products.padding.push(place);
            }
        }
        products
    }

    /// Returns the ranges of the products for any weights of the tensor's type.
    pub fn of_any_weights(&self, graph: &Graph, layer: &MacLayer, channel: usize) -> Vec<Range> {
        let weight = weight_range(graph, layer, channel);
        self.operands.iter().map(|operand| operand.times(weight)).collect()
    }

    /// Returns the ranges of the products for the actual weights of a channel.
    pub fn of_channel(&self, layer: &MacLayer, channel: usize) -> Vec<Range> {
        let weights = layer.weights.channel(channel);
        let weights = self.places.iter().map(|&place| Range::point(weights[place]));
        self.operands.iter().zip(weights).map(|(operand, weight)| operand.times(weight)).collect()
    }
}

/// Returns the range of the multiplier's results for any activation and weight of their types, before its
/// shift.
pub fn product_range(graph: &Graph, layer: &MacLayer) -> Range {
    let operand = operand_range(graph, layer);
    let channels = 0..layer.dots.window.channels();
    channels.map(|c| operand.times(weight_range(graph, layer, c))).fold(Range::ZERO, Range::hull)
}

/// Returns the range of the multiplier's results for any activation and the layer's weights, after its shift. Weights
/// that are activations have the range of their type.
pub fn shifted_product_range(graph: &Graph, layer: &MacLayer) -> Range {
    let weights = match layer.dots.streams_weights() {
        true => Some(weight_operand_range(graph, layer)),
        false => layer.weights.range().map(|(least, greatest)| Range::new(least, greatest)),
    };
    let product = layer.datapath.product;
    let products = operand_range(graph, layer).times(weights.unwrap_or(Range::ZERO));
    products.shift_right(product.shift, product.round)
}

/// Returns the range of the weight operands of the multiplier: all weights of the tensor's type, over all
/// channels, including 0.
pub fn weight_operand_range(graph: &Graph, layer: &MacLayer) -> Range {
    let channels = 0..layer.dots.window.channels();
    channels.map(|c| weight_range(graph, layer, c)).fold(Range::ZERO, Range::hull)
}

impl LayerBounds {
    /// Returns the bounds of a layer of a program over `graph`.
    pub fn new(graph: &Graph, layer: &MacLayer) -> Self {
        let products = Products::of(graph, layer);
        let channel = |channel| ChannelBounds::new(graph, layer, channel, &products);
        Self { channels: (0..layer.dots.window.channels()).map(channel).collect(), signed: signs(layer) }
    }

    /// Returns the bits of one level from the weights, over all channels; `None` if the weights are
    /// activations.
    pub fn weight_bits(&self, level: usize) -> Option<u32> {
        let is_bounded = self.channels.iter().all(|channel| channel.by_weights.is_some());
        is_bounded.then(|| self.proved_bits(level))
    }

    /// Returns the bits of one level over all channels: from the weights, or from the types if the weights
    /// are activations.
    pub fn proved_bits(&self, level: usize) -> u32 {
        self.bits(level, ChannelBounds::proved)
    }

    /// Returns the bits of one level from the types, over all channels.
    pub fn type_bits(&self, level: usize) -> u32 {
        self.bits(level, |channel| &channel.by_type)
    }

    fn bits(&self, level: usize, ranges: impl Fn(&ChannelBounds) -> &[Range]) -> u32 {
        let bits = |channel| ranges(channel)[level].bits(self.signed[level]);
        self.channels.iter().map(bits).max().unwrap_or(1)
    }
}

impl ChannelBounds {
    /// Returns the narrowest proved ranges of the sums of every level: from the weights, or from the types if
    /// the weights are activations.
    pub fn proved(&self) -> &[Range] {
        self.by_weights.as_ref().unwrap_or(&self.by_type)
    }

    fn new(graph: &Graph, layer: &MacLayer, channel: usize, products: &Products) -> Self {
        let weights = layer.weights.get(channel);
        let weights = weights.as_deref();
        let any_weight = weight_range(graph, layer, channel);
        let any_products = products.of_any_weights(graph, layer, channel);

        let activations = OperandBits::of(products.read);
        let magnitude = |weights: &[i32]| weights.iter().map(|w| i128::from(w.unsigned_abs())).sum();
        let total = |weights: &[i32]| weights.iter().map(|&w| i128::from(w)).sum::<i128>();
        let applies = closed_forms_apply(layer);
        let l1: Option<i128> = weights.map(magnitude).filter(|_| applies);
        let is_balanced = weights.is_some_and(|weights| total(weights) == 0);
        let typed = applies && layer.dots.weights.is_some();
        Self {
            by_type: level_sums(
                &layer.datapath,
                &any_products,
                initial_of_any_weights(graph, layer, channel),
            ),
            by_weights: weights.map(|_| {
                level_sums(&layer.datapath, &products.of_channel(layer, channel), initial(layer, channel))
            }),
            a2q_type: typed.then(|| a2q_type_bits(layer.order.len(), activations, any_weight.bits(true))),
            a2q: l1.map(|l1| a2q_bits(l1, activations)),
            a2q_plus: l1.filter(|_| is_balanced).map(|l1| a2q_plus_bits(l1, activations)),
        }
    }
}

/// Returns the initial value of the last level, in its unit: a preloaded bias, or 0.
pub(super) fn initial(layer: &MacLayer, channel: usize) -> Range {
    match (layer.datapath.bias.at, &layer.bias) {
        (BiasPlace::Preload, Some(bias)) => in_last_unit(layer, Range::point(bias[channel])),
        _ => Range::ZERO,
    }
}

/// Returns whether the initial value of the last level depends on the weights: a preloaded bias into which
/// the constants of the zero points are folded.
pub(super) fn initial_depends_on_weights(layer: &MacLayer) -> bool {
    let datapath = &layer.datapath;
    let folds = datapath.operands.zero_point == ZeroPoint::Fold && layer.dots.input_zero_point != 0;
    folds && datapath.bias.at == BiasPlace::Preload && layer.dots.has_constant_weights()
}

/// Returns the range of [`initial`] for any weights of the tensor's type: `-zx * sum(w) + K * zx * zw` in
/// addition to the model's bias.
fn initial_of_any_weights(graph: &Graph, layer: &MacLayer, channel: usize) -> Range {
    let Some(weights) = layer.dots.weights.as_ref().filter(|_| initial_depends_on_weights(layer)) else {
        return initial(layer, channel);
    };
    let own = layer.dots.bias.as_ref().map_or(0, |bias| bias.values[channel]);
    let zero_point = Range::point(-layer.dots.input_zero_point);
    let term = weight_range(graph, layer, channel).plus(Range::point(-weights.zero_points[channel]));
    in_last_unit(layer, zero_point.times(term).repeated(layer.order.len()).plus(Range::point(own)))
}

fn in_last_unit(layer: &MacLayer, bias: Range) -> Range {
    let last = layer.datapath.levels.len() - 1;
    bias.shift_right(layer.datapath.unit_shift(last), layer.datapath.unit_rounding(last))
}

/// Returns the range of the activations' codes: those of their type that the operation before can produce.
pub(super) fn input_codes(graph: &Graph, layer: &MacLayer) -> CodeRange {
    let input = graph.node(layer.node).inputs[0].expect("a layer on the accelerator has activations");
    graph.possible_codes(input)
}

pub(super) fn signs(layer: &MacLayer) -> Vec<bool> {
    layer.datapath.levels.iter().map(|level| level.register.is_signed()).collect()
}

/// Returns the range of the weights' codes; `None` if there are none.
pub(super) fn weight_codes(graph: &Graph, layer: &MacLayer) -> Option<CodeRange> {
    layer.dots.weights.as_ref()?;
    let weights = graph.node(layer.node).inputs.get(1).copied()??;
    Some(graph.tensor(weights).ty.code_range())
}

/// Returns the value that is subtracted from the codes of a channel's weights before the multiplier.
pub(super) fn weight_offset(layer: &MacLayer, channel: usize) -> i32 {
    match (&layer.dots.weights, layer.datapath.operands.zero_point) {
        (Some(weights), ZeroPoint::Subtract) => weights.zero_points[channel],
        _ => 0,
    }
}

/// Returns the range of the weight operands for any weights of the tensor's type; the weights of pools are 1.
pub(super) fn weight_range(graph: &Graph, layer: &MacLayer, channel: usize) -> Range {
    let Some(codes) = weight_codes(graph, layer) else { return Range::point(1) };
    Range::of_codes(codes).plus(Range::point(-weight_offset(layer, channel)))
}

/// Returns whether the closed forms apply. They describe signed sums of products without an initial value or
/// dropped bits.
fn closed_forms_apply(layer: &MacLayer) -> bool {
    let datapath = &layer.datapath;
    let preloaded = datapath.bias.at == BiasPlace::Preload && layer.bias.is_some();
    let last = datapath.levels.len() - 1;
    !preloaded && datapath.unit_shift(last) == 0 && signs(layer)[last]
}
