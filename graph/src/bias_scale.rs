//! Biases whose scale is not that of the products they are added to.

use crate::Op;
use crate::model::{Note, NoteKind};
use crate::ops::{Mac, Operands};

/// Greatest ratio of the two scales, less 1, that is taken for rounding.
const ROUNDING: f64 = 1e-4;

/// Where a bias stands among the inputs of an operation that has one.
const BIAS: usize = 2;

/// What is to be said of a node's bias: runtimes add its integers to the sums of products as they stand, whatever
/// scale it has, so a scale of its own changes nothing.
pub(crate) fn note(op: &Op, operands: &Operands<'_>) -> Option<Note> {
    if op.kind().mac != Some(Mac::Weighted) {
        return None;
    }
    let bias = operands.optional(BIAS)?;
    let own = bias.ty.quantization.as_ref()?;
    let (input, weights) = (operands.per_tensor(0).ok()?, operands.input(1).ty.quantization.as_ref()?);
    let product = |channel| f64::from(input.scale(0)) * f64::from(weights.scale(channel));
    let differs =
        |&channel: &usize| (f64::from(own.scale(channel)) / product(channel) - 1.0).abs() > ROUNDING;
    let several = own.axis().or(weights.axis()).is_some();
    let channels = if several { bias.ty.len() } else { 1 };
    let first = (0..channels).find(differs)?;
    let count = (first..channels).filter(differs).count();
    let of =
        if several { format!(" of channel {first} ({count} of {channels} differ)") } else { String::new() };
    let text = format!(
        "the bias is added to the sums as it stands: its scale {:e}{of} is not input times weight, {:e}",
        own.scale(first),
        product(first) as f32,
    );
    Some(Note { tensor: bias.name.clone(), text, kind: NoteKind::Changed })
}
