//! Target: `--set KEY=VALUE` arguments, one a line, applied to a preset.

use guardbit_hwmodels::{PRESETS, load};

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let sets: Vec<String> = text.lines().map(String::from).collect();
    let preset = PRESETS[text.len() % PRESETS.len()].name;
    if let Err(error) = load(preset, &sets) {
        message::check(error);
    }
}
