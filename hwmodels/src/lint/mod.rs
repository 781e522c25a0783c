//! Warnings about an accelerator for a particular network.

mod layers;
mod listed;
mod values;

use crate::bounds::shifted_product_range;
use crate::load::PRODUCT_WIDER;
use crate::{Problem, Program};
use values::Bounds;

/// Returns warnings about an accelerator that runs no layer of the network, layers that leave most of the array
/// idle, layers one tile of which does not fit its SRAM, a key that makes layers load or store their data
/// repeatedly, and registers that hold the values of 8-bit networks but not those of this one. There is at most one
/// warning per code and memory.
pub fn check_program(program: &Program) -> Vec<Problem> {
    check_with(Vec::new(), program)
}

/// Returns the warnings `about` the accelerator alone that its network does not refute, and [`check_program`]'s.
pub fn check_with(mut about: Vec<Problem>, program: &Program) -> Vec<Problem> {
    let products_fit = || {
        program.mac_layers().all(|layer| {
            let range = shifted_product_range(&program.graph, layer);
            layer.datapath.levels.first().is_some_and(|level| level.register.keeps(range))
        })
    };
    about.retain(|problem| problem.code() != PRODUCT_WIDER || !products_fit());
    about.extend(of_network(program));
    about
}

fn of_network(program: &Program) -> Vec<Problem> {
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
