//! The files of a run, of a sweep and of a sizing: which there are, and writing them.

use std::path::Path;

use crate::html;
use crate::plots::{Drawing, Plot, RUN_PLOTS, SIZE_PLOTS, SWEEP_PLOTS};
use crate::tables::{
    ChannelRow, EventRow, LayerRow, Row, SizeChannelRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow,
    SummaryRow, SweepRow, sweep_rows, write_csv,
};
use crate::{PointRecord, ReportError, RunRecord, SizeRecord, write_atomic};

const REPORT: &str = "report.html";

/// What a report says about how its results were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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

/// The files that [`write_run`] writes, relative to its folder.
pub fn run_files() -> Vec<String> {
    file_names(&[LayerRow::FILE, ChannelRow::FILE, EventRow::FILE], RUN_PLOTS)
}

/// The files that [`write_sweep`] writes, relative to its folder.
pub fn sweep_files() -> Vec<String> {
    file_names(&[SummaryRow::FILE, SweepRow::FILE], SWEEP_PLOTS)
}

/// Writes the tables, plots and report of a run.
///
/// # Errors
/// [`ReportError`] if a file cannot be made or written.
pub fn write_run(folder: &Path, about: &About, run: &RunRecord) -> Result<(), ReportError> {
    write_table(folder, &run.layers)?;
    write_table(folder, &run.channels)?;
    write_table(folder, &run.events)?;
    let drawn = draw(RUN_PLOTS, run)?;
    write_plots(folder, &drawn)?;
    write_atomic(&folder.join(REPORT), html::run(about, run, &drawn).as_bytes())
}

/// Writes the tables, plots and report of a sweep.
///
/// # Errors
/// [`ReportError`] if a file cannot be made or written.
pub fn write_sweep(folder: &Path, about: &About, points: &[PointRecord]) -> Result<(), ReportError> {
    let summary: Vec<SummaryRow> = points.iter().map(|point| point.summary.clone()).collect();
    write_table(folder, &summary)?;
    write_table(folder, &sweep_rows(points))?;
    let drawn = draw(SWEEP_PLOTS, points)?;
    write_plots(folder, &drawn)?;
    write_atomic(&folder.join(REPORT), html::sweep(about, points, &drawn).as_bytes())
}

/// The files that [`write_size`] writes, relative to its folder.
pub fn size_files() -> Vec<String> {
    let tables =
        [SizeRow::FILE, SizeChannelRow::FILE, SizeLevelRow::FILE, SizeGridRow::FILE, SizeRateRow::FILE];
    file_names(&tables, SIZE_PLOTS)
}

/// Writes the tables, plots and report of a sizing.
///
/// # Errors
/// [`ReportError`] if a file cannot be made or written.
pub fn write_size(folder: &Path, about: &About, size: &SizeRecord) -> Result<(), ReportError> {
    write_table(folder, &size.layers)?;
    write_table(folder, &size.channels)?;
    write_table(folder, &size.levels)?;
    write_table(folder, &size.grid)?;
    write_table(folder, &size.rates)?;
    let drawn = draw(SIZE_PLOTS, size)?;
    write_plots(folder, &drawn)?;
    write_atomic(&folder.join(REPORT), html::size(about, size, &drawn).as_bytes())
}

fn file_names<S: ?Sized>(tables: &[&str], plots: &[Plot<S>]) -> Vec<String> {
    let tables = tables.iter().map(|&name| name.to_owned());
    let plots = plots.iter().flat_map(|plot| [svg_name(plot), png_name(plot)]);
    tables.chain(plots).chain([REPORT.to_owned()]).collect()
}

fn svg_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.svg", plot.name)
}

fn png_name<S: ?Sized>(plot: &Plot<S>) -> String {
    format!("plots/{}.png", plot.name)
}

fn write_table<R: Row>(folder: &Path, rows: &[R]) -> Result<(), ReportError> {
    write_atomic(&folder.join(R::FILE), &write_csv(rows)?)
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
fn write_plots<S: ?Sized>(folder: &Path, drawn: &[Drawn<S>]) -> Result<(), ReportError> {
    let write = |drawn: &Drawn<S>| {
        write_atomic(&folder.join(svg_name(drawn.plot)), drawn.svg.as_bytes())?;
        write_atomic(&folder.join(png_name(drawn.plot)), &drawn.plot.png(&drawn.svg)?)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = drawn.iter().map(|drawn| scope.spawn(move || write(drawn))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("drawing does not panic"))
    })
}
