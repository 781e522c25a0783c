//! Ports of a unit, as the manifest describes them.

use super::beats::{CLEAR, CUT, KEEP, LAST, VALID, VANISHED};
use super::manifest::FloatInterface;
use super::unit::Unit;
use crate::manifest::{Field, Packing};
use crate::words::slot;

/// Returns the ports of a unit.
pub(super) fn interface(unit: &Unit, packing: Packing) -> FloatInterface {
    let field = |name: &str, lsb: u32, bits: u32| Field { name: name.into(), lsb, bits };
    let lanes = unit.lanes();
    FloatInterface {
        lanes,
        packing,
        activation_slot: slot(unit.activation.bits(), packing),
        weight_slot: slot(unit.weight.bits(), packing),
        scale_slots: unit.scales.map(|scales| scales.formats.map(|format| slot(format.bits(), packing))),
        lane_order: "lane 0 in the least significant bits; words zero-padded to whole digits".into(),
        ctrl: vec![
            field("valid", VALID, 1),
            field("clear", CLEAR, 1),
            field("last", LAST, 1),
            field("keep", KEEP, lanes as u32),
        ],
        flags: vec![field("cut", CUT, 1), field("vanished", VANISHED, 1)],
        handshake: "a beat is accepted in every cycle with valid; without it every register holds; accumulator and flags \
                    are compared in the cycles in which `updated` is 1, the float32 sum one cycle later"
            .into(),
        clear: "with the first beat of a dot product: accumulator and float32 sum start at zero with this beat; the \
                register of the float32 sum shows it from the first promotion on"
            .into(),
        reset: "rst_n, active low, synchronous, at least 2 cycles, in which beats have no effect; from the second one on \
                accumulator, float32 sum, flags and valids are 0"
            .into(),
        acc_latency: 2,
        sum_latency: 3,
    }
}
