//! Tables, one file each. Their columns and the meaning of these are a file format on which users rely.

mod aligned;
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
mod kept;
mod layers;
mod mac_layers;
mod not_swept;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod plots;
mod quantize;
mod samples;
mod size;
mod summary;
mod sums;
mod sweep;
mod sweep_aligned;
mod sweep_classes;
mod sweep_point;
mod table;
mod trapped;
#[cfg(not(feature = "parquet"))]
mod without_parquet;

pub use self::aligned::{AlignedBitsRow, AlignedRow, aligned_bits_rows, aligned_rows};
pub use self::beside::beside_text;
pub use self::bottlenecks::{BottleneckRow, bottleneck_rows};
pub use self::costs::{CostRow, cost_rows};
pub(crate) use self::csv::write_csv_and;
pub use self::csv::{Cells, write_csv, write_csv_pieces};
pub use self::host::HostRow;
pub use self::parquet::ParquetError;
pub(crate) use self::parquet::write_parquet;
#[cfg(not(feature = "parquet"))]
use self::without_parquet as parquet;
pub use classes::ClassRow;
pub use dictionary::{TABLES, Table, columns_text};
pub use events::{EventRow, event_rows};
pub(crate) use explore::PARETO;
pub use explore::{PointRow, SensitivityRow};
pub(crate) use layers::sum;
pub use layers::{ChannelRow, LayerRow, channel_rows, layer_rows};
pub(crate) use mac_layers::{mac_layers, register};
pub use not_swept::not_swept_text;
pub use pairs::{PairRow, pair_rows};
pub use plots::{HeatMapRow, RequiredBitsRow, SweepRequiredBitsRow, TimelineRow, sweep_required_bits_rows};
pub use quantize::{HistogramRow, PartRow, ProofRow, TensorRow, TradeOffRow};
pub use samples::SampleRow;
pub use size::{SizeBitsRow, SizeChannelRow, SizeFloatRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};
pub use summary::SummaryRow;
pub use sums::SumRow;
pub use sweep::{SweepRow, sweep_rows};
pub use sweep_aligned::{SweepAlignedRow, sweep_aligned_rows};
pub use sweep_classes::{SweepClassRow, sweep_class_rows};
pub use sweep_point::{Parameter, SweepPoint, short_key};
pub use table::{Column, Row, Stored};
pub use trapped::trapped_text;

/// Returns the name of the Parquet file that corresponds to a CSV file.
pub(crate) fn parquet_name(csv: &str) -> String {
    format!("{}.parquet", csv.trim_end_matches(".csv"))
}
