//! Commands: a JSON request and the path of an output folder or file.

use std::path::PathBuf;
use std::sync::Arc;

use guardbit_files::{Existing, Target};
use guardbit_hwmodels::PRESETS;
use guardbit_quantize::method::Method;
use guardbit_reports::{Column, Stored, TABLES, Table, compare_answer};
use guardbit_rtl_vectors::manifest::{Packing, Source};
use guardbit_rtl_vectors::{Request, export, export_float};
use guardbit_sim::LayerCodes;
use guardbit_study::{
    Command, Observer, StudyError, layer_input, run_observed, sweep_observed, write_comparison,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::calibration::{OwnMethod, Raised, observer};
use crate::error::{Ended, Failure};
use crate::request::{self, each};
use crate::supervise::{Remote, supervised};

pub(crate) fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Refuse }
}

fn checked<T>(request: Result<T, StudyError>) -> Result<T, Failure> {
    request.map_err(|error| Ended::from(error).failure())
}

/// Returns the exception raised by a user's function in preference to the errors that followed from it.
fn unless_raised<T>(raised: &Raised, done: PyResult<T>) -> PyResult<T> {
    match raised.take() {
        // A signal that ended the work takes precedence over other errors.
        Some(error) if !matches!(&done, Err(other) if Python::attach(|py| is_interrupt(py, other))) => {
            Err(error)
        }
        _ => done,
    }
}

fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
}

/// Runs a network; `statistic` is called with every layer of every sample, and with its sums if `sums` is
/// set.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None, statistic=None, sums=false))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
    statistic: Option<Py<PyAny>>,
    sums: bool,
) -> PyResult<()> {
    let request = checked(request::read(Command::Run, arguments)?.run_request())?;
    let raised = Raised::default();
    let work = |remote: &Remote| {
        let mut own = statistic.as_ref().map(|function| observer(function, sums, &raised));
        let own = own.as_mut().map(|observer| observer as &mut Observer<'_>);
        run_observed(&request, Some(&out), existing(force), remote, own)?;
        Ok(())
    };
    let done = supervised(py, watcher, threads, raised.cancelled.clone(), work);
    unless_raised(&raised, done)
}

/// Runs a sweep, or a shard of one; `statistic` and `sums` have the meaning of [`run`].
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None, statistic=None, sums=false))]
#[allow(clippy::too_many_arguments)]
pub fn sweep(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
    statistic: Option<Py<PyAny>>,
    sums: bool,
) -> PyResult<()> {
    let request = checked(request::read(Command::Sweep, arguments)?.sweep_request())?;
    let raised = Raised::default();
    let done = supervised(py, watcher, threads, raised.cancelled.clone(), |remote| {
        let mut own = statistic.as_ref().map(|function| observer(function, sums, &raised));
        let own = own.as_mut().map(|observer| observer as &mut Observer<'_>);
        sweep_observed(&request, Some(&out), existing(force), remote, own)?;
        Ok(())
    });
    unless_raised(&raised, done)
}

/// Merges the shards of a sweep into one folder; with `partial`, shards may be missing or unfinished.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    partial: bool,
) -> PyResult<()> {
    supervised(py, watcher, Some(1), Arc::default(), |_| {
        match partial {
            true => drop(guardbit_study::merge_partial(&folders, &out, existing(force))?),
            false => drop(guardbit_study::merge(&folders, &out, existing(force))?),
        }
        Ok(())
    })
}

/// Finds the widths that a network needs.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None))]
pub fn size(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let asked = request::read(Command::Size, arguments)?;
    let request = checked(asked.size_request(guardbit_rtl_vectors::reference_rtl()))?;
    supervised(py, watcher, threads, Arc::default(), |remote| {
        guardbit_study::size(&request, Some(&out), existing(force), remote)?;
        Ok(())
    })
}

/// Explores designs of an accelerator.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None))]
pub fn explore(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let request = checked(request::read(Command::Explore, arguments)?.explore_request())?;
    supervised(py, watcher, threads, Arc::default(), |remote| {
        guardbit_study::explore(&request, Some(&out), existing(force), remote)?;
        Ok(())
    })
}

/// Compares finished results, and writes a page if one is named; returns JSON with the answer in a sentence.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    page: Option<PathBuf>,
    force: bool,
) -> PyResult<String> {
    let compared = py.detach(|| {
        let comparison = guardbit_study::compare(&folders)?;
        if let Some(page) = page {
            write_comparison(&comparison, &page, existing(force))?;
        }
        Ok(comparison)
    });
    let comparison = compared.map_err(|error: StudyError| Ended::from(error).failure())?;
    Ok(json!({"compared": comparison, "answer": compare_answer(&comparison)}).to_string())
}

/// Draws a column of finished results; returns JSON with the picture as SVG and its table.
#[pyfunction]
pub fn plot(py: Python<'_>, arguments: &str) -> PyResult<String> {
    let request = checked(request::read(Command::Plot, arguments)?.plot_request())?;
    let plotted = py.detach(|| guardbit_study::plot(&request));
    let plotted = plotted.map_err(|error| Ended::from(error).failure())?;
    Ok(json!({"svg": plotted.svg, "columns": plotted.columns, "rows": plotted.rows}).to_string())
}

/// Quantizes a float network. `method` and `weight_method` are functions that choose ranges instead of the
/// named methods.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None, method=None, weight_method=None))]
#[allow(clippy::too_many_arguments)]
pub fn quantize(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
    method: Option<(String, Py<PyAny>)>,
    weight_method: Option<(String, Py<PyAny>)>,
) -> PyResult<()> {
    let mut request = checked(request::read(Command::Quantize, arguments)?.quantize_request())?;
    let raised = Raised::default();
    request.config.cancelled = raised.cancelled.clone();
    let own =
        |(name, function)| -> Arc<dyn Method> { Arc::new(OwnMethod::new(function, name, raised.clone())) };
    if let Some(method) = method {
        request.config.method = own(method);
    }
    if let Some(method) = weight_method {
        request.config.weight_method = own(method);
    }
    let done = supervised(py, watcher, threads, raised.cancelled.clone(), |remote| {
        guardbit_study::quantize(&request, &out, existing(force), remote)?;
        Ok(())
    });
    unless_raised(&raised, done)
}

/// Exports a layer as test vectors.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None))]
pub fn vectors(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let asked = request::read(Command::Vectors, arguments)?;
    let (formats, waves) = (each("formats", &asked.formats())?, each("waves", &asked.waves)?);
    let run = checked(asked.vectors_request())?;
    let name = asked.layer.as_deref().unwrap_or_default();
    supervised(py, watcher, threads, Arc::default(), |remote| {
        let target = Target::claim_for(&out, existing(force))?;
        let layer = layer_input(&run, name, remote)?;
        let [model, model_sha256] = layer.model;
        let [accelerator, accelerator_sha256] = layer.accelerator;
        let (input, cases, seed) = (layer.origin, asked.cases(), asked.seed.unwrap_or(0));
        let source = Source { model, model_sha256, accelerator, accelerator_sha256, input, seed, cases };
        let packing = if asked.byte_slots { Packing::ByteSlot } else { Packing::Dense };
        let inputs: Vec<_> = layer.inputs.iter().map(LayerCodes::reads).collect();
        let settings = asked.vectors_listed(&run);
        let request = Request { source, settings, packing, formats, waves };
        let is_float = layer.program.float_layers().any(|float| float.node == layer.node);
        let files = match is_float {
            true => export_float(&layer.program, layer.node, &layer.float_inputs, &request)?.files,
            false => export(&layer.program, layer.node, &inputs, &request)?.files,
        };
        let mut staging = target.stage()?;
        staging.write_all(&files)?;
        Ok(staging.publish(existing(force))?)
    })
}

/// Returns every table that a command writes, as JSON: command, file and columns.
#[pyfunction]
pub fn tables() -> String {
    let column = |column: &Column| {
        let stored = match column.stored {
            Stored::Int64 => "int64",
            Stored::Decimal => "integer",
            Stored::Double => "float64",
            Stored::Boolean => "bool",
            Stored::Text => "text",
            Stored::Width => "width",
        };
        let Column { name, unit, optional, meaning, share_of, .. } = column;
        json!({"name": name, "type": stored, "unit": unit, "blank": optional, "meaning": meaning, "share_of": share_of})
    };
    let table = |table: &Table| {
        let columns: Vec<_> = table.columns.iter().map(column).collect();
        json!({"command": table.command, "file": table.file, "columns": columns})
    };
    serde_json::Value::from_iter(TABLES.iter().map(table)).to_string()
}

/// Returns a name in a form that is valid in graph YAML.
#[pyfunction]
pub fn plain_name(name: &str) -> String {
    guardbit_graph::plain_name(name).into_owned()
}

/// Returns a JSON schema: of `cost`, `graph`, `hw` or `study` files.
#[pyfunction]
pub fn schema(of: &str) -> PyResult<String> {
    match of {
        "cost" => Ok(guardbit_hwmodels::cost::cost_schema()),
        "graph" => Ok(guardbit_frontends::graph_schema()),
        "hw" => Ok(guardbit_hwmodels::schema()),
        "study" => Ok(guardbit_study::study_schema()),
        _ => Err(Failure::usage(format!("unknown schema `{of}`")).into()),
    }
}

/// Returns names and descriptions of the accelerators included in guardbit.
#[pyfunction]
pub fn presets() -> PyResult<Vec<(String, String)>> {
    let described = |name: &str| -> Result<_, Failure> {
        let accelerator = guardbit_hwmodels::load(name, &[])?;
        Ok((accelerator.name, accelerator.description))
    };
    Ok(PRESETS.iter().map(|preset| described(preset.name)).collect::<Result<_, _>>()?)
}

/// Returns an accelerator with every default filled in, as JSON.
#[pyfunction]
pub fn accelerator(hw: &str, set: Vec<String>) -> PyResult<String> {
    Ok(guardbit_hwmodels::load(hw, &set).map_err(Failure::from)?.resolved_json().to_string())
}
