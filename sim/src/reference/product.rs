//! The multipliers: `x * w`, fitted to the product register, then shifted right.

use guardbit_hwmodels::{Datapath, Register};
use guardbit_num::Overflow;

use super::Value;
use super::operands::Operand;
use crate::dot::DotOutcome;
use crate::error::TrapStage;

pub(super) fn multiply(datapath: &Datapath, operands: &[Operand], outcome: &mut DotOutcome) -> Vec<Value> {
    let product = datapath.product;
    let mut values = Vec::with_capacity(operands.len());
    for (k, operand) in operands.iter().enumerate() {
        let exact = operand.activation * operand.weight;
        let mut narrow = exact;
        if let Register::Fixed { format, overflow } = product.register {
            let fit = overflow.fit(exact, format);
            narrow = fit.value;
            if fit.overflow.is_some() {
                outcome.product_events += 1;
                if overflow == Overflow::Trap {
                    outcome.trap_at(TrapStage::Product, k);
                }
            }
        }
        values.push(Value {
            narrow: product.round.shift_right(narrow, product.shift),
            counterpart: product.round.shift_right(exact, product.shift),
            last_k: k,
        });
    }
    values
}
