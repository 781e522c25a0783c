//! Collects the files of a run, a sweep, a sizing, an exploration and a quantization.

use std::borrow::Cow;

use guardbit_files::Document;
use guardbit_hwmodels::Accelerator;
use rayon::prelude::*;

use crate::about::{About, Pages};
use crate::html;
use crate::parameters::parameter_columns;
use crate::plots::{
    Drawn, EXPLORE_PLOTS, FLOAT_PLOTS, OVERFLOW_PLOTS, Plot, PlotStyle, QUANTIZE_PLOTS, RUN_PLOTS,
    SIZE_FLOAT_PLOTS, SIZE_PLOTS, SUM_PLOTS, SWEEP_PLOTS,
};
use crate::tables::{
    PARETO, PairRow, PointRow, RequiredBitsRow, Row, SampleRow, SensitivityRow, SumRow, SummaryRow,
    SweepAlignedRow, SweepClassRow, SweepRequiredBitsRow, SweepRow, pair_rows, parquet_name,
    sweep_aligned_rows, sweep_class_rows, sweep_required_bits_rows, sweep_rows, write_csv_and, write_parquet,
};
use crate::{
    Comparison, ExploreRecord, LayerActivity, LevelHistogram, PointRecord, QuantizeRecord, ReportError,
    RunRecord, SizeRecord, SumHistogram,
};

const REPORT: &str = "report.html";
/// Names of all tables that a sweep may have.
const SWEEP_TABLES: [&str; 6] = [
    SummaryRow::FILE,
    SweepRow::FILE,
    SweepAlignedRow::FILE,
    SweepClassRow::FILE,
    PairRow::FILE,
    SweepRequiredBitsRow::FILE,
];

/// Returns the tables, plots and report of a run, except `samples.csv`, whose length is that of the input: see
/// [`write_csv_pieces`](crate::write_csv_pieces).
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn run_documents(about: &About, run: &RunRecord) -> Result<Vec<Document>, ReportError> {
    let mut drawn = draw(about, RUN_PLOTS, run)?;
    // Without a layer on the accelerator, the plots say so.
    if !run.layers.is_empty() || run.aligned.is_empty() {
        drawn.extend(draw(about, OVERFLOW_PLOTS, run)?);
    }
    if !run.aligned.is_empty() {
        drawn.extend(draw(about, FLOAT_PLOTS, run)?);
    }
    if !run.sums.is_empty() {
        drawn.extend(draw(about, SUM_PLOTS, run)?);
    }
    all(about, run_tables::<Csv>(run)?, run, &drawn, || html::run(about, run, &drawn))
}

fn run_tables<E: Encoding>(run: &RunRecord) -> Result<Vec<Document>, ReportError> {
    let mut tables = vec![
        E::table(&run.layers)?,
        E::table(&run.channels)?,
        E::table(&run.events)?,
        E::table(&run.classes)?,
        E::table(&run.bottlenecks)?,
        E::table(&run.timing.host)?,
    ];
    if !run.aligned.is_empty() {
        tables.push(E::table(&run.aligned)?);
    }
    if !run.aligned_bits.is_empty() {
        tables.push(E::table(&run.aligned_bits)?);
    }
    if !run.costs.is_empty() {
        tables.push(E::table(&run.cost_rows)?);
    }
    let plotted: Vec<RequiredBitsRow> = run.histograms.iter().flat_map(LevelHistogram::rows).collect();
    if !plotted.is_empty() {
        tables.push(E::table(&plotted)?);
    }
    if !run.activity.is_empty() {
        tables
            .push(E::table(&run.activity.iter().flat_map(LayerActivity::timeline_rows).collect::<Vec<_>>())?);
        tables
            .push(E::table(&run.activity.iter().flat_map(LayerActivity::heat_map_rows).collect::<Vec<_>>())?);
    }
    if !run.sums.is_empty() {
        let rows: Vec<SumRow> = run.sums.iter().flat_map(SumHistogram::rows).collect();
        tables.push(E::table(&rows)?);
    }
    Ok(tables)
}

/// Returns the tables, plots and report of a sweep.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn sweep_documents(about: &About, points: &[PointRecord]) -> Result<Vec<Document>, ReportError> {
    let whole = match points.iter().all(PointRecord::is_whole) {
        true => Cow::Borrowed(points),
        false => points.iter().filter(|point| point.is_whole()).cloned().collect(),
    };
    let mut drawn = draw(about, SWEEP_PLOTS, whole.as_ref())?;
    // Floating-point layers have no level whose width is swept.
    if PointRecord::are_float(&whole) {
        drawn.retain(|drawn| ["axes", "overlay"].contains(&drawn.plot.name));
    }
    all(about, sweep_tables::<Csv>(points)?, whole.as_ref(), &drawn, || html::sweep(about, points, &drawn))
}

fn sweep_tables<E: Encoding>(points: &[PointRecord]) -> Result<Vec<Document>, ReportError> {
    let summary: Vec<SummaryRow> = points.iter().map(|point| point.summary.clone()).collect();
    let of_points = parameters(points, |value, _| vec![value.into()]);
    let of_layers = parameters(points, |value, point| vec![value.to_owned(); point.layers.len()]);
    let mut tables = vec![
        E::table_and(&summary, &of_points)?,
        E::table_and(&sweep_rows(points), &of_layers)?,
        E::table(&sweep_class_rows(points))?,
        E::table(&pair_rows(points))?,
    ];
    if points.iter().any(|point| !point.aligned.is_empty()) {
        let of_layers = parameters(points, |value, point| vec![value.to_owned(); point.aligned.len()]);
        tables.push(E::table_and(&sweep_aligned_rows(points), &of_layers)?);
    }
    if points.iter().any(|point| !point.histograms.is_empty()) {
        tables.push(E::table(&sweep_required_bits_rows(points))?);
    }
    Ok(tables)
}

/// Returns a list per axis: its key, then the cells that `cells` returns for every point.
fn parameters(points: &[PointRecord], cells: impl Fn(&str, &PointRecord) -> Vec<String>) -> Vec<Vec<String>> {
    let column = |(index, name): (usize, String)| {
        let values = points.iter().flat_map(|point| cells(&point.parameters[index].value, point));
        std::iter::once(name).chain(values).collect()
    };
    parameter_columns(points).into_iter().enumerate().map(column).collect()
}

/// Returns the tables of a run as Parquet files, except that of [`sample_parquet`].
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn run_parquet(run: &RunRecord) -> Result<Vec<Document>, ReportError> {
    run_tables::<Parquet>(run)
}

/// Returns the table of samples as a Parquet file.
///
/// # Errors
/// [`ReportError`] if the document cannot be produced.
pub fn sample_parquet(rows: &[SampleRow]) -> Result<Document, ReportError> {
    Parquet::table(rows)
}

/// Returns the tables of a sweep as Parquet files.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn sweep_parquet(points: &[PointRecord]) -> Result<Vec<Document>, ReportError> {
    sweep_tables::<Parquet>(points)
}

/// Returns the paths of the documents of [`sweep_parquet`].
pub fn sweep_parquet_paths() -> Vec<String> {
    SWEEP_TABLES.map(parquet_name).into()
}

/// Returns the tables of a sizing as Parquet files.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn size_parquet(size: &SizeRecord) -> Result<Vec<Document>, ReportError> {
    size_tables::<Parquet>(size)
}

fn size_tables<E: Encoding>(size: &SizeRecord) -> Result<Vec<Document>, ReportError> {
    let mut tables = vec![
        E::table(&size.layers)?,
        E::table(&size.channels)?,
        E::table(&size.levels)?,
        E::table(&size.grid)?,
        E::table(&size.rates)?,
    ];
    if !size.float_layers.is_empty() {
        tables.extend([E::table(&size.fraction_bits)?, E::table(&size.float_layers)?]);
    }
    Ok(tables)
}

/// Returns the paths of all documents that [`sweep_documents`] may return.
pub fn sweep_paths() -> Vec<String> {
    let plots = SWEEP_PLOTS.iter().flat_map(|plot| [svg_name(plot), png_name(plot), pdf_name(plot)]);
    SWEEP_TABLES.map(String::from).into_iter().chain([REPORT.to_owned()]).chain(plots).collect()
}

/// Returns the tables, plots and report of a sizing.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn size_documents(about: &About, size: &SizeRecord) -> Result<Vec<Document>, ReportError> {
    let mut drawn = Vec::new();
    // Without a layer on the accelerator, the plots say so.
    if !size.layers.is_empty() || size.fraction_bits.is_empty() {
        drawn.extend(draw(about, SIZE_PLOTS, size)?);
    }
    if !size.fraction_bits.is_empty() {
        drawn.extend(draw(about, SIZE_FLOAT_PLOTS, size)?);
    }
    all(about, size_tables::<Csv>(size)?, size, &drawn, || html::size(about, size, &drawn))
}

/// Returns the tables, plots and report of an exploration.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn explore_documents(about: &About, record: &ExploreRecord) -> Result<Vec<Document>, ReportError> {
    let rows = |indices: &[usize]| -> Result<Vec<u8>, ReportError> {
        let chosen: Vec<PointRow> = indices.iter().map(|&index| record.rows[index].clone()).collect();
        let axes = record.parameters.first().map_or(0, Vec::len);
        let column = |axis: usize| {
            let key = record.parameters[0][axis].key.clone();
            let values = indices.iter().map(|&index| record.parameters[index][axis].value.clone());
            std::iter::once(key).chain(values).collect()
        };
        write_csv_and(&chosen, &(0..axes).map(column).collect::<Vec<Vec<String>>>())
    };
    let all_rows: Vec<usize> = (0..record.rows.len()).collect();
    let tables = vec![
        (PARETO.to_owned(), rows(&record.front())?),
        (PointRow::FILE.to_owned(), rows(&all_rows)?),
        Csv::table(&record.sensitivity)?,
    ];
    let drawn = draw(about, EXPLORE_PLOTS, record)?;
    all(about, tables, record, &drawn, || html::explore(about, record, &drawn))
}

/// Returns the paths of all documents that [`explore_documents`] may return.
pub fn explore_paths() -> Vec<String> {
    let tables = [PARETO, PointRow::FILE, SensitivityRow::FILE, REPORT].map(String::from);
    let plots = EXPLORE_PLOTS.iter().flat_map(|plot| [svg_name(plot), png_name(plot), pdf_name(plot)]);
    tables.into_iter().chain(plots).collect()
}

/// Returns the tables, plots and report of a quantization.
///
/// # Errors
/// [`ReportError`] if a document cannot be produced.
pub fn quantize_documents(about: &About, record: &QuantizeRecord) -> Result<Vec<Document>, ReportError> {
    let tables = [
        Csv::table(&record.parts)?,
        Csv::table(&record.tensors)?,
        Csv::table(&record.histograms)?,
        Csv::table(&record.layers)?,
        Csv::table(&record.proofs)?,
        Csv::table(&record.tradeoffs)?,
    ];
    let drawn = draw(about, QUANTIZE_PLOTS, record)?;
    all(about, tables.into(), record, &drawn, || html::quantize(about, record, &drawn))
}

/// Returns the drawing of an accelerator as an SVG document, and its description in words.
pub fn accelerator_picture(accelerator: &Accelerator) -> (String, String) {
    html::accelerator_picture(accelerator)
}

/// Returns the page of a comparison of finished results.
pub fn compare_page(about: &About, compared: &Comparison) -> String {
    html::compare(about, compared)
}

fn all<S: ?Sized + Sync>(
    about: &About,
    tables: Vec<Document>,
    record: &S,
    drawn: &[Drawn<S>],
    report: impl FnOnce() -> String,
) -> Result<Vec<Document>, ReportError> {
    let Pages { plots: own, report: page, style } = about.pages;
    let mut all = tables;
    if own {
        all.extend(plots(record, drawn, &style)?);
    }
    all.extend(page.then(|| (REPORT.to_owned(), report().into_bytes())));
    Ok(all)
}

/// Returns the kinds of documents, in addition to tables, in a folder of a sweep or an exploration. `has`
/// returns whether the folder contains a path.
pub fn pages_of(has: impl Fn(&str) -> bool) -> Pages {
    let mut plots = SWEEP_PLOTS.iter().map(svg_name).chain(EXPLORE_PLOTS.iter().map(svg_name));
    Pages { plots: plots.any(|path| has(&path)), report: has(REPORT), ..Pages::default() }
}

fn svg_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.svg", plot.name)
}

fn png_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.png", plot.name)
}

fn pdf_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.pdf", plot.name)
}

/// File format of tables. Every list of tables can be written in each format.
trait Encoding {
    /// Returns a table with further columns after those of its rows. Each further column holds its heading,
    /// then its cells.
    fn table_and<R: Row>(rows: &[R], more: &[Vec<String>]) -> Result<Document, ReportError>;

    fn table<R: Row>(rows: &[R]) -> Result<Document, ReportError> {
        Self::table_and(rows, &[])
    }
}

struct Csv;

impl Encoding for Csv {
    fn table_and<R: Row>(rows: &[R], more: &[Vec<String>]) -> Result<Document, ReportError> {
        Ok((R::FILE.to_owned(), write_csv_and(rows, more)?))
    }
}

struct Parquet;

impl Encoding for Parquet {
    fn table_and<R: Row>(rows: &[R], more: &[Vec<String>]) -> Result<Document, ReportError> {
        Ok((parquet_name(R::FILE), write_parquet(rows, more)?))
    }
}

/// Draws the plots, unless neither files nor the report show them.
fn draw<S: ?Sized>(
    about: &About,
    plots: &'static [Plot<S>],
    record: &S,
) -> Result<Vec<Drawn<S>>, ReportError> {
    if !about.pages.plots && !about.pages.report {
        return Ok(Vec::new());
    }
    let draw = |plot: &'static Plot<S>| {
        let drawing = plot.draw(record)?;
        let svg = plot.svg(&drawing, &PlotStyle::default())?;
        Ok(Drawn { plot, drawing, svg })
    };
    plots.iter().map(draw).collect()
}

/// Returns the files of plots in a style: SVG, PNG and, for a paper, PDF. They are rendered in parallel because
/// each takes a noticeable time. `drawn` are the plots for a screen.
fn plots<S: ?Sized + Sync>(
    record: &S,
    drawn: &[Drawn<S>],
    style: &PlotStyle,
) -> Result<Vec<Document>, ReportError> {
    let files = |drawn: &Drawn<S>| -> Result<Vec<Document>, ReportError> {
        let plot = drawn.plot;
        let svg = match *style == PlotStyle::default() {
            true => drawn.svg.clone(),
            false => plot.svg(&plot.draw_in(record, style)?, style)?,
        };
        let pdf = style.has_pdf().then(|| Ok((pdf_name(plot), plot.pdf(&svg)?))).transpose()?;
        let png = (png_name(plot), plot.png(&svg, style)?);
        Ok([(svg_name(plot), svg.into_bytes()), png].into_iter().chain(pdf).collect())
    };
    let made: Vec<_> = drawn.par_iter().map(files).collect();
    Ok(made.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}
