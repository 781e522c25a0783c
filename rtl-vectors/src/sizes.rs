//! Limits on the sizes in a manifest, which are checked before anything is allocated or shifted by them.

use guardbit_hwmodels::{MAX_TOTAL_SHIFT, Terms};
use guardbit_num::MAX_BITS;

use crate::manifest::{Arithmetic, Interface};
use crate::words::slot;

/// Greatest number of products of a dot product of a live unit.
pub(crate) const MAX_TERMS: usize = 1 << 20;
/// Greatest number of lanes: the control word has a bit for each.
pub(crate) const MAX_LANES: usize = 48;
/// Greatest number of products of a beat of a floating-point unit.
pub(crate) const MAX_FLOAT_LANES: usize = 64;
/// Greatest number of accumulation levels: a control word of 64 bits has a bit for each.
pub(crate) const MAX_LEVELS: usize = 12;
/// Greatest width in bits of a word of one value in a generated bundle.
pub(crate) const MAX_WORD: u32 = 62;
/// Greatest number of products that are sent in a bundle.
pub(crate) const MAX_PRODUCTS: usize = 1 << 21;
/// Greatest width of an operand in bits: a code of 32 bits minus a zero point. Sums of products stay far
/// below 127 bits.
const MAX_OPERAND: u32 = 34;

/// Checks the sizes of a unit.
///
/// # Errors
/// A description of the size that is too large or inconsistent.
pub(crate) fn check(arithmetic: &Arithmetic, interface: &Interface, terms: usize) -> Result<(), String> {
    let within = |what: &str, value: usize, max: usize| match (1..=max).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what}: {value}; expected 1 to {max}")),
    };
    within("products of a dot product", terms, MAX_TERMS)?;
    within("lanes", interface.lanes, MAX_LANES)?;
    within("accumulation levels", arithmetic.levels.len(), MAX_LEVELS)?;
    let requantize = &arithmetic.requantize;
    let widths = [
        ("activation", arithmetic.activation.bits),
        ("weight", arithmetic.weight.bits),
        ("product", arithmetic.product.port_bits),
        ("bias", arithmetic.bias.input_bits),
        ("bias adder", arithmetic.bias.register.port_bits),
        ("output", requantize.out_bits),
        ("multiplier", requantize.mult_bits),
    ];
    let levels = arithmetic.levels.iter().flat_map(|l| [l.acc_bits, l.register.port_bits]);
    for (what, bits) in widths.into_iter().chain(levels.map(|bits| ("level", bits))) {
        within(&format!("bits of the {what}"), bits as usize, MAX_BITS as usize)?;
    }
    for operand in [&arithmetic.activation, &arithmetic.weight] {
        within("bits of an operand", operand.bits as usize, MAX_OPERAND as usize)?;
    }
    if arithmetic.levels.iter().skip(1).any(|level| level.reduce.takes_run_at_once()) {
        return Err("a tree after another level".into());
    }
    let tree = arithmetic.levels.first().filter(|level| level.reduce.takes_run_at_once());
    let expected = tree.map_or(1, |level| level.terms.map_or(Terms::All, Terms::Count).run_length(terms));
    if interface.lanes != expected {
        return Err(format!(
            "lanes: {}; expected {expected}, the products per beat of this datapath",
            interface.lanes
        ));
    }
    within("mult_point", requantize.mult_point as usize, requantize.mult_bits as usize - 1)?;
    let shifts = arithmetic.levels.iter().map(|l| l.register.shift).chain([arithmetic.product.shift]);
    if shifts.fold(0u32, u32::saturating_add) > MAX_TOTAL_SHIFT {
        return Err(format!("the shifts drop more than {MAX_TOTAL_SHIFT} bits in total"));
    }
    let slots = [
        ("activation_slot", interface.activation_slot, arithmetic.activation.bits),
        ("weight_slot", interface.weight_slot, arithmetic.weight.bits),
    ];
    for (what, found, bits) in slots {
        let expected = slot(bits, interface.packing);
        if found != expected {
            return Err(format!("{what}: {found}; expected {expected} for lanes of {bits} bits"));
        }
    }
    Ok(())
}
