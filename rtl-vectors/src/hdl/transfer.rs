//! Transfers of AXI4-Stream: where the values of a beat and of a result lie in TDATA.

use super::unit::sum_width;
use crate::manifest::Manifest;

/// A value in whole bytes.
pub(super) struct Part {
    /// Port of the unit that holds it.
    pub port: &'static str,
    /// Lane of an operand.
    pub lane: Option<usize>,
    /// Lowest bit in the port.
    pub lsb: usize,
    pub bits: usize,
    /// Bits that the port has for it, at least `bits`.
    pub slot: usize,
    /// First byte in TDATA.
    pub first: usize,
    pub bytes: usize,
}

impl Part {
    /// Returns its highest bit in the port.
    pub fn msb(&self) -> usize {
        self.lsb + self.bits - 1
    }
}

/// Puts parts one after the other.
fn laid(parts: impl Iterator<Item = (&'static str, Option<usize>, usize, usize)>) -> Vec<Part> {
    let mut first = 0;
    let part = |(port, lane, bits, slot): (&'static str, Option<usize>, usize, usize)| {
        let bytes = bits.div_ceil(8);
        first += bytes;
        Part { port, lane, lsb: lane.unwrap_or(0) * slot, bits, slot, first: first - bytes, bytes }
    };
    parts.map(part).collect()
}

/// Returns the parts of a transfer that holds a beat, the lowest bytes first: activations, weights, bias, multiplier,
/// exponent.
pub(super) fn beat(manifest: &Manifest) -> Vec<Part> {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let sides = [
        ("in_a", arithmetic.activation.bits, interface.activation_slot),
        ("in_w", arithmetic.weight.bits, interface.weight_slot),
    ];
    let operands = sides.into_iter().flat_map(|(port, bits, slot)| {
        (0..interface.lanes).map(move |lane| (port, Some(lane), bits as usize, slot as usize))
    });
    let numbers = [
        ("in_bias", arithmetic.bias.input_bits),
        ("in_mult", arithmetic.requantize.mult_bits),
        ("in_exp", 8),
    ];
    laid(operands.chain(numbers.map(|(port, bits)| (port, None, bits as usize, bits as usize))))
}

/// Returns the parts of a transfer that holds a result: sum and code.
pub(super) fn result(manifest: &Manifest) -> Vec<Part> {
    let parts = [("sum", sum_width(manifest)), ("out_code", manifest.arithmetic.requantize.out_bits)];
    laid(parts.into_iter().map(|(port, bits)| (port, None, bits as usize, bits as usize)))
}

/// Returns the sizes of TDATA of both sides in bytes, and that of TUSER in bits.
pub(super) fn sizes(manifest: &Manifest) -> [usize; 3] {
    let bytes = |parts: Vec<Part>| parts.iter().map(|part| part.bytes).sum();
    [bytes(beat(manifest)), bytes(result(manifest)), 1 + manifest.arithmetic.levels.len()]
}
