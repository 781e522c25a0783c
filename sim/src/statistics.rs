//! Statistics of levels and of dot products, one row of `statistics!` each. The rows define the counters, their
//! merging, the columns of `layers.csv`, `channels.csv` and `sweep.csv`, and `docs/reference/columns.md`.

use crate::accumulate::Accumulate;
use crate::dot::LevelOutcome;

/// Passes the rows of all statistics to a macro, in blocks in the order of the columns. Between the blocks,
/// `reports` places its columns about whole layers. New rows are added at the end of the last block.
///
/// A row is `[SCOPE NAME: TYPE HOW] UNIT, NEEDS, MEANING`. SCOPE is the subject of the statistic:
///
/// - `level`: one accumulation level, over all output channels in `layers.csv`, or one of them in
///   `channels.csv`,
/// - `dots`: dot products over the whole datapath, over the same channels, but in the row of the last level
///   only.
///
/// HOW is `= MERGE(of one dot product)` for a counter, where MERGE is one of `merge`; `= MERGE` if the
/// engines count it themselves; or `as(FUNCTION)` for a value derived from the counts. NEEDS is a variant of
/// `Needs`: a statistic that is not counted is blank.
#[doc(hidden)]
#[macro_export]
macro_rules! statistics {
    ($make:ident) => { $make! { {
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
    } {
        [dots product_events: u64 = sum] "products", Counting,
            "Products that did not fit.";
        [dots bias_events: u64 = sum(|dot| dot.bias_events)] "events", Counting,
            "Biases, or sums of the bias adder, that did not fit.";
    } {
    } } };
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
    ($({$($row:tt)*})*) => {
        counters! { $($($row)*)* }
    };
    ($(
        [
            $(level $level:ident: $level_ty:ident
                $(= $level_merge:ident $(($level_of:expr))?)? $(as ($level_made:expr))?)?
            $(dots $dots:ident: $dots_ty:ident = $dots_merge:ident $(($dots_of:expr))?)?
        ] $unit:literal, $needs:ident, $doc:literal;
    )*) => {
        /// Statistics that are recorded for every dot product, by name.
        pub(crate) const RECORDED: &[(&str, Needs)] = &[
            $($($($((after!(($level_of) (stringify!($level))), Needs::$needs),)?)?)?)*
            $($($((after!(($dots_of) (stringify!($dots))), Needs::$needs),)?)?)*
        ];

        /// Counts of one output channel at one level.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
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
