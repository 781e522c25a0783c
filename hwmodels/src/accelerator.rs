//! Checked accelerator, on which all computations are based. The file from which it is read has a type of its
//! own.

use guardbit_num::{
    AlignedDot, AlignedRule, FixedDot, FloatDot, FloatFormat, Format, Incoming, MAX_BITS, OrdinaryDot,
    Overflow, PairwiseDot, Rounding, stochastic_shift_right,
};

use crate::bounds::Range;
pub use crate::keys::{
    Accelerator, Array, Bias, FloatAccumulation, Level, Memory, Operands, PackingKeys, Processor, Product,
    ReductionOrder, Requantization, Timing,
};

/// Greatest number of low bits that all stages of a datapath may drop together: the bits of the widest
/// register except its two highest ones.
pub const MAX_TOTAL_SHIFT: u32 = MAX_BITS - 2;

/// Datapath: everything that determines values, i.e. operands, order, product, levels, bias and
/// requantization.
#[derive(Debug, Clone, PartialEq)]
pub struct Datapath {
    /// Form in which operands reach the multiplier.
    pub operands: Operands,
    /// Order in which the K products are added.
    pub order: ReductionOrder,
    /// Output of the multiplier.
    pub product: Product,
    /// Accumulation levels, innermost first; the last one adds up everything that remains.
    pub levels: Vec<Level>,
    /// Place and register of the bias.
    pub bias: Bias,
    /// Conversion of sums to output codes.
    pub requantize: Requantization,
}

/// Treatment of a result that does not fit the output's dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFit {
    /// Clamps the result.
    #[default]
    Saturate,
    /// Clamps the result to a restricted range. Its least code is the negated greatest code, even if the
    /// model allows one more.
    SaturateSymmetric,
    /// Keeps the low bits of the result. A fused activation clips before, at its own bounds: a rectifier only
    /// at its lower bound.
    Wrap,
}

/// Outputs that the lanes of a vector engine compute at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrayKind {
    /// Any outputs, in the order of the output tensor.
    #[default]
    Outputs,
    /// Channels of one pixel, groups one after the other (NVDLA's MAC cells, VTA's block).
    Channels,
    /// Channels of one pixel, of all groups (FINN's folding: lanes are PE, `dot_width` is SIMD).
    Folded,
    /// Rows hold pixels of a small rectangle; columns hold channels (Ethos-U).
    Block,
}

/// Mapping of the groups of a grouped convolution to the array. Values do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depthwise {
    /// Default of the array's kind: in parallel in vector engines, except those of channels; otherwise one
    /// after the other.
    #[default]
    ByKind,
    /// One after the other.
    Serial,
    /// Parallel: the groups that fit, on the diagonal of one matrix of weights that is 0 elsewhere.
    BlockDiagonal,
    /// In parallel: every lane or column reads activations of its own.
    OwnInputs,
}

impl Array {
    /// Returns an array of the given size whose lanes can hold any outputs.
    pub const fn new(rows: usize, cols: usize, dot_width: usize) -> Self {
        let (kind, depthwise) = (ArrayKind::Outputs, Depthwise::ByKind);
        Self { rows, cols, dot_width, kind, cores: 1, stripe: 1, depthwise }
    }
}

/// Operand that stays in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dataflow {
    /// Sums stay; activations and weights stream.
    OutputStationary,
    /// Weights stay; sums move down the columns.
    WeightStationary,
    /// Activations stay; sums move down the columns.
    InputStationary,
    /// Vector engine: `rows * cols` outputs at a time, with `dot_width` products each per cycle.
    Vector,
}

impl Dataflow {
    /// Returns whether sums move down the columns, into a memory of their own.
    pub fn moves_sums(self) -> bool {
        matches!(self, Self::WeightStationary | Self::InputStationary)
    }
}

/// Place where zero points are subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZeroPoint {
    /// Before the multiplier, whose operands are `x - zx` and `w - zw`; padding contributes 0.
    Subtract,
    /// After the multiplier: products are of raw codes, padding has the code `zx`, and constants are folded
    /// into the bias.
    Fold,
}

/// An axis of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Window rows.
    Kh,
    /// Window columns.
    Kw,
    /// Input channels of the group.
    Ic,
}

/// Rounding of a stage that drops low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShiftRounding {
    /// Deterministic rounding.
    Fixed(Rounding),
    /// Rounds up with a probability equal to the dropped fraction, using a random number: see
    /// [`guardbit_num::stochastic_shift_right`].
    Stochastic {
        /// Seed of the random numbers.
        seed: u64,
    },
}

/// Width of a register, and its behaviour on overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    /// Wide enough for every value.
    Auto,
    /// A fixed width.
    Fixed {
        /// Width and signedness.
        format: Format,
        /// Overflow mode.
        overflow: Overflow,
    },
}

/// Number of values of the level below that one run adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// Fixed number; the last run may be shorter.
    Count(usize),
    /// All values.
    All,
}

/// Point at which overflow is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// At every addition.
    EachAdd,
    /// Once, when the result leaves the level; within the level, sums are exact.
    HandOver,
}

/// Place where the bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BiasPlace {
    /// After the last level, in an adder of its own.
    Post,
    /// Initial value of the last level.
    Preload,
    /// After requantization, scaled on its own.
    PostRequantize,
}

/// Convention by which cycles are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingConvention {
    /// Tiles follow each other without draining the array; memory stalls are included.
    Overlapped,
    /// Compute cycles as counted by SCALE-Sim 3.0.0.
    ScalesimV3,
    /// NPU cycles as estimated by the compiler of Arm's Ethos-U55.
    EthosU,
}

/// Activations that stay on the chip between layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Residency {
    /// None: every layer reads its activations from external memory and stores its outputs there.
    #[default]
    None,
    /// Activations that fit in addition to the layers' own needs: see [`crate::Resident`].
    Fit,
}

/// Kind of sharing of an adder by lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackingKind {
    /// Lanes do not share an adder.
    None,
    /// Two output channels share the adder of a DSP48E2.
    Dsp48e2Int8x2,
}

/// Sharing of an adder by lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Every lane has its own adder.
    None,
    /// Two output channels share the 48-bit adder of a DSP48E2, which adds `(a * 2^18 + d) * b`.
    Dsp48e2Int8x2(Fixup),
}

impl Packing {
    /// Returns whether the packing defines the register of level `level`: the innermost level is the shared
    /// adder.
    pub fn gives_register(self, level: usize) -> bool {
        self != Self::None && level == 0
    }
}

impl From<PackingKeys> for Packing {
    fn from(PackingKeys { kind, fixup }: PackingKeys) -> Self {
        match kind {
            PackingKind::None => Self::None,
            PackingKind::Dsp48e2Int8x2 => Self::Dsp48e2Int8x2(fixup),
        }
    }
}

impl From<Packing> for PackingKeys {
    fn from(packing: Packing) -> Self {
        match packing {
            Packing::None => Self { kind: PackingKind::None, fixup: Fixup::Lut },
            Packing::Dsp48e2Int8x2(fixup) => Self { kind: PackingKind::Dsp48e2Int8x2, fixup },
        }
    }
}

/// Entry of the accumulator into an addition of floating-point products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatIncoming {
    /// As one more term.
    Term,
    /// After the products.
    Apart,
}

/// Addition of floating-point products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatReduce {
    /// Addition of integers that are cut to common bits.
    Aligned,
    /// Ordinary additions, one product after another.
    Serial,
    /// Ordinary additions, in a tree per group of products.
    Pairwise,
}

/// Treatment of subnormal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subnormals {
    /// They are numbers like any other.
    Keep,
    /// They become zero.
    Flush,
}

/// Accumulator of floating-point products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatResult {
    /// A floating-point number.
    Float(FloatFormat),
    /// A two's complement register with a fixed binary point.
    Fixed,
}

/// Use of the scales of blocks of operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockScaling {
    /// None.
    None,
    /// The exponents of both scales are added to that of each product.
    PerTerm,
    /// Groups of products are added exactly, and multiplied by their scales.
    PerGroup,
}

/// Format of the scales of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleFormat {
    /// Powers of two, as of OCP microscaling.
    Ue8m0,
    /// e4m3 without a sign, as of NVFP4.
    Ue4m3,
    /// Both.
    Any,
}

impl ScaleFormat {
    /// Returns whether scales may have a format.
    pub fn includes(self, format: FloatFormat) -> bool {
        self == Self::Any || self.name() == format.name()
    }
}

impl FloatAccumulation {
    /// Greatest number of fraction bits.
    pub const MAX_FRACTION_BITS: u32 = 40;

    /// Returns the number of products that are added exactly to one term, or `None` if each product is a term.
    pub fn group(&self) -> Option<usize> {
        (self.block_scales == BlockScaling::PerGroup).then_some(self.group_terms)
    }

    /// Returns how the terms of a dot product are added. A term is a product, or a group of products.
    pub fn dot(&self) -> FloatDot {
        let promotion = self.promote_terms.map(|terms| terms / self.terms);
        let FloatResult::Float(result) = self.result else {
            return FloatDot::Fixed(FixedDot {
                fraction_bits: self.fraction_bits,
                cut: self.align_round,
                register: self.register.fixed(),
                terms: self.terms,
                promotion,
            });
        };
        if self.reduce != FloatReduce::Aligned {
            let unit = PairwiseDot {
                group: self.terms,
                result,
                rounding: self.result_round,
                fused: self.fused,
                flush: self.subnormals == Subnormals::Flush,
            };
            return FloatDot::Ordinary(OrdinaryDot { unit, promotion });
        }
        let incoming = match self.incoming {
            FloatIncoming::Term => Incoming::Term,
            FloatIncoming::Apart => Incoming::Apart {
                interleaved: self.interleaved,
                sum_bits: self.sum_bits,
                bits: self.accumulator_bits,
                reach: self.reach.map(|reach| reach as u32),
            },
        };
        let rule = AlignedRule {
            fraction_bits: self.fraction_bits,
            cut: self.align_round,
            incoming,
            result,
            result_rounding: self.result_round,
            negative_zero: self.negative_zero,
            nan: result.nan().unwrap_or(0),
        };
        FloatDot::Aligned(AlignedDot { rule, terms: self.terms / self.group().unwrap_or(1), promotion })
    }
}

/// Correction of the borrow that a negative low lane takes from the high lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixup {
    /// No correction.
    None,
    /// Adds the low lane's sign to the high lane when the lanes leave the adder.
    Lut,
}

/// Width in bits of the low lane of a [`Packing::Dsp48e2Int8x2`].
pub const PACKED_LOW_BITS: u32 = 18;
/// Width in bits of the high lane of a [`Packing::Dsp48e2Int8x2`]: the remainder of 48.
pub const PACKED_HIGH_BITS: u32 = 30;

impl ShiftRounding {
    /// Returns the rounding with which a constant is brought to the unit after the stage. It is to nearest,
    /// with ties to even, if the stage itself rounds randomly.
    pub fn of_constants(self) -> Rounding {
        match self {
            Self::Fixed(rounding) => rounding,
            Self::Stochastic { .. } => Rounding::HalfEven,
        }
    }

    /// Returns `value / 2^shift`, rounded. `word` returns the random number for a seed and is only called if
    /// one is needed.
    pub fn shift_right(self, value: i128, shift: u32, word: impl FnOnce(u64) -> u64) -> i128 {
        match self {
            Self::Fixed(rounding) => rounding.shift_right(value, shift),
            Self::Stochastic { seed } if shift > 0 => stochastic_shift_right(value, shift, word(seed)),
            Self::Stochastic { .. } => value,
        }
    }
}

impl From<Rounding> for ShiftRounding {
    fn from(rounding: Rounding) -> Self {
        Self::Fixed(rounding)
    }
}

impl Register {
    /// Returns format and overflow mode of a fixed width.
    pub fn fixed(self) -> Option<(Format, Overflow)> {
        match self {
            Self::Auto => None,
            Self::Fixed { format, overflow } => Some((format, overflow)),
        }
    }

    /// Returns the width, if it is fixed.
    pub fn bits(self) -> Option<u32> {
        self.fixed().map(|(format, _)| format.bits())
    }

    /// Returns the overflow mode; `None` if every value fits.
    pub fn overflow(self) -> Option<Overflow> {
        self.fixed().map(|(_, overflow)| overflow)
    }

    /// Returns whether the register is signed. A register without a width is.
    pub fn is_signed(self) -> bool {
        self.fixed().is_none_or(|(format, _)| format.is_signed())
    }

    /// Returns the range of values that it does not change, which includes 0; `None` if it changes no value.
    pub fn limits(self) -> Option<Range> {
        let (min, max) = self.fixed().map(|(format, overflow)| overflow.limits(format))?;
        Some(Range { min, max })
    }

    /// Returns whether it changes no value of `range`.
    pub fn keeps(self, range: Range) -> bool {
        self.limits().is_none_or(|limits| limits.contains(range))
    }
}

impl Datapath {
    /// Returns the width in bits of a sum in memory: that of the last level, or 32 if it has no width.
    pub(crate) fn sum_bits(&self) -> u32 {
        self.levels.last().and_then(|level| level.register.bits()).unwrap_or(32)
    }

    /// Returns the number of bits dropped before a value reaches level `level`; its unit is `2^shift`.
    ///
    /// `levels.len()` gives the number of bits dropped before the result leaves the last level.
    pub fn unit_shift(&self, level: usize) -> u32 {
        self.product.shift + self.levels[..level].iter().map(|l| l.shift).sum::<u32>()
    }

    /// Returns the rounding with which a bias is brought to the unit of level `level`: the rounding for
    /// constants of the last stage before it that drops bits.
    pub fn unit_rounding(&self, level: usize) -> Rounding {
        let stages = self.levels[..level].iter().rev().map(|l| (l.shift, l.round));
        let mut all = stages.chain([(self.product.shift, self.product.round)]);
        all.find(|&(shift, _)| shift > 0).map_or(Rounding::Floor, |(_, round)| round.of_constants())
    }

    /// Returns whether a stage rounds randomly.
    pub fn rounds_at_random(&self) -> bool {
        self.rounds_at_random_before(self.levels.len())
    }

    /// Returns whether a stage before level `level` rounds randomly.
    pub(crate) fn rounds_at_random_before(&self, level: usize) -> bool {
        let random = |shift, round| shift > 0 && matches!(round, ShiftRounding::Stochastic { .. });
        random(self.product.shift, self.product.round)
            || self.levels[..level].iter().any(|level| random(level.shift, level.round))
    }
}

impl Bias {
    /// Returns the bias adder of a layer whose bias has `bits` bits in the model.
    pub fn of_layer(self, bits: u32) -> Self {
        let register = match (self.register, Format::new(bits, true)) {
            (Register::Fixed { format, overflow }, Ok(wider)) if self.from_model && bits > format.bits() => {
                Register::Fixed { format: wider, overflow }
            }
            (register, _) => register,
        };
        Self { register, ..self }
    }
}

impl Terms {
    /// Returns the length of a run when `available` values remain.
    pub fn run_length(self, available: usize) -> usize {
        match self {
            Self::Count(n) => n,
            Self::All => available.max(1),
        }
    }
}
