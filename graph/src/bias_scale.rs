//! Notes on biases whose scale differs from that of the products they are added to.

use crate::Op;
use crate::model::{Note, NoteKind};
use crate::ops::{Mac, Operands};

/// Greatest relative difference of the two scales that counts as rounding.
const ROUNDING: f64 = 1e-4;

/// Index of the bias among the inputs of an operation.
const BIAS: usize = 2;

/// Returns a note if the bias of a node has a scale of its own.
///
/// Runtimes add the integers of a bias to the sums of products and ignore its scale, so such a scale changes nothing.
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
        "the bias is added to the sums without scaling: its scale {:e}{of} is not input scale times weight \
         scale, {:e}",
        own.scale(first),
        product(first) as f32,
    );
    Some(Note { tensor: bias.name.clone(), text, kind: NoteKind::Changed })
}
