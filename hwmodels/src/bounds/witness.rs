//! Inputs that attain a bound.

use guardbit_graph::{Graph, OutputPosition, Tap};

use super::layer::{input_dtype, preload, signs};
use super::{LayerBounds, Range};
use crate::MacLayer;

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The greatest sum.
    High,
    /// The least sum.
    Low,
}

/// An input on which a layer's sum attains the bound by its weights at the last level, at the end that needs more
/// bits.
///
/// One bit less than the bound cannot hold that sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The output channel that needs most.
    pub channel: usize,
    /// Which end.
    pub side: Side,
    /// The sum, a preloaded bias included.
    pub sum: i128,
    /// Bits that hold it.
    pub bits: u32,
    /// The output that reads `input`.
    pub out: OutputPosition,
    /// Codes of the layer's input tensor: the zero point where `out` does not look.
    pub input: Vec<i32>,
    /// Whether the sum is the bound. It is not where the window of every output hangs over the image's edge:
    /// there padding keeps the operands from their extremes, and the sum is the greatest at `out`.
    pub attained: bool,
}

impl Side {
    /// The value of a range at this end.
    pub fn of(self, range: Range) -> i128 {
        match self {
            Self::High => range.max,
            Self::Low => range.min,
        }
    }

    /// The end that needs more bits; the upper one if both need the same.
    pub fn critical(range: Range, signed: bool) -> Self {
        let bits = |value: i128| Range::point(value).bits(signed);
        if bits(range.max) >= bits(range.min) { Self::High } else { Self::Low }
    }

    /// The code, of those from `low` to `high`, whose product with `weight` is at this end.
    fn code(self, weight: i32, (low, high): (i32, i32), neutral: i32) -> i32 {
        match (weight.signum(), self) {
            (0, _) => neutral,
            (1, Self::High) | (-1, Self::Low) => high,
            _ => low,
        }
    }
}

impl Witness {
    /// The witness of the channel that needs most bits.
    pub fn new(graph: &Graph, layer: &MacLayer, bounds: &LayerBounds) -> Option<Self> {
        let last = layer.datapath.levels.len() - 1;
        let signed = signs(layer)[last];
        let need = |(_, channel): &(usize, &super::ChannelBounds)| channel.by_weights[last].bits(signed);
        // The first of those that need most.
        let (channel, found) = bounds.channels.iter().enumerate().rev().max_by_key(need)?;
        let bound = found.by_weights[last];
        let side = Side::critical(bound, signed);
        let (out, attained) = widest_position(layer, channel)?;
        let input = attaining_input(graph, layer, out, side);
        let sum = if attained { side.of(bound) } else { sum_at(layer, out, &input) };
        Some(Self { channel, side, sum, bits: Range::point(sum).bits(signed), out, input, attained })
    }
}

/// The output of a channel whose window has most cells inside the image, and whether that is all of them.
fn widest_position(layer: &MacLayer, channel: usize) -> Option<(OutputPosition, bool)> {
    let window = &layer.dots.window;
    let terms = window.terms();
    let inside = |out: OutputPosition| {
        let is_inside = |&k: &usize| matches!(window.tap(out, window.kernel_position(k)), Tap::Input(_));
        (0..terms).filter(is_inside).count()
    };
    let [rows, cols, _] = window.output;
    let positions = (0..rows).flat_map(|h| (0..cols).map(move |w| OutputPosition { n: 0, h, w, c: channel }));
    let mut best: Option<(OutputPosition, usize)> = None;
    for out in positions {
        let count = inside(out);
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((out, count));
        }
        if count == terms {
            break;
        }
    }
    best.map(|(out, count)| (out, count == terms))
}

fn attaining_input(graph: &Graph, layer: &MacLayer, out: OutputPosition, side: Side) -> Vec<i32> {
    let window = &layer.dots.window;
    let neutral = layer.dots.input_zero_point;
    let dtype = input_dtype(graph, layer);
    let mut input = vec![neutral; window.batch * window.input.iter().product::<usize>()];
    for (&cell, &weight) in layer.order.iter().zip(&layer.weights[out.c]) {
        if let Tap::Input(at) = window.tap(out, window.kernel_position(cell)) {
            input[at] = side.code(weight, (dtype.min(), dtype.max()), neutral);
        }
    }
    input
}

/// The sum of the last level at `out`, in its unit, with unlimited widths.
fn sum_at(layer: &MacLayer, out: OutputPosition, input: &[i32]) -> i128 {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let operand = |cell: usize| match window.tap(out, window.kernel_position(cell)) {
        Tap::Input(at) => Some(input[at] - offset.subtract),
        Tap::Padding => layer.dots.weights.as_ref().map(|_| offset.padding),
    };
    let product = |(&cell, &weight): (&usize, &i32)| {
        operand(cell).map(|x| Range::point(i128::from(x) * i128::from(weight)))
    };
    let products: Vec<Range> = layer.order.iter().zip(&layer.weights[out.c]).filter_map(product).collect();
    let sums = super::level_sums(&layer.datapath, &products, preload(layer, out.c));
    // Ranges are joined with 0: the sum is the other end.
    sums.last().map_or(0, |sum| if sum.min < 0 { sum.min } else { sum.max })
}
