//! Warnings about an accelerator for a particular network.

mod layers;
mod listed;
mod values;

use crate::{Problem, Program};
use values::Bounds;

/// Returns warnings about an accelerator that runs no layer of the network, layers that leave most of the array
/// idle, layers one tile of which does not fit its SRAM, a key that makes layers load or store their data
/// repeatedly, and registers that hold the values of 8-bit networks but not those of this one. There is at most one
/// warning per code and memory.
pub fn check_program(program: &Program) -> Vec<Problem> {
    let memories = [
        ("activations", "memory.activation_kib"),
        ("weights", "memory.weight_kib"),
        ("sums", "memory.accumulator_kib"),
    ];
    let bounds = Bounds::new(program);
    let small = memories.into_iter().enumerate();
    [layers::nothing_offloaded(program), layers::large_array(program)]
        .into_iter()
        .chain(small.map(|(operand, (what, key))| layers::small_sram(program, operand, what, key)))
        .chain([
            layers::moves_again(program),
            values::narrow_for_codes(&bounds),
            values::narrow_bias_adder(&bounds),
        ])
        .flatten()
        .collect()
}
