//! The multipliers: `x * w`, fitted to the product register, then shifted right.

use guardbit_hwmodels::{Datapath, Register};
use guardbit_num::Overflow;

use super::Value;
use super::draws::{Draws, Stage};
use super::operands::Operand;
use crate::dot::{DotEvent, DotOutcome};
use crate::event::EventStage;

/// Returns the products of `operands`, the first of which is product `first` of its dot product.
pub(super) fn multiply(
    datapath: &Datapath,
    draws: Draws,
    first: usize,
    operands: &[Operand],
    outcome: &mut DotOutcome,
) -> Vec<Value> {
    let product = datapath.product;
    let run_length = datapath.levels.first().map_or(1, |level| level.terms.run_length(operands.len()));
    let mut values = Vec::with_capacity(operands.len());
    for (k, operand) in (first..).zip(operands) {
        let exact = operand.activation * operand.weight;
        let mut narrow = exact;
        if let Register::Fixed { format, overflow } = product.register {
            let fit = overflow.fit(exact, format);
            narrow = fit.value;
            if let Some(direction) = fit.overflow {
                let (stage, run) = (EventStage::Product, k / run_length);
                let event = DotEvent { stage, run, k, held: 0, addend: exact, stored: fit.value, direction };
                outcome.product_events += 1;
                outcome.narrowings.push(event);
                if overflow == Overflow::Trap {
                    outcome.trap_at(stage, k);
                }
            }
        }
        let shift = |value| {
            product
                .round
                .shift_right(value, product.shift, |seed| draws.word(seed, product.shift, Stage::Product, k))
        };
        values.push(Value { narrow: shift(narrow), counterpart: shift(exact), last_k: k });
    }
    values
}
