//! Extension module of the Python package `guardbit`: arguments come as JSON, results go to folders, and
//! errors become exceptions. The Python interface is in `python/guardbit`; computations are in the other
//! crates.

mod arrays;
mod calibration;
mod commands;
mod error;
mod network;
mod request;
mod supervise;
mod unit;

use pyo3::prelude::*;

#[pymodule]
fn _guardbit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MOST_THREADS", guardbit_study::MOST_THREADS)?;
    module.add("MOST_POINTS", guardbit_study::MAX_POINTS)?;
    module.add_class::<network::Network>()?;
    module.add_class::<unit::MacUnit>()?;
    module.add_class::<unit::LevelOutputs>()?;
    module.add_function(wrap_pyfunction!(commands::run, module)?)?;
    module.add_function(wrap_pyfunction!(commands::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(commands::merge, module)?)?;
    module.add_function(wrap_pyfunction!(commands::size, module)?)?;
    module.add_function(wrap_pyfunction!(commands::explore, module)?)?;
    module.add_function(wrap_pyfunction!(commands::compare, module)?)?;
    module.add_function(wrap_pyfunction!(commands::plot, module)?)?;
    module.add_function(wrap_pyfunction!(commands::quantize, module)?)?;
    module.add_function(wrap_pyfunction!(commands::vectors, module)?)?;
    module.add_function(wrap_pyfunction!(commands::diff_layer, module)?)?;
    module.add_function(wrap_pyfunction!(commands::discriminate, module)?)?;
    module.add_function(wrap_pyfunction!(commands::tables, module)?)?;
    module.add_function(wrap_pyfunction!(commands::plain_name, module)?)?;
    module.add_function(wrap_pyfunction!(commands::schema, module)?)?;
    module.add_function(wrap_pyfunction!(commands::presets, module)?)?;
    module.add_function(wrap_pyfunction!(commands::accelerator, module)?)
}
