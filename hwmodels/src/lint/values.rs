//! Registers of an accelerator that hold what 8-bit networks make of them, but not what this network does.

use std::cell::OnceCell;

use super::listed::listed;
use crate::bounds::{LayerBounds, Range, bias_adder_range, product_range};
use crate::{BiasPlace, MacLayer, Problem, Program};

/// Bits of the codes for which accumulators are usually designed.
const USUAL_BITS: u32 = 8;

/// Bounds of the layers of a program, computed when a warning first needs them.
pub(super) struct Bounds<'p> {
    program: &'p Program,
    /// Cells per node.
    layers: Vec<OnceCell<LayerBounds>>,
}

impl<'p> Bounds<'p> {
    pub fn new(program: &'p Program) -> Self {
        Self { program, layers: vec![OnceCell::new(); program.graph.nodes().len()] }
    }

    fn of(&self, layer: &MacLayer) -> &LayerBounds {
        self.layers[layer.node.index()].get_or_init(|| LayerBounds::new(&self.program.graph, layer))
    }
}

/// Warns of a level that would hold every sum of a layer with 8-bit codes, but may overflow with the layer's
/// wider codes.
pub(super) fn narrow_for_codes(bounds: &Bounds<'_>) -> Option<Problem> {
    let program = bounds.program;
    let key = OnceCell::new();
    let figures = |layer: &MacLayer| {
        let wider =
            [layer.widths.activation, layer.widths.weight].map(|bits| bits.saturating_sub(USUAL_BITS));
        let more: u32 = wider.iter().sum();
        if more == 0 {
            return None;
        }
        let bounds = bounds.of(layer);
        let of_level = |(index, level): (usize, &crate::Level)| {
            let (bits, needed) = (level.register.bits()?, bounds.proved_bits(index));
            (bits < needed && needed.saturating_sub(more) <= bits).then_some((index, bits, needed))
        };
        let (index, bits, needed) = layer.datapath.levels.iter().enumerate().find_map(of_level)?;
        let name = &layer.datapath.levels[index].name;
        key.get_or_init(|| format!("accumulation.{name}.bits"));
        Some(format!("`{}` needs {needed} bits in `{name}`, which has {bits}", layer.short_name))
    };
    let layers = listed(program, figures)?;
    Some(Problem::of_network(
        "guardbit::hw::too_narrow_for_codes",
        key.get().map_or("", String::as_str),
        format!(
            "sums may overflow because the codes have more than {USUAL_BITS} bits; sums of 8-bit codes would \
             fit: {layers}"
        ),
        "use a wider level; `guardbit size` computes the width of every layer",
    ))
}

/// Warns of a bias adder that does not hold every sum with its bias.
pub(super) fn narrow_bias_adder(bounds: &Bounds<'_>) -> Option<Problem> {
    let program = bounds.program;
    let figures = |layer: &MacLayer| {
        let bias = layer.datapath.bias;
        let holds = bias.register.limits().filter(|_| bias.at != BiasPlace::Preload)?;
        let channels = layer.dots.window.channels();
        let adds = |sums: Vec<Range>| bias_adder_range(&program.graph, layer, sums.into_iter());
        // Uses products of the full range of their types, which shifts do not enlarge, so that real weights
        // are not needed.
        let of_types = product_range(&program.graph, layer).repeated(layer.order.len());
        if holds.contains(adds(vec![of_types; channels])?) {
            return None;
        }
        let last = layer.datapath.levels.last()?.register.limits();
        // After an overflow, the level may hold any of its values.
        let delivered = bounds.of(layer).channels.iter().filter_map(|channel| {
            let sum = *channel.proved().last()?;
            Some(last.filter(|held| !held.contains(sum)).unwrap_or(sum))
        });
        let range = adds(delivered.collect())?;
        let (bits, signed) = (bias.register.bits()?, bias.register.is_signed());
        (!holds.contains(range))
            .then(|| format!("`{}` needs {} bits of {bits}", layer.short_name, range.bits(signed)))
    };
    let layers = listed(program, figures)?;
    Some(Problem::of_network(
        "guardbit::hw::bias_adder_too_narrow",
        "bias.bits",
        format!("sums plus biases may overflow the bias adder: {layers}"),
        "write `bias.bits: auto` to hold every sum; `from_model` is the width of the model's bias, which may \
         be narrower",
    ))
}
