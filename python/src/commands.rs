//! Commands: a JSON request and the path of an output folder or file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit_files::{Existing, Target};
use guardbit_graph::DType;
use guardbit_hwmodels::PRESETS;
use guardbit_quantize::method::Method;
use guardbit_reports::{Column, Stored, TABLES, Table, compare_answer};
use guardbit_rtl_vectors::discriminate::{MAX_CANDIDATES, Named, Search, discriminate as find_inputs};
use guardbit_rtl_vectors::manifest::{Packing, Source};
use guardbit_rtl_vectors::whole::{
    ImageOrder, ImageSource, WholeRequest, diff_layer as compare_layer, export_whole,
};
use guardbit_rtl_vectors::{LayerParameters, Request, export, export_float};
use guardbit_sim::LayerCodes;
use guardbit_study::{
    Arguments, CodeType, Command, DEFAULT_BIAS_BITS, DEFAULT_TERMS, Observer, StudyError, candidates,
    layer_input, run_observed, sweep_observed, whole_input, write_comparison,
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
    let rtl = guardbit_study::ReferenceRtl {
        integer: guardbit_rtl_vectors::reference_rtl(),
        float: guardbit_rtl_vectors::float_unit_rtl,
    };
    let request = checked(asked.size_request(rtl))?;
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
    if asked.whole {
        return whole(py, &asked, &out, force, watcher, threads);
    }
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

/// Exports memory images of whole layers.
fn whole(
    py: Python<'_>,
    asked: &Arguments,
    out: &Path,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let order = asked.image_order.as_deref().unwrap_or("nhwc").parse::<ImageOrder>();
    let order = order.map_err(|error| Failure::usage(format!("image_order: {error}")))?;
    let run = checked(asked.vectors_request())?;
    let (name, sample) = (asked.layer.as_deref().unwrap_or_default(), asked.sample.unwrap_or(0));
    supervised(py, watcher, threads, Arc::default(), |remote| {
        let target = Target::claim_for(out, existing(force))?;
        let input = whole_input(&run, name, sample, remote)?;
        let [model, model_sha256] = input.model;
        let [accelerator, accelerator_sha256] = input.accelerator;
        let source =
            ImageSource { model, model_sha256, accelerator, accelerator_sha256, input: input.origin, sample };
        let request = WholeRequest { source, settings: asked.vectors_listed(&run), order };
        let whole = export_whole(&input.program, input.node, &input.tensors, &request)?;
        let mut staging = target.stage()?;
        staging.write_all(&whole.files)?;
        Ok(staging.publish(existing(force))?)
    })
}

/// Compares the output image of a design with that of a whole layer; returns JSON.
#[pyfunction]
#[pyo3(signature = (images, dut_ofm, layer=None, dut_sums=None))]
pub fn diff_layer(
    py: Python<'_>,
    images: PathBuf,
    dut_ofm: PathBuf,
    layer: Option<String>,
    dut_sums: Option<PathBuf>,
) -> PyResult<String> {
    let diff = py.detach(|| compare_layer(&images, &dut_ofm, layer.as_deref(), dut_sums.as_deref()));
    Ok(diff.map_err(Failure::from)?.json().to_string())
}

/// Finds inputs that tell accelerators apart.
#[pyfunction]
#[pyo3(signature = (arguments, out, force, watcher, threads=None))]
pub fn discriminate(
    py: Python<'_>,
    arguments: &str,
    out: PathBuf,
    force: bool,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let asked = request::read(Command::Discriminate, arguments)?;
    let all = checked(candidates(&asked, MAX_CANDIDATES))?;
    let int8 = CodeType { dtype: DType::Int8, zero_point: 0 };
    let [activation, weight] = [asked.activation, asked.weight].map(|codes| codes.unwrap_or(int8));
    let bias_bits = asked.bias_bits.unwrap_or(DEFAULT_BIAS_BITS as usize);
    let search = Search {
        layer: LayerParameters {
            terms: asked.terms.unwrap_or(DEFAULT_TERMS),
            activation: activation.dtype,
            activation_zero_point: activation.zero_point,
            weight: weight.dtype,
            weight_zero_point: weight.zero_point,
        },
        bias_bits: u32::try_from(bias_bits).unwrap_or(u32::MAX),
        seed: asked.seed.unwrap_or(0),
    };
    supervised(py, watcher, threads, Arc::default(), |_| {
        let target = Target::claim_for(&out, existing(force))?;
        let (names, accelerators): (Vec<_>, Vec<_>) =
            all.iter().map(|one| (one.label.clone(), one.accelerator.clone())).unzip();
        let found = find_inputs(&accelerators, &search, &mut |_, _| ())?;
        let mut staging = target.stage()?;
        Named { found: &found, names: &names, layer: search.layer }.write(&mut staging)?;
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
