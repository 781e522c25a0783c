//! `layers.csv`, one row per accumulation level of every accelerated layer, innermost level first, and
//! `channels.csv`, one row per output channel of every level. Their columns are the rows of
//! `guardbit_sim::statistics!` and those about whole layers below.

use guardbit_hwmodels::{MacLayer, Packing, Program};
use guardbit_sim::{ChannelErrors, ChannelLevel, LayerStats, Needs, StatsLevel};

use super::mac_layers::{mac_layers, register};
use super::table::table;
use crate::{Decibel, Fraction, Width};

/// Data from which the cells of a row are computed.
struct RowSource<'a> {
    layer: &'a MacLayer,
    counts: &'a LayerStats,
    /// Index of the level.
    level: usize,
    /// Counts of the level, over all channels or for one.
    seen: ChannelLevel,
    /// Counts of the dot products, over all channels or for one.
    errors: ChannelErrors,
    /// Counts of the level with accumulators that hold every sum.
    wide: Option<ChannelLevel>,
    stats: StatsLevel,
}

impl RowSource<'_> {
    fn name_of_level(&self) -> String {
        self.layer.datapath.levels[self.level].name.clone()
    }

    fn register(&self) -> (Width, Option<String>) {
        register(self.layer.datapath.levels[self.level].register)
    }

    /// Returns whether the row holds the figures of the layer as a whole.
    fn is_last(&self) -> bool {
        self.level + 1 == self.layer.datapath.levels.len()
    }

    /// Returns a value if the statistics that it needs were counted.
    fn counted<T, V: Into<Option<T>>>(&self, needs: Needs, value: impl FnOnce() -> V) -> Option<T> {
        if self.stats.meets(needs) { value().into() } else { None }
    }

    /// Returns a value of the layer as a whole if this row holds it and the statistics that it needs were
    /// counted.
    fn of_layer<T, V: Into<Option<T>>>(&self, needs: Needs, value: impl FnOnce() -> V) -> Option<T> {
        if self.is_last() { self.counted(needs, value) } else { None }
    }
}

/// Expands to the first of two arguments. Macro repetition over optional parts requires the second to be
/// named.
macro_rules! first {
    ($first:expr, $second:ident) => {
        $first
    };
}

macro_rules! rows {
    ($(
        [
            $(level $level:ident: $level_ty:ident
                $(= $level_merge:ident $(($level_of:expr))?)? $(as($level_made:expr))?)?
            $(dots $dots:ident: $dots_ty:ident = $dots_merge:ident $(($dots_of:expr))?)?
            $(layer $layer:ident: $layer_ty:ident as($layer_made:expr))?
            $(wide $wide:ident: $wide_ty:ident as($wide_made:expr))?
        ] $unit:literal, $needs:ident, $doc:literal;
    )*) => {
        table! {
            "layers.csv"
            /// One accumulation level of one accelerated layer, innermost level first.
            #[derive(Default)]
            LayerRow {
                /// Index of the layer over all operations of the graph.
                index: usize,
                /// Name of the layer: that of its output tensor.
                layer: String,
                /// Name of the operation.
                op: String,
                /// Name of the level.
                level: String,
                /// Width of the level.
                bits: Width ["bits"],
                /// Overflow mode of the level; blank if it cannot overflow.
                overflow: Option<String>,
                /// Dot products run, over all samples.
                dots: u64 ["dot products"],
                /// Products per dot product.
                terms: usize ["products"],
                $(
                    $(#[doc = $doc] $level: Option<$level_ty> [$unit, $needs, ""],)?
                    $(#[doc = $doc] $dots: Option<$dots_ty> [$unit, $needs, "last level"],)?
                    $(#[doc = $doc] $layer: Option<$layer_ty> [$unit, $needs, "last level"],)?
                    $(#[doc = $doc] $wide: Option<$wide_ty> [$unit, $needs, ""],)?
                )*
                /// Short name of the layer.
                name: String,
            }
        }

        table! {
            "channels.csv"
            /// One output channel of one accumulation level.
            ChannelRow {
                /// Index of the layer over all operations of the graph.
                index: usize,
                /// Name of the layer.
                layer: String,
                /// Name of the level.
                level: String,
                /// Output channel.
                channel: usize,
                /// Dot products run, over all samples.
                dots: u64 ["dot products"],
                /// Products per dot product.
                terms: usize ["products"],
                $(
                    $(#[doc = $doc] $level: Option<$level_ty> [$unit, $needs, ""],)?
                    $(#[doc = $doc] $dots: Option<$dots_ty> [$unit, $needs, "last level"],)?
                )*
                /// Short name of the layer.
                name: String,
            }
        }

        /// Statistics of a level: the counters and the values derived from them.
        #[derive(Default)]
        struct LevelCells {
            $($($level: Option<$level_ty>,)?)*
            $($($dots: Option<$dots_ty>,)?)*
        }

        impl LevelCells {
            fn new(of: &RowSource<'_>) -> Self {
                let seen = &of.seen;
                Self {
                    $($($level: of.counted(Needs::$needs, || {
                        $(first!(seen.$level, $level_merge))?
                        $({
                            let made: fn(&ChannelLevel) -> $level_ty = $level_made;
                            made(seen)
                        })?
                    }),)?)*
                    $($($dots: of.of_layer(Needs::$needs, || of.errors.$dots),)?)*
                }
            }
        }

        impl LayerRow {
            fn new(of: &RowSource<'_>) -> Self {
                let (bits, overflow) = of.register();
                let cells = LevelCells::new(of);
                Self {
                    index: of.layer.node.index(),
                    layer: of.layer.name.clone(),
                    op: of.layer.op.to_owned(),
                    level: of.name_of_level(),
                    bits,
                    overflow,
                    dots: of.counts.dots,
                    terms: of.layer.order.len(),
                    $(
                        $($level: cells.$level,)?
                        $($dots: cells.$dots,)?
                        $($layer: of.of_layer(Needs::$needs, || {
                            let of: &RowSource<'_> = of;
                            apply(of, $layer_made)
                        }),)?
                        $($wide: of.wide.as_ref().map($wide_made),)?
                    )*
                    name: of.layer.short_name.clone(),
                }
            }
        }

        impl ChannelRow {
            fn new(of: &RowSource<'_>, channel: usize) -> Self {
                let cells = LevelCells::new(of);
                Self {
                    index: of.layer.node.index(),
                    layer: of.layer.name.clone(),
                    level: of.name_of_level(),
                    channel,
                    dots: of.errors.dots,
                    terms: of.layer.order.len(),
                    $(
                        $($level: cells.$level,)?
                        $($dots: cells.$dots,)?
                    )*
                    name: of.layer.short_name.clone(),
                }
            }
        }
    };
}

impl LayerRow {
    /// Returns the share of dot products with an event.
    pub(crate) fn touched_share(&self) -> Option<Fraction> {
        Fraction::of(self.outputs_touched?, self.dots)
    }

    /// Returns the bits with which the level delivers every sum of the samples exactly.
    pub(crate) fn needed(&self) -> Option<u32> {
        let wraps = self.overflow.as_deref() == Some("wrap");
        let exact = if wraps { self.exact_required_final } else { self.exact_required_prefix };
        exact.or(if wraps { self.required_final } else { self.required_prefix })
    }

    /// Returns the bits of the level that the samples do not require.
    pub(crate) fn room(&self) -> Option<i32> {
        Some(self.bits.bits()? as i32 - self.needed()? as i32)
    }
}

/// Adds the columns about whole layers to the statistics of `sim`, in the order in which columns were added.
///
/// A row is that of a statistic with another SCOPE:
///
/// - `layer`: the layer as a whole, in the row of its last level in `layers.csv`, from a [`RowSource`],
/// - `wide`: one level of the hardware with accumulators that hold every sum, in `layers.csv`, from the counts
///   of that level.
macro_rules! with_whole_layers {
    ({$($first:tt)*} {$($second:tt)*} {$($third:tt)*}) => { rows! {
        $($first)*
        [layer sqnr_db: Decibel as(|of| Decibel::new(of.counts.output_error.sqnr_db()))] "dB", Nothing,
            "SQNR of the layer's real output against the exact network; `null` in JSON if infinite.";
        [layer cycles: u64 as(|of| of.layer.timing.cycles)] "cycles", Nothing,
            "Cycles of one inference.";
        [layer first_event_cycle: u64 as(|of| of.counts.first_event_cycle)] "cycles", Counting,
            "Earliest cycle of an event of a level within one inference, counted from the layer's start.";
        $($second)*
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
        $($third)*
    } };
}

guardbit_sim::statistics!(with_whole_layers);

/// Calls `made`. The signature gives the closure's argument type before its body is inferred.
fn apply<'a, 'b, V>(of: &'a RowSource<'b>, made: impl FnOnce(&'a RowSource<'b>) -> V) -> V {
    made(of)
}

/// Returns the rows of every accelerated layer.
///
/// `layers` holds the statistics per node. `unlimited` holds those of the hardware with accumulators that
/// hold every sum; an isolated run passes its own, because its layers read the exact inputs. `stats` is the
/// level of statistics that was counted.
pub fn layer_rows(
    program: &Program,
    layers: &[Option<LayerStats>],
    unlimited: &[Option<LayerStats>],
    stats: StatsLevel,
) -> Vec<LayerRow> {
    let mut rows = Vec::new();
    for (layer, counts) in mac_layers(program, layers) {
        let (errors, unlimited) = (counts.total(), wide(layer, unlimited, stats));
        for (level, counted) in counts.levels.iter().enumerate() {
            let wide = unlimited.map(|wide| wide.levels[level].total());
            let subject = RowSource { layer, counts, level, seen: counted.total(), errors, wide, stats };
            rows.push(LayerRow::new(&subject));
        }
    }
    rows
}

/// Returns the statistics of a layer with accumulators that hold every sum, if accumulators alone can
/// overflow in it: no products are packed and no product overflowed.
fn wide<'a>(
    layer: &MacLayer,
    unlimited: &'a [Option<LayerStats>],
    stats: StatsLevel,
) -> Option<&'a LayerStats> {
    let counts = unlimited.get(layer.node.index())?.as_ref()?;
    let alone = layer.packing == Packing::None && counts.total().product_events == 0;
    (alone && stats.counts_prefixes()).then_some(counts)
}

/// Returns the rows of every output channel of every accelerated layer.
///
/// `layers` holds the statistics per node, `stats` the level of statistics that was counted.
pub fn channel_rows(program: &Program, layers: &[Option<LayerStats>], stats: StatsLevel) -> Vec<ChannelRow> {
    let mut rows = Vec::new();
    for (layer, counts) in mac_layers(program, layers) {
        for (level, counted) in counts.levels.iter().enumerate() {
            for (channel, (&seen, &errors)) in counted.channels.iter().zip(&counts.channels).enumerate() {
                let subject = RowSource { layer, counts, level, seen, errors, wide: None, stats };
                rows.push(ChannelRow::new(&subject, channel));
            }
        }
    }
    rows
}

/// Returns the sum of a value over `rows`, e.g. the rows of one level over all layers.
pub(crate) fn sum<'a>(
    rows: impl IntoIterator<Item = &'a LayerRow>,
    value: impl Fn(&LayerRow) -> Option<u64>,
) -> Option<u64> {
    rows.into_iter().filter_map(value).fold(None, |sum, v| Some(sum.unwrap_or(0) + v))
}
