//! Lists of layers in messages.

use crate::{MacLayer, Program};

/// Greatest number of layers that a message names; further ones are counted.
const NAMED: usize = 5;

/// Returns the first layers for which `say` returns a text, and the number of further ones.
pub(super) fn listed(program: &Program, say: impl Fn(&MacLayer) -> Option<String>) -> Option<String> {
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
