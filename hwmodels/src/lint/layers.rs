//! An array, memories and keys that do not suit the layers of a network.

use super::listed::listed;
use crate::timing::{LayerTiming, Outside};
use crate::{Accelerator, ArrayKind, Coverage, Dataflow, MacLayer, Problem, Program, TimingConvention};

/// Number of layers, those that move the most data, whose traffic is compared with that of other values of a
/// key.
const COMPARED: usize = 8;

/// Greatest number of doublings of a memory's size that are tried.
const MOST_DOUBLINGS: u32 = 10;

/// Warns of an accelerator that runs no layer of a network that has some. An empty `offload` has a warning of its
/// own.
pub(super) fn nothing_offloaded(program: &Program) -> Option<Problem> {
    let runs_none = program.timed_layers().next().is_none() && !program.accelerator.offload.is_empty();
    (runs_none && !Coverage::new(program).nodes.is_empty()).then(|| {
        Problem::of_network(
            "guardbit::hw::no_layer_accelerated",
            "offload",
            "the accelerator runs no layer of this network: the host runs all of them".into(),
            "`guardbit inspect MODEL --hw HW` prints why each layer runs on the host; a float network is first \
             quantized with `guardbit quantize`",
        )
    })
}

/// Warns of an array of which a layer can use at most half.
pub(super) fn large_array(program: &Program) -> Option<Problem> {
    let figures = |layer: &MacLayer| {
        let fit = &layer.timing.fit;
        let ([rows, cols], [all_rows, all_cols]) = (fit.used, fit.size);
        fit.is_low().then(|| format!("`{}` {rows}x{cols} of {all_rows}x{all_cols}", layer.short_name))
    };
    let layers = listed(program, figures)?;
    Some(Problem::of_network(
        "guardbit::hw::array_larger_than_layer",
        "array",
        format!("these layers can use at most half of the array: {layers}"),
        "use a smaller array or another `dataflow`, or leave out the operation from `offload`",
    ))
}

/// Warns of a memory that cannot hold the smallest tile.
pub(super) fn small_sram(program: &Program, operand: usize, what: &str, key: &str) -> Option<Problem> {
    let figures = |layer: &MacLayer| {
        let fit = &layer.timing.fit;
        let (needed, room) = (fit.least_bytes[operand], fit.room_bytes[operand]);
        (needed > room).then(|| format!("`{}` needs {needed} of {room} bytes", layer.short_name))
    };
    let layers = listed(program, figures)?;
    Some(Problem::of_network(
        "guardbit::hw::sram_too_small_for_tile",
        key,
        format!("the {what} of the smallest tile do not fit `{key}`: {layers}"),
        "use a larger memory, a smaller array or no `double_buffer` (which halves the space); biases and \
         requantization constants share the memory of the weights",
    ))
}

/// Alternative value of a key.
struct Better {
    key: &'static str,
    now: String,
    value: String,
    moved: Moving,
}

/// Data and cycles of the compared layers together.
#[derive(Clone, Copy)]
struct Moving {
    bits: u128,
    cycles: u64,
}

/// Warns of a key that makes layers move more than twice their data from and to external memory, if a better
/// value at least halves it.
pub(super) fn moves_again(program: &Program) -> Option<Problem> {
    if program.accelerator.timing.convention != TimingConvention::Overlapped {
        return None;
    }
    let times = |layer: &MacLayer| layer.timing.cost.moved.outside() as f64 / data(layer) as f64;
    let mut layers: Vec<&MacLayer> = program.mac_layers().filter(|layer| times(layer) > 2.0).collect();
    layers.sort_by_key(|layer| std::cmp::Reverse(layer.timing.cost.moved.outside()));
    let compared = &layers[..layers.len().min(COMPARED)];
    let now = moved(program, compared, |_| {});
    let better = better_memories(program, compared, now)
        .into_iter()
        .chain(better_lanes(program, compared))
        // An alternative that moves less data must not take longer.
        .filter(|better| better.moved.cycles <= now.cycles)
        .min_by_key(|better| better.moved.bits)
        .filter(|better| better.moved.bits.saturating_mul(2) <= now.bits)?;
    let Better { key, now: value_now, value, moved } = better;
    let figures = |layer: &MacLayer| {
        (times(layer) > 2.0).then(|| format!("`{}` {:.1} times", layer.short_name, times(layer)))
    };
    let named = listed(program, figures)?;
    let share = moved.bits as f64 / now.bits as f64 * 100.0;
    Some(Problem::of_network(
        "guardbit::hw::moves_data_again",
        key,
        format!(
            "layers move more than twice their data to and from external memory because `{key}` is \
             {value_now}: {named}"
        ),
        &format!("`{key}: {value}` reduces the traffic to {share:.0} %"),
    ))
}

/// Returns the bits that a layer has to move: everything it loads and stores, once.
fn data(layer: &MacLayer) -> u128 {
    let (window, widths) = (&layer.dots.window, layer.widths);
    let bits = |sizes: &[usize], width: u32| {
        sizes.iter().fold(u128::from(width), |all, &size| all.saturating_mul(size as u128))
    };
    let [rows, cols, channels] = window.input;
    let Outside { loads, stores } = layer.timing.outside;
    let input = if loads { bits(&[window.batch, rows, cols, channels], widths.activation) } else { 0 };
    let output = if stores { bits(&[window.dots()], widths.output) } else { 0 };
    // The second of two activations has a matrix per image.
    let images = if layer.dots.streams_weights() { window.batch } else { 1 };
    let weights = bits(&[images, window.terms(), window.channels()], widths.weight);
    [input, weights, output, layer.timing.cost.moved.loaded_constants]
        .into_iter()
        .fold(0, u128::saturating_add)
        .max(1)
}

/// Returns the external traffic of layers on edited accelerators, and their cycles.
fn moved(program: &Program, layers: &[&MacLayer], edit: impl Fn(&mut Accelerator)) -> Moving {
    let of = |layer: &&MacLayer| {
        let mut accelerator = program.accelerator_of(layer.node).clone();
        edit(&mut accelerator);
        let (window, widths) = (&layer.dots.window, layer.widths);
        let timing = LayerTiming::of(&accelerator, window, widths, layer.dots.streams_weights());
        let timing = match layer.timing.outside {
            Outside::ALL => timing,
            outside => timing.within(outside, &accelerator, window, widths),
        };
        Moving { bits: timing.cost.moved.outside(), cycles: timing.cycles }
    };
    let both = |a: Moving, b: Moving| Moving {
        bits: a.bits.saturating_add(b.bits),
        cycles: a.cycles.saturating_add(b.cycles),
    };
    layers.iter().map(of).fold(Moving { bits: 0, cycles: 0 }, both)
}

/// Returns, for each memory, the least larger size with nearly the traffic of a very large one.
fn better_memories(program: &Program, layers: &[&MacLayer], now: Moving) -> Vec<Better> {
    type Size = fn(&mut Accelerator) -> &mut f64;
    let memories: [(&'static str, Size); 3] = [
        ("memory.weight_kib", |accelerator| &mut accelerator.memory.weight_kib),
        ("memory.activation_kib", |accelerator| &mut accelerator.memory.activation_kib),
        ("memory.accumulator_kib", |accelerator| &mut accelerator.memory.accumulator_kib),
    ];
    let better = |(key, size): (&'static str, Size)| {
        let with = |doublings: u32| {
            let factor = f64::from(1u32 << doublings);
            moved(program, layers, |accelerator| *size(accelerator) *= factor)
        };
        let least = with(MOST_DOUBLINGS);
        if layers.is_empty() || least.bits.saturating_mul(2) > now.bits {
            return None;
        }
        let enough = least.bits.saturating_add(least.bits / 10);
        let mut all = (1..MOST_DOUBLINGS).map(|doublings| (doublings, with(doublings)));
        let (doublings, moved) =
            all.find(|(_, moved)| moved.bits <= enough).unwrap_or((MOST_DOUBLINGS, least));
        let now = *size(&mut program.accelerator.clone());
        let value = now * f64::from(1u32 << doublings);
        Some(Better { key, now: now.to_string(), value: value.to_string(), moved })
    };
    memories.into_iter().filter_map(better).collect()
}

/// Returns the kind of lanes with the least traffic.
fn better_lanes(program: &Program, layers: &[&MacLayer]) -> Option<Better> {
    let array = program.accelerator.array;
    if program.accelerator.dataflow != Dataflow::Vector || layers.is_empty() {
        return None;
    }
    let kinds = [ArrayKind::Outputs, ArrayKind::Channels, ArrayKind::Folded, ArrayKind::Block];
    let others = kinds.into_iter().filter(|kind| *kind != array.kind).map(|kind| Better {
        key: "array.kind",
        now: array.kind.to_string(),
        value: kind.to_string(),
        moved: moved(program, layers, |accelerator| accelerator.array.kind = kind),
    });
    others.min_by_key(|better| better.moved.bits)
}
