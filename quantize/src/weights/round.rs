//! Rounds real weights to the nearest codes.

use guardbit_graph::CodeRange;

use crate::{Observed, Parameters, Target, method::Method};

/// Returns the parameters of weights laid out as `[output channel][cell]`: one set per channel, or one for
/// all. `method` chooses the range of each.
pub fn parameters(
    weights: &[f32],
    channels: usize,
    per_channel: bool,
    target: &Target,
    method: &dyn Method,
) -> Vec<Parameters> {
    let of = |values: &[f32]| {
        let mut observed = Observed::default();
        observed.add(values);
        target.parameters(method.range(&observed, target))
    };
    match per_channel {
        true => weights.chunks(weights.len().div_ceil(channels.max(1)).max(1)).map(of).collect(),
        false => vec![of(weights)],
    }
}

/// Returns each weight's nearest code, half to even; `parameters` is one set for all, or one per output
/// channel.
pub fn nearest(weights: &[f32], channels: usize, parameters: &[Parameters], codes: CodeRange) -> Vec<i32> {
    let cells = weights.len().div_ceil(channels.max(1)).max(1);
    let of = |index: usize| parameters[if parameters.len() == 1 { 0 } else { index / cells }];
    weights.iter().enumerate().map(|(index, &weight)| of(index).code(weight, codes)).collect()
}
