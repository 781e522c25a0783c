//! The files of a run, of a sweep and of a sizing.

use guardbit_files::Document;

use serde::{Deserialize, Serialize};

use crate::html;
use crate::plots::{Drawing, Plot, QUANTIZE_PLOTS, RUN_PLOTS, SIZE_PLOTS, SWEEP_PLOTS};
use crate::tables::{Row, SummaryRow, SweepRow, sweep_rows, write_csv, write_csv_and};
use crate::{PointRecord, QuantizeRecord, ReportError, RunRecord, SizeRecord};

const REPORT: &str = "report.html";

/// What a report says about how its results were made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct About {
    /// Version of guardbit.
    pub version: String,
    /// Names and values of what was set and used, in the order in which they are listed.
    pub settings: Vec<(String, String)>,
    /// The accelerators, complete: name and YAML.
    pub accelerators: Vec<(String, String)>,
}

/// A plot with its drawing and the SVG document that shows it.
pub(crate) struct Drawn<S: ?Sized + 'static> {
    pub plot: &'static Plot<S>,
    pub drawing: Drawing,
    pub svg: String,
}

/// The tables, plots and report of a run.
///
/// # Errors
/// [`ReportError`] if a file cannot be made.
pub fn run_documents(about: &About, run: &RunRecord) -> Result<Vec<Document>, ReportError> {
    let tables = [table(&run.layers)?, table(&run.channels)?, table(&run.events)?];
    let drawn = draw(RUN_PLOTS, run)?;
    Ok(all(tables.into(), plots(&drawn)?, html::run(about, run, &drawn)))
}

/// The tables, plots and report of a sweep.
///
/// # Errors
/// [`ReportError`] if a file cannot be made.
pub fn sweep_documents(about: &About, points: &[PointRecord]) -> Result<Vec<Document>, ReportError> {
    let summary: Vec<SummaryRow> = points.iter().map(|point| point.summary.clone()).collect();
    let per_layer = |value: &str, point: &PointRecord| vec![value.to_owned(); point.layers.len()];
    let tables = [
        (
            SummaryRow::FILE.to_owned(),
            write_csv_and(&summary, &parameters(points, |value, _| vec![value.into()]))?,
        ),
        (SweepRow::FILE.to_owned(), write_csv_and(&sweep_rows(points), &parameters(points, per_layer))?),
    ];
    let whole: Vec<PointRecord> = points.iter().filter(|point| point.is_whole()).cloned().collect();
    let drawn = draw(SWEEP_PLOTS, whole.as_slice())?;
    Ok(all(tables.into(), plots(&drawn)?, html::sweep(about, points, &drawn)))
}

/// A column for every axis: its key, then as many cells per point as `cells` gives.
fn parameters(points: &[PointRecord], cells: impl Fn(&str, &PointRecord) -> Vec<String>) -> Vec<Vec<String>> {
    let column = |(index, key): (usize, &str)| {
        let values = points.iter().flat_map(|point| cells(&point.parameters[index].value, point));
        std::iter::once(key.to_owned()).chain(values).collect()
    };
    parameter_keys(points).into_iter().enumerate().map(column).collect()
}

/// The keys of the axes, in order.
pub(crate) fn parameter_keys(points: &[PointRecord]) -> Vec<&str> {
    points.first().map_or(Vec::new(), |point| point.parameters.iter().map(|one| one.key.as_str()).collect())
}

/// The paths of [`sweep_documents`].
pub fn sweep_paths() -> Vec<String> {
    let tables = [SummaryRow::FILE, SweepRow::FILE, REPORT].map(String::from);
    let plots = SWEEP_PLOTS.iter().flat_map(|plot| [svg_name(plot), png_name(plot)]);
    tables.into_iter().chain(plots).collect()
}

/// The tables, plots and report of a sizing.
///
/// # Errors
/// [`ReportError`] if a file cannot be made.
pub fn size_documents(about: &About, size: &SizeRecord) -> Result<Vec<Document>, ReportError> {
    let tables = [
        table(&size.layers)?,
        table(&size.channels)?,
        table(&size.levels)?,
        table(&size.grid)?,
        table(&size.rates)?,
    ];
    let drawn = draw(SIZE_PLOTS, size)?;
    Ok(all(tables.into(), plots(&drawn)?, html::size(about, size, &drawn)))
}

/// The tables, plots and report of a quantization.
///
/// # Errors
/// [`ReportError`] if a file cannot be made.
pub fn quantize_documents(about: &About, record: &QuantizeRecord) -> Result<Vec<Document>, ReportError> {
    let tables = [
        table(&record.parts)?,
        table(&record.tensors)?,
        table(&record.histograms)?,
        table(&record.layers)?,
        table(&record.tradeoffs)?,
    ];
    let drawn = draw(QUANTIZE_PLOTS, record)?;
    Ok(all(tables.into(), plots(&drawn)?, html::quantize(about, record, &drawn)))
}

fn all(tables: Vec<Document>, plots: Vec<Document>, report: String) -> Vec<Document> {
    tables.into_iter().chain(plots).chain([(REPORT.to_owned(), report.into_bytes())]).collect()
}

fn svg_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.svg", plot.name)
}

fn png_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.png", plot.name)
}

fn table<R: Row>(rows: &[R]) -> Result<Document, ReportError> {
    Ok((R::FILE.to_owned(), write_csv(rows)?))
}

fn draw<S: ?Sized>(plots: &'static [Plot<S>], record: &S) -> Result<Vec<Drawn<S>>, ReportError> {
    let draw = |plot: &'static Plot<S>| {
        let drawing = plot.draw(record)?;
        let svg = plot.svg(&drawing)?;
        Ok(Drawn { plot, drawing, svg })
    };
    plots.iter().map(draw).collect()
}

/// PNG files are made side by side, since each takes its time.
fn plots<S: ?Sized>(drawn: &[Drawn<S>]) -> Result<Vec<Document>, ReportError> {
    let files = |drawn: &Drawn<S>| -> Result<[Document; 2], ReportError> {
        let png = drawn.plot.png(&drawn.svg)?;
        Ok([(svg_name(drawn.plot), drawn.svg.clone().into_bytes()), (png_name(drawn.plot), png)])
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = drawn.iter().map(|drawn| scope.spawn(move || files(drawn))).collect();
        let made = threads.into_iter().map(|thread| thread.join().expect("drawing does not panic"));
        Ok(made.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}
