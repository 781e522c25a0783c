//! Two output channels in one DSP48E2: `(a * 2^18 + d) * b` is added in 48 bits.
//!
//! The low 18 bits are the low lane, and the 30 bits above are the high lane. With L as the sum of the low
//! lane's products and H as that of the high lane's, the adder holds `H * 2^18 + L`. Its low lane is L
//! wrapped to 18 bits, and its high lane is `H + floor(L / 2^18)`, which is one less than H while L is
//! negative, and differs by more once L has left its lane. So the low lane is an accumulator with 18 wrapping
//! bits, and the high lane one with 30 bits whose addends include carries from the low lane.

use guardbit_hwmodels::{Fixup, Level, MacLayer, PACKED_HIGH_BITS, PACKED_LOW_BITS, Packing, Register};
use guardbit_num::{Format, Overflow};

/// High lane of a shared adder.
pub(crate) struct HighLane<'a> {
    /// Weights of the low lane, in the order of addition.
    low: &'a [i32],
    /// Innermost level as seen by the high lane.
    pub level: Level,
    format: Format,
    fixup: Fixup,
}

/// Effect of a low lane on the high lane above it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Crosstalk {
    /// Value per product that reaches the high lane together with its own product.
    pub carries: Vec<i64>,
    /// Value per run that the fix-up adds when the lanes leave the adder.
    pub fixups: Vec<i64>,
}

impl<'a> HighLane<'a> {
    /// Returns the lane above one with the weights `low`, in the order of addition.
    pub fn above(layer: &MacLayer, low: &'a [i32]) -> Option<Self> {
        let Packing::Dsp48e2Int8x2(fixup) = layer.packing else { return None };
        let format = Format::signed(PACKED_HIGH_BITS).ok()?;
        let register = Register::Fixed { format, overflow: Overflow::Wrap };
        let level = Level { register, ..layer.datapath.levels.first()?.clone() };
        Some(Self { low, level, format, fixup })
    }

    /// Returns the effect of the low lane for these activations, in the order of addition.
    pub fn crosstalk(&self, activations: impl ExactSizeIterator<Item = i64>) -> Crosstalk {
        let run = self.level.terms.run_length(activations.len());
        let mut crosstalk = Crosstalk::default();
        let (mut sum, mut above) = (0i64, 0i64);
        for (k, (activation, &weight)) in activations.zip(self.low).enumerate() {
            if k % run == 0 {
                if k > 0 {
                    crosstalk.fixups.push(self.fix(sum));
                }
                (sum, above) = (0, 0);
            }
            sum += activation * i64::from(weight);
            let carried = sum >> PACKED_LOW_BITS;
            crosstalk.carries.push(carried - above);
            above = carried;
        }
        crosstalk.fixups.push(self.fix(sum));
        crosstalk
    }

    /// Returns a result of the high lane after the fix-up.
    pub fn leave(&self, held: i64, fixup: i64) -> i64 {
        // The result fits 30 bits.
        self.format.wrap((held + fixup).into()) as i64
    }

    /// Returns the sign bit of the low lane if the fix-up adds it, otherwise 0.
    fn fix(&self, sum: i64) -> i64 {
        match self.fixup {
            Fixup::None => 0,
            Fixup::Lut => (sum >> (PACKED_LOW_BITS - 1)) & 1,
        }
    }
}
