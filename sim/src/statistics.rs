//! Statistics of layers, one row of `statistics!` each. The rows define the counters, their merging, the
//! columns of `layers.csv`, `channels.csv` and `sweep.csv`, and `docs/columns.md`.

use crate::accumulate::Accumulate;
use crate::dot::LevelOutcome;

/// Passes the rows of all statistics to a macro, in the order of the columns. New rows are added at the end.
///
/// A row is `[SCOPE NAME: TYPE HOW] UNIT, NEEDS, MEANING`. SCOPE is the subject of the statistic:
///
/// - `level`: one accumulation level, over all output channels in `layers.csv`, or one of them in
///   `channels.csv`,
/// - `dots`: dot products over the whole datapath, over the same channels, but in the row of the last level
///   only,
/// - `layer`: the layer as a whole, in the row of its last level in `layers.csv`,
/// - `wide`: one level of the hardware with accumulators that hold every sum, in `layers.csv`.
///
/// HOW is `= MERGE(of one dot product)` for a counter, where MERGE is one of `merge`; `= MERGE` if the
/// engines count it themselves; or `as(FUNCTION)` for a value derived from the counts. NEEDS is a variant of
/// `Needs`: a statistic that is not counted is blank.
#[doc(hidden)]
#[macro_export]
macro_rules! statistics {
    ($make:ident) => { $make! {
        [level adds: u64 = sum(|seen| seen.outcome.adds)] "additions", Counting,
            "Additions at this level.";
        [level events: u64 as(|counts| counts.events())] "events", Events,
            "Overflow events: additions, or narrowings, whose exact result does not fit.";
        [level events_high: u64 = sum(|seen| seen.outcome.events_high)] "events", Events,
            "Events above the greatest value.";
        [level events_low: u64 = sum(|seen| seen.outcome.events_low)] "events", Events,
            "Events below the least value.";
        [level outputs_touched: u64 = sum(|seen| seen.outcome.touched().into())] "dot products", Events,
            "Dot products with an event at this level.";
        [level persistent: u64 = sum(|seen| seen.outcome.persistent.into())] "dot products", Counting,
            "Persistent dot products: some final sum does not fit the level.";
        [level transient: u64 = sum(|seen| seen.outcome.transient().into())] "dot products", Prefixes,
            "Transient dot products: some prefix does not fit the level, but every final sum fits.";
        [dots wrong: u64 = sum(|dot| (dot.error != 0).into())] "dot products", Counting,
            "Dot products whose delivered sum differs from the exact sum.";
        [dots harmless: u64 = sum(|dot| (dot.error != 0 && dot.harmless).into())] "dot products", Counting,
            "Wrong dot products whose output code is correct.";
        [level min_prefix: i128 = least(|seen| seen.outcome.min_prefix)] "units of the level", Prefixes,
            "Least value among 0 and all unbounded prefixes.";
        [level max_prefix: i128 = greatest(|seen| seen.outcome.max_prefix)] "units of the level", Prefixes,
            "Greatest value among 0 and all unbounded prefixes.";
        [level required_final: u32 = widest(|seen| seen.final_bits)] "bits", Prefixes,
            "Required bits (final sum): hold every final sum on the activations that the layer read. In \
             propagated mode earlier overflow has changed these activations, so this is not a width to \
             build.";
        [level required_prefix: u32 = widest(|seen| seen.prefix_bits)] "bits", Prefixes,
            "Required bits (prefix): hold every prefix on the activations that the layer read. In propagated \
             mode this is not a width to build.";
        [dots sum_abs_err: u128 = sum(|dot| dot.error.unsigned_abs())] "units of a product", Counting,
            "Sum of `|delivered - exact|`.";
        [dots max_abs_err: u128 = greatest(|dot| dot.error.unsigned_abs())] "units of a product", Counting,
            "Greatest `|delivered - exact|`.";
        [dots output_mismatch: u64 = sum] "output codes", Nothing,
            "Output codes that differ from the exact network.";
        [layer sqnr_db: Decibel as(|of| Decibel::new(of.counts.output_error.sqnr_db()))] "dB", Nothing,
            "SQNR of the layer's real output against the exact network; `null` in JSON if infinite.";
        [layer cycles: u64 as(|of| of.layer.timing.cycles)] "cycles", Nothing,
            "Cycles of one inference.";
        [layer first_event_cycle: u64 as(|of| of.counts.first_event_cycle)] "cycles", Counting,
            "Earliest cycle of an event of a level within one inference, counted from the layer's start.";
        [dots product_events: u64 = sum] "products", Counting,
            "Products that did not fit.";
        [dots bias_events: u64 = sum(|dot| dot.bias_events)] "events", Counting,
            "Biases, or sums of the bias adder, that did not fit.";
        [layer compute_cycles: u64 as(|of| of.layer.timing.cost.compute_cycles)] "cycles", Nothing,
            "Cycles of one inference with infinitely fast memories, with the best tiles for that case.";
        [layer stall_cycles: u64 as(|of| of.layer.timing.cost.stall_cycles)] "cycles", Nothing,
            "Stalls: `cycles` minus `compute_cycles`.";
        [layer utilization: Fraction as(|of| Fraction::new(of.layer.timing.cost.utilization()))] "", Nothing,
            "Products that the layer needs, as a share of the products that the array could compute in all \
             cycles.";
        [layer sram_bytes: u64 as(|of| of.layer.timing.cost.sram_bytes)] "bytes", Nothing,
            "Bytes between the SRAMs and the array in one inference.";
        [layer dram_bytes: u64 as(|of| of.layer.timing.cost.dram_bytes)] "bytes", Nothing,
            "Bytes between the chip and the external memory in one inference.";
        // Figures finer than a picosecond would be rounding noise, and decimals stay short.
        [layer time_us: f64 as(|of| (of.layer.timing.cost.microseconds * 1e6).round() / 1e6)] "\u{b5}s", Nothing,
            "Time of one inference at the clock.";
        [layer stall_sram_cycles: u64 as(|of| of.layer.timing.cost.stall_sram_cycles)] "cycles", Nothing,
            "Stalls that would remain with an infinitely fast external memory.";
        [layer stall_dram_cycles: u64 as(|of| of.layer.timing.cost.stall_dram_cycles)] "cycles", Nothing,
            "All other stalls: cycles that wait for the external memory.";
        [wide exact_required_final: u32 as(|counts| counts.required_final)] "bits", Prefixes,
            "Required bits (final sum, exact network): hold every final sum if no accumulator overflows. \
             Enough for a wrapping accumulator. Blank if products do not fit or lanes share an adder.";
        [wide exact_required_prefix: u32 as(|counts| counts.required_prefix)] "bits", Prefixes,
            "Required bits (prefix, exact network): hold every prefix if no accumulator overflows. Enough \
             for a saturating accumulator. Blank if products do not fit or lanes share an adder.";
    } };
}

/// Data that must be counted for a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but output codes, so the statistic is always available.
    Nothing,
    /// Any statistics: every level of detail except `none`.
    Counting,
    /// Events: the levels of detail `events` and `full`.
    Events,
    /// Prefixes: the levels of detail `values` and `full`.
    Prefixes,
}

/// Result of one dot product at one level.
pub(crate) struct LevelSeen<'a> {
    pub outcome: &'a LevelOutcome,
    /// Number of bits that its final sums require.
    pub final_bits: u32,
    /// Number of bits that its prefixes require.
    pub prefix_bits: u32,
}

/// Result of one dot product over the whole datapath.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DotErrors {
    /// Delivered sum minus exact sum.
    pub error: i128,
    /// Whether the output code is right.
    pub harmless: bool,
    /// Number of times that the bias, or the sum with it, did not fit.
    pub bias_events: u64,
}

/// Merging of a counter with another value, and initial values of counters.
mod merge {
    use std::ops::AddAssign;

    pub fn sum<T: AddAssign>(held: &mut T, value: T) {
        *held += value;
    }

    pub fn least<T: Ord + Copy>(held: &mut T, value: T) {
        *held = value.min(*held);
    }

    pub fn greatest<T: Ord + Copy>(held: &mut T, value: T) {
        *held = value.max(*held);
    }

    /// Maximum of widths, which start at 1: even 0 requires a bit.
    pub use greatest as widest;
}

/// Expands to the initial value of a counter.
macro_rules! nothing {
    (widest) => {
        1
    };
    ($merge:ident) => {
        0
    };
}

/// Declares the counters of levels and of dot products.
macro_rules! counters {
    ($(
        [
            $(level $level:ident: $level_ty:ident
                $(= $level_merge:ident $(($level_of:expr))?)? $(as ($level_made:expr))?)?
            $(dots $dots:ident: $dots_ty:ident = $dots_merge:ident $(($dots_of:expr))?)?
            $(layer $layer:ident: $layer_ty:ident as ($layer_made:expr))?
            $(wide $wide:ident: $wide_ty:ident as ($wide_made:expr))?
        ] $unit:literal, $needs:ident, $doc:literal;
    )*) => {
        /// Statistics that are recorded for every dot product, by name.
        pub(crate) const RECORDED: &[(&str, Needs)] = &[
            $($($($((after!(($level_of) (stringify!($level))), Needs::$needs),)?)?)?)*
            $($($((after!(($dots_of) (stringify!($dots))), Needs::$needs),)?)?)*
        ];

        /// Counts of one output channel at one level.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct ChannelLevel {
            $($($(
                #[doc = $doc]
                pub $level: after!($level_merge $level_ty),
            )?)?)*
        }

        /// Counts of one output channel over the whole datapath.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct ChannelErrors {
            /// Number of dot products.
            pub dots: u64,
            $($(
                #[doc = $doc]
                pub $dots: $dots_ty,
            )?)*
        }

        impl ChannelLevel {
            /// Returns empty counts.
            pub(crate) fn new() -> Self {
                Self { $($($($level: nothing!($level_merge),)?)?)* }
            }

            /// Counts one dot product. `counted` returns whether a need is met.
            pub(crate) fn record(&mut self, seen: &LevelSeen<'_>, counted: impl Fn(Needs) -> bool) {
                $($($($(
                    if counted(Needs::$needs) {
                        let of: fn(&LevelSeen<'_>) -> $level_ty = $level_of;
                        merge::$level_merge(&mut self.$level, of(seen));
                    }
                )?)?)?)*
            }
        }

        impl ChannelErrors {
            /// Counts one dot product.
            pub(crate) fn record(&mut self, dot: DotErrors) {
                $($($(
                    let of: fn(DotErrors) -> $dots_ty = $dots_of;
                    merge::$dots_merge(&mut self.$dots, of(dot));
                )?)?)*
            }
        }

        impl Accumulate for ChannelLevel {
            fn empty(&self) -> Self {
                Self::new()
            }

            fn merge(&mut self, other: Self) {
                $($($(merge::$level_merge(&mut self.$level, other.$level);)?)?)*
            }
        }

        impl Accumulate for ChannelErrors {
            fn empty(&self) -> Self {
                Self::default()
            }

            fn merge(&mut self, other: Self) {
                self.dots += other.dots;
                $($(merge::$dots_merge(&mut self.$dots, other.$dots);)?)*
            }
        }
    };
}

/// Expands to the second of two arguments. Macro repetition over optional parts requires the first to be
/// named.
macro_rules! after {
    ($first:ident $second:ident) => {
        $second
    };
    (($first:expr) ($second:expr)) => {
        $second
    };
}

crate::statistics!(counters);

impl ChannelLevel {
    /// Returns the number of events in both directions.
    pub fn events(&self) -> u64 {
        self.events_high + self.events_low
    }
}
