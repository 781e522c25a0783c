//! What is doubtful about an accelerator for one network.

use crate::{MacLayer, Problem, Program};

/// Layers that a message names; the others are counted.
const NAMED: usize = 5;

/// Warnings about layers that leave most of the array idle, or one tile of which does not fit its SRAM: at most
/// one of each code and memory.
pub fn check_program(program: &Program) -> Vec<Problem> {
    let memories = [
        ("activations", "memory.activation_kib"),
        ("weights", "memory.weight_kib"),
        ("sums", "memory.accumulator_kib"),
    ];
    let small = memories.into_iter().enumerate();
    std::iter::once(large_array(program))
        .chain(small.map(|(operand, (what, key))| small_sram(program, operand, what, key)))
        .flatten()
        .collect()
}

/// An array of which a layer can use at most half.
fn large_array(program: &Program) -> Option<Problem> {
    let figures = |layer: &MacLayer| {
        let fit = &layer.timing.fit;
        let ([rows, cols], [all_rows, all_cols]) = (fit.used, fit.size);
        fit.is_low().then(|| format!("`{}` {rows}x{cols} of {all_rows}x{all_cols}", layer.short_name))
    };
    let layers = listed(program, figures)?;
    Some(Problem::of_network(
        "guardbit::hw::array_larger_than_layer",
        "array",
        format!("at most half of the array can work: {layers}"),
        "a smaller array or another `dataflow` avoids it, or leave the operation out of `offload`",
    ))
}

/// A memory that the smallest tile does not fit.
fn small_sram(program: &Program, operand: usize, what: &str, key: &str) -> Option<Problem> {
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
        "a larger memory, a smaller array or no `double_buffer` (which halves the room) avoids it",
    ))
}

/// The first of the layers that have something to say, and how many more there are.
fn listed(program: &Program, say: impl Fn(&MacLayer) -> Option<String>) -> Option<String> {
    let found: Vec<String> = program.mac_layers().filter_map(say).collect();
    if found.is_empty() {
        return None;
    }
    let mut text = found[..found.len().min(NAMED)].join(", ");
    if found.len() > NAMED {
        text += &format!(" and {} more", found.len() - NAMED);
    }
    Some(text)
}
