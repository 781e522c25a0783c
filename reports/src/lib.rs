//! Tables, plots and the HTML report.
//!
//! Statistics of a simulation become plain records ([`RunRecord`], [`PointRecord`]). Tables, plots and
//! reports are drawn from records alone, so that saved results can be drawn again. Equal records produce
//! equal bytes: documents contain no time stamps and no randomness.

mod about;
mod coverage;
mod error;
mod figures;
mod findings;
mod html;
mod labels;
mod legal;
mod npz;
mod numbers;
mod output;
mod parameters;
pub mod plots;
mod predictions;
mod records;
mod score;
mod statistics;
mod tables;
mod text;
mod trace;

pub use about::{About, Pages};
pub use coverage::coverage_text;
pub use error::{NpzError, ReportError};
pub use figures::{Decibel, Fraction, Width};
pub use findings::{
    Finding, Question, compare_answer, explore_answer, quantize_answer, run_answer, run_findings,
    size_answer, sweep_answer, sweep_findings,
};
pub use labels::layer_label;
pub use npz::{ArrayWriter, NpzWriter, batch_shape, member_name};
pub use numbers::{counted, duration, figure, grouped, human, number, percentage, probability};
pub use output::{
    accelerator_picture, compare_page, explore_documents, explore_paths, pages_of, quantize_documents,
    run_documents, run_parquet, sample_parquet, size_documents, size_parquet, sweep_documents, sweep_parquet,
    sweep_parquet_paths, sweep_paths,
};
pub use plots::{Medium, PlotFont, PlotSize, PlotStyle};
pub use predictions::{OutcomeKind, Outcomes, PerSample, PredictedOutput, Predictions, Verdict};
pub use records::{
    Compared, ComparedPoint, ComparedRow, Comparison, CostRecord, CoverageRecord, CurvePoint, CurvesRecord,
    DesignLevel, DesignRecord, ExploreCost, ExploreRecord, HostLayer, LayerActivity, LayerDesign,
    LevelDesign, LevelHistogram, NetworkTiming, PointRecord, QuantizeRecord, QuantizerRow, QuantizersRecord,
    RunRecord, SchemeRow, SchemesRecord, SizeRecord, SumBins, SumHistogram, SumKind, TileRecord,
    WitnessRecord, quantized_weights_in_float,
};
pub use score::{LabelError, Loss, OutputError, Score, ScoreFigures, Task};
pub use statistics::{Discordant, Interval, McNemar, McNemarTest, auc, wilson};
pub use tables::{
    AlignedBitsRow, AlignedRow, BottleneckRow, Cells, ChannelRow, ClassRow, Column, CostRow, EventRow,
    HeatMapRow, HistogramRow, HostRow, LayerRow, PairRow, Parameter, ParquetError, PartRow, PointRow,
    ProofRow, RequiredBitsRow, Row, SampleRow, SensitivityRow, SizeBitsRow, SizeChannelRow, SizeFloatRow,
    SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow, Stored, SumRow, SummaryRow, SweepAlignedRow,
    SweepClassRow, SweepPoint, SweepRequiredBitsRow, SweepRow, TABLES, Table, TensorRow, TimelineRow,
    TradeOffRow, aligned_bits_rows, aligned_rows, beside_text, bottleneck_rows, channel_rows, columns_text,
    cost_rows, event_rows, layer_rows, not_swept_text, pair_rows, short_key, sweep_aligned_rows,
    sweep_class_rows, sweep_rows, trapped_text, write_csv, write_csv_pieces,
};
pub use text::{
    View, aligned_text, compare_text, doubled_text, explore_text, fraction_bits_text, layers_text,
    parts_text, proofs_text, rates_text, sensitivity_text, size_text, summary_text, text_table, tiles_text,
    worth, wrapped_table,
};
pub use trace::{TRACE_START, trace};
