//! Tables, one file each. Their columns and the meaning of these are a file format on which users rely.

pub mod arrays;
mod beside;
mod bottlenecks;
mod classes;
mod costs;
mod csv;
mod dictionary;
mod events;
mod explore;
mod host;
mod layers;
mod not_swept;
mod pairs;
mod parquet;
mod plots;
mod quantize;
mod samples;
mod size;
mod summary;
mod sums;
mod sweep;
mod table;
mod trapped;

use guardbit_hwmodels::{MacLayer, Program, Register, Step};
use guardbit_sim::LayerStats;

pub use self::beside::beside_text;
pub use self::bottlenecks::{BottleneckRow, bottleneck_rows};
pub use self::costs::{CostRow, cost_rows};
pub(crate) use self::csv::write_csv_and;
pub use self::csv::{Cells, write_csv};
pub use self::host::HostRow;
pub(crate) use self::parquet::{parquet_name, write_parquet};
pub use classes::{ClassRow, SweepClassRow, sweep_class_rows};
pub use dictionary::{TABLES, Table, columns_text};
pub use events::{EventRow, event_rows};
pub(crate) use explore::PARETO;
pub use explore::{PointRow, SensitivityRow};
pub use layers::{ChannelRow, LayerRow, channel_rows, layer_rows};
pub use not_swept::not_swept_text;
pub use pairs::{PairRow, pair_rows};
pub use plots::{HeatMapRow, RequiredBitsRow, SweepRequiredBitsRow, TimelineRow, sweep_required_bits_rows};
pub use quantize::{HistogramRow, PartRow, ProofRow, TensorRow, TradeOffRow};
pub use samples::SampleRow;
pub use size::{SizeChannelRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};
pub use summary::short_key;
pub use summary::{Parameter, SummaryRow, SweepPoint};
pub use sums::SumRow;
pub use sweep::{SweepRow, sweep_rows};
pub use table::{Column, Row, Stored};
pub use trapped::trapped_text;

use crate::Width;

/// Returns the accelerated layers with their statistics, in order of execution.
pub(crate) fn mac_layers<'a>(
    program: &'a Program,
    layers: &'a [Option<LayerStats>],
) -> impl Iterator<Item = (&'a MacLayer, &'a LayerStats)> {
    program.steps.iter().zip(layers).filter_map(|(step, stats)| match (step, stats) {
        (Step::Mac(layer), Some(stats)) => Some((layer.as_ref(), stats)),
        _ => None,
    })
}

/// Returns the width of a register, and its overflow mode if the width is limited.
pub(crate) fn register(register: Register) -> (Width, Option<String>) {
    match register {
        Register::Auto => (Width::Auto, None),
        Register::Fixed { format, overflow } => {
            (Width::Bits(format.bits()), Some(overflow.name().to_owned()))
        }
    }
}

/// Returns the sum of a value over `rows`, e.g. the rows of one level over all layers.
pub(crate) fn sum<'a>(
    rows: impl IntoIterator<Item = &'a LayerRow>,
    value: impl Fn(&LayerRow) -> Option<u64>,
) -> Option<u64> {
    rows.into_iter().filter_map(value).fold(None, |sum, v| Some(sum.unwrap_or(0) + v))
}
