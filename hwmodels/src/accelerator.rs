//! The checked accelerator: what the code computes with. The file that it is read from is another type.

use guardbit_num::{Format, MAX_BITS, Overflow, Rounding, stochastic_shift_right};

use crate::bounds::Range;
pub use crate::keys::{
    Accelerator, Array, Bias, Level, Memory, Operands, PackingKeys, Processor, Product, ReductionOrder,
    Requantization, Timing,
};

/// Most low bits that all stages of a datapath drop together: what the widest register has beside its two highest bits.
pub const MAX_TOTAL_SHIFT: u32 = MAX_BITS - 2;

/// All that decides values: operands, order, product, levels, bias, requantization.
#[derive(Debug, Clone, PartialEq)]
pub struct Datapath {
    /// How operands reach the multiplier.
    pub operands: Operands,
    /// In which order K is walked.
    pub order: ReductionOrder,
    /// The multiplier's output.
    pub product: Product,
    /// Accumulation levels, innermost first; the last one reduces everything.
    pub levels: Vec<Level>,
    /// Where and how the bias is added.
    pub bias: Bias,
    /// From sums to output codes.
    pub requantize: Requantization,
}

/// What the output stage does with a result that does not fit the output's dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFit {
    /// Clamps it.
    #[default]
    Saturate,
    /// Clamps it to a restricted range: the least code is the greatest with the other sign, also where the model has one
    /// more.
    SaturateSymmetric,
    /// Keeps its low bits. A fused activation clips before, at the bounds that it has of its own: a rectifier below.
    Wrap,
}

/// What the lanes of a vector engine hold at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrayKind {
    /// Any outputs, in the order of the output tensor.
    #[default]
    Outputs,
    /// Channels of one pixel, groups one after the other (NVDLA's MAC cells, VTA's block).
    Channels,
    /// Channels of one pixel, of all groups (FINN's folding: lanes are PE, `dot_width` is SIMD).
    Folded,
    /// Rows hold pixels of a small rectangle, columns hold channels (Ethos-U).
    Block,
}

/// How the groups of a grouped convolution lie on the array. Values do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depthwise {
    /// As the array's kind has it: side by side in vector engines but those of channels, else one after the other.
    #[default]
    ByKind,
    /// One after the other.
    Serial,
    /// As many as there is room for, on the diagonal of one matrix of weights, 0 elsewhere.
    BlockDiagonal,
    /// Side by side: every lane or column takes activations of its own.
    OwnInputs,
}

impl Array {
    /// An array of that size, its lanes free to hold any outputs.
    pub const fn new(rows: usize, cols: usize, dot_width: usize) -> Self {
        let (kind, depthwise) = (ArrayKind::Outputs, Depthwise::ByKind);
        Self { rows, cols, dot_width, kind, cores: 1, stripe: 1, depthwise }
    }
}

/// Which operand stays in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dataflow {
    /// Sums stay; activations and weights stream.
    OutputStationary,
    /// Weights stay; sums move down the columns.
    WeightStationary,
    /// Activations stay; sums move down the columns.
    InputStationary,
    /// A vector engine: `rows * cols` outputs at a time, `dot_width` products each per cycle.
    Vector,
}

impl Dataflow {
    /// Whether sums move down the columns, into a memory of their own.
    pub fn moves_sums(self) -> bool {
        matches!(self, Self::WeightStationary | Self::InputStationary)
    }
}

/// Where zero points are taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroPoint {
    /// Before the multiplier, which sees `x - zx` and `w - zw`; padding contributes 0.
    Subtract,
    /// After: products are of raw codes, padding carries the code `zx`, constants are folded into the bias.
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

/// How a stage drops low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftRounding {
    /// The same value always gives the same result.
    Fixed(Rounding),
    /// Up with a probability that is the part dropped, by a random number: see [`guardbit_num::stochastic_shift_right`].
    Stochastic {
        /// The seed of its random numbers.
        seed: u64,
    },
}

/// A register's width and what it does with what does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    /// Wide enough for everything.
    Auto,
    /// A fixed width.
    Fixed {
        /// Width and signedness.
        format: Format,
        /// Overflow mode.
        overflow: Overflow,
    },
}

/// How many values of the level below one run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// That many; the last run may be shorter.
    Count(usize),
    /// All of them.
    All,
}

/// Where overflow is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// At every addition.
    EachAdd,
    /// Once, when the result leaves the level; inside, sums are exact.
    HandOver,
}

/// Where the bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BiasPlace {
    /// After the last level, in an adder of its own.
    Post,
    /// As the initial value of the last level.
    Preload,
    /// Scaled on its own, after requantization.
    PostRequantize,
}

/// How cycles are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingConvention {
    /// Tiles follow each other without draining the array; memory stalls count.
    Overlapped,
    /// As SCALE-Sim 3.0.0 counts compute cycles.
    ScalesimV3,
    /// As the compiler of Arm's Ethos-U55 estimates NPU cycles.
    EthosU,
}

/// Which activations stay on the chip between layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residency {
    /// None: every layer reads its activations from outside and stores its outputs there.
    #[default]
    None,
    /// Those that fit beside what the layers themselves need: see [`crate::Resident`].
    Fit,
}

/// How lanes share an adder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackingKind {
    /// They do not.
    None,
    /// Two output channels in that of a DSP48E2.
    Dsp48e2Int8x2,
}

/// Lanes that share one adder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Every lane has its own.
    None,
    /// Two output channels share the 48-bit adder of a DSP48E2, which adds `(a * 2^18 + d) * b`.
    Dsp48e2Int8x2(Fixup),
}

impl Packing {
    /// Whether it gives the register of that level: the innermost one is the adder that lanes share.
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

/// What is done about the borrow that a negative low lane takes from the high lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixup {
    /// Nothing.
    None,
    /// The low lane's sign is added to the high lane when the lanes leave the adder.
    Lut,
}

/// Bits of the low lane of a [`Packing::Dsp48e2Int8x2`].
pub const PACKED_LOW_BITS: u32 = 18;
/// Bits of its high lane: what the low lane leaves of 48.
pub const PACKED_HIGH_BITS: u32 = 30;

impl ShiftRounding {
    /// The rounding with which a constant is brought to the unit behind the stage: to nearest, ties to even, where the stage
    /// itself rounds at random.
    pub fn of_constants(self) -> Rounding {
        match self {
            Self::Fixed(rounding) => rounding,
            Self::Stochastic { .. } => Rounding::HalfEven,
        }
    }

    /// `value / 2^shift`, rounded; `word` gives the random number of a seed where one is needed.
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
    /// Format and overflow mode of a fixed width.
    pub fn fixed(self) -> Option<(Format, Overflow)> {
        match self {
            Self::Auto => None,
            Self::Fixed { format, overflow } => Some((format, overflow)),
        }
    }

    /// Its width, where that is fixed.
    pub fn bits(self) -> Option<u32> {
        self.fixed().map(|(format, _)| format.bits())
    }

    /// What it does with what does not fit; `None` where everything does.
    pub fn overflow(self) -> Option<Overflow> {
        self.fixed().map(|(_, overflow)| overflow)
    }

    /// Whether it has a sign. One without a width has.
    pub fn is_signed(self) -> bool {
        self.fixed().is_none_or(|(format, _)| format.is_signed())
    }

    /// All values that it leaves as they are; `None` where those are all integers. They include 0.
    pub fn limits(self) -> Option<Range> {
        let (min, max) = self.fixed().map(|(format, overflow)| overflow.limits(format))?;
        Some(Range { min, max })
    }

    /// Whether it leaves every value of `range` as it is.
    pub fn keeps(self, range: Range) -> bool {
        self.limits().is_none_or(|limits| limits.contains(range))
    }
}

impl Datapath {
    /// Bits of a sum in memory: those of the last level, 32 if that has no width.
    pub(crate) fn sum_bits(&self) -> u32 {
        self.levels.last().and_then(|level| level.register.bits()).unwrap_or(32)
    }

    /// Bits dropped before a value reaches level `level`: its unit is `2^shift`.
    ///
    /// With `level == levels.len()`: those dropped before the result leaves the last level.
    pub fn unit_shift(&self, level: usize) -> u32 {
        self.product.shift + self.levels[..level].iter().map(|l| l.shift).sum::<u32>()
    }

    /// The rounding with which a bias is brought to the unit of level `level`: that of the last stage
    /// before it which drops bits, as it rounds constants.
    pub fn unit_rounding(&self, level: usize) -> Rounding {
        let stages = self.levels[..level].iter().rev().map(|l| (l.shift, l.round));
        let mut all = stages.chain([(self.product.shift, self.product.round)]);
        all.find(|&(shift, _)| shift > 0).map_or(Rounding::Floor, |(_, round)| round.of_constants())
    }

    /// Whether a stage rounds at random.
    pub fn rounds_at_random(&self) -> bool {
        self.rounds_at_random_before(self.levels.len())
    }

    /// Whether a stage before level `level` rounds at random.
    pub(crate) fn rounds_at_random_before(&self, level: usize) -> bool {
        let random = |shift, round| shift > 0 && matches!(round, ShiftRounding::Stochastic { .. });
        random(self.product.shift, self.product.round)
            || self.levels[..level].iter().any(|level| random(level.shift, level.round))
    }
}

impl Bias {
    /// The bias adder of a layer whose bias has `bits` bits in the model.
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
    /// Length of a run out of `available` values.
    pub fn run_length(self, available: usize) -> usize {
        match self {
            Self::Count(n) => n,
            Self::All => available.max(1),
        }
    }
}
