//! Codes as arguments of gemmlowp's curves.

use fixed::FixedI32;
use fixed::types::extra::U27;
use guardbit_num::{Multiplier, Requantizer, Scheme};

use super::Operands;
use crate::GraphError;

/// The conversion from input codes of 8 bits to Q4.27.
pub(super) struct Quarter {
    to_argument: Requantizer,
    zero_point: i32,
    /// Distance from the zero point, in codes, from which on the curve is constant.
    radius: f64,
}

impl Quarter {
    pub fn new(operands: &Operands<'_>) -> Result<Self, GraphError> {
        let input = operands.activation(0)?;
        let real = f64::from(input.scale(0)) * f64::from(1 << 27);
        let multiplier = Multiplier::new(real).map_err(|e| operands.multiplier_error(e))?;
        Ok(Self {
            to_argument: Requantizer::new(Scheme::Double, multiplier),
            zero_point: input.zero_point(0),
            radius: (f64::from(15 << 27) / 2f64.powi(multiplier.exponent())).floor(),
        })
    }

    /// Returns the argument of a code. The error is for a code beyond the radius, and is true if it is positive.
    pub fn argument(&self, code: i32) -> Result<FixedI32<U27>, bool> {
        let centred = code - self.zero_point;
        if f64::from(centred.abs()) >= self.radius {
            return Err(centred > 0);
        }
        Ok(FixedI32::from_bits(self.to_argument.scale(centred.into()) as i32))
    }
}
