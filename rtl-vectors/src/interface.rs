//! Ports of a unit.

use crate::beats::{self, FLAG_BITS, RUN_LAST};
use crate::manifest::{Arithmetic, Field, Interface, Packing};
use crate::words::slot;

/// Clock cycles from a beat to the accumulators: one register after the multipliers, then the accumulators.
pub(crate) const ACC_LATENCY: u32 = 2;
/// Clock cycles from a beat to the output: one more for the output register.
pub(crate) const OUT_LATENCY: u32 = 3;

/// Returns the ports of a unit of `lanes` lanes.
pub(crate) fn interface(arithmetic: &Arithmetic, lanes: usize, packing: Packing) -> Interface {
    let field = |name: &str, lsb: u32, bits: u32| Field { name: name.into(), lsb, bits };
    let levels = arithmetic.levels.len() as u32;
    let mut ctrl = vec![field("valid", beats::VALID, 1), field("clear", beats::CLEAR, 1)];
    let mut flags = Vec::new();
    for (index, level) in (0u32..).zip(&arithmetic.levels) {
        ctrl.push(field(&format!("run_last_{}", level.name), RUN_LAST + index, 1));
        for (bit, name) in (0u32..).zip(["overflow", "high", "low", "sticky"]) {
            flags.push(field(&format!("{}_{name}", level.name), index * FLAG_BITS + bit, 1));
        }
    }
    ctrl.push(field("keep", RUN_LAST + levels, lanes as u32));
    Interface {
        lanes,
        packing,
        activation_slot: slot(arithmetic.activation.bits, packing),
        weight_slot: slot(arithmetic.weight.bits, packing),
        lane_order: "lane 0 in the least significant bits; words zero-padded to whole digits".into(),
        ctrl,
        flags,
        handshake:
            "a beat is accepted in every cycle with valid; without it every register holds; flags are \
                    compared in the cycles in which `updated` is 1"
                .into(),
        clear: "with the first beat of a dot product: every level starts its run anew with this beat; \
                sticky flags start anew with every run of their level"
            .into(),
        reset: "rst_n, active low, synchronous, at least 2 cycles, in which beats have no effect; from the \
                second one on every register, flag and valid is 0"
            .into(),
        acc_latency: ACC_LATENCY,
        out_latency: OUT_LATENCY,
    }
}
