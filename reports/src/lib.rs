//! Tables, plots and the HTML report.
//!
//! A simulation's statistics become plain records ([`RunRecord`], [`PointRecord`]); tables, plots and reports
//! are made of records alone, so that what was saved can be drawn again. Everything is a function of the
//! records: no time stamps, no randomness, equal bytes for equal records.

mod error;
mod figures;
mod findings;
mod html;
mod labels;
mod legal;
mod npz;
mod numbers;
mod output;
pub mod plots;
mod records;
mod score;
mod tables;
mod text;

pub use error::{NpzError, ReportError};
pub use figures::{Decibel, Fraction, Width};
pub use findings::{Finding, Question, run_findings, sweep_findings};
pub use labels::layer_label;
pub use npz::{ArrayWriter, NpzWriter, batch_shape, member_name};
pub use output::{About, quantize_documents, run_documents, size_documents, sweep_documents, sweep_paths};
pub use records::{
    DesignLevel, LayerActivity, LevelHistogram, NetworkTiming, PointRecord, QuantizeRecord, QuantizerRow,
    QuantizersRecord, RunRecord, SchemeRow, SchemesRecord, SizeRecord, TileRecord, WitnessRecord,
};
pub use score::{OutputError, Score, ScoreFigures};
pub use tables::{
    Cells, ChannelRow, Column, EventRow, HistogramRow, LayerRow, Parameter, PartRow, Row, SizeChannelRow,
    SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow, SummaryRow, SweepPoint, SweepRow, TensorRow,
    TradeOffRow, channel_rows, columns_text, event_rows, layer_rows, not_swept_text, sweep_rows,
    trapped_text, write_csv,
};
pub use text::{layers_text, parts_text, size_text, summary_text, text_table, tiles_text};
