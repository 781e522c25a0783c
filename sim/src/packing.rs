//! Two output channels in one DSP48E2: `(a * 2^18 + d) * b` is added in 48 bits.
//!
//! The low 18 bits are the low lane, the 30 above it the high lane. With L the sum of the low lane's products, the
//! adder holds `H * 2^18 + L`: its low lane is L wrapped to 18 bits, its high lane `H + floor(L / 2^18)`, which is one
//! less than H while L is negative, and off by more once L has left its lane. So the low lane is an accumulator of 18
//! wrapping bits, and the high lane one of 30 whose addends carry what the low lane hands up.

use guardbit_hwmodels::{Fixup, Level, MacLayer, PACKED_HIGH_BITS, PACKED_LOW_BITS, Packing, Register};
use guardbit_num::{Format, Overflow};

/// The high lane of a shared adder.
pub(crate) struct HighLane<'a> {
    /// Weights of the low lane, in the order of addition.
    low: &'a [i32],
    /// The innermost level as the high lane sees it.
    pub level: Level,
    format: Format,
    fixup: Fixup,
}

/// What a low lane does to the high lane above it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Crosstalk {
    /// Per product: what reaches the high lane together with its own product.
    pub carries: Vec<i64>,
    /// Per run: what the fix-up adds when the lanes leave the adder.
    pub fixups: Vec<i64>,
}

impl<'a> HighLane<'a> {
    /// The lane above one with the weights `low`, in the order of addition.
    pub fn above(layer: &MacLayer, low: &'a [i32]) -> Option<Self> {
        let Packing::Dsp48e2Int8x2(fixup) = layer.packing else { return None };
        let format = Format::signed(PACKED_HIGH_BITS).ok()?;
        let register = Register::Fixed { format, overflow: Overflow::Wrap };
        let level = Level { register, ..layer.datapath.levels.first()?.clone() };
        Some(Self { low, level, format, fixup })
    }

    /// What the low lane does on these activations, in the order of addition.
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

    /// A result of the high lane after the fix-up.
    pub fn leave(&self, held: i64, fixup: i64) -> i64 {
        // 30 bits fit.
        self.format.wrap((held + fixup).into()) as i64
    }

    /// The sign bit of the low lane, if it is added.
    fn fix(&self, sum: i64) -> i64 {
        match self.fixup {
            Fixup::None => 0,
            Fixup::Lut => (sum >> (PACKED_LOW_BITS - 1)) & 1,
        }
    }
}
