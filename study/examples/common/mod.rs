//! Helpers shared by the benchmarks.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use guardbit_graph::Graph;

/// Error of a benchmark.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Codes of every input, per sample.
pub type Samples = Vec<Vec<Vec<i32>>>;

/// Loads a network, named after its file, and `count` samples from an array of int8 codes, repeated as
/// needed.
pub fn load(model: &Path, images: &Path, count: usize) -> Result<(String, Arc<Graph>, Samples), Failure> {
    let graph = Arc::new(guardbit_frontends::load(model)?);
    let length = graph.tensor(graph.inputs()[0]).ty.len();
    let images: ndarray::ArrayD<i8> = ndarray_npy::read_npy(images)?;
    let codes: Vec<i32> = images.iter().map(|&code| code.into()).collect();
    let images: Vec<_> = codes.chunks_exact(length).map(<[i32]>::to_vec).collect();
    let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, graph, images.into_iter().map(|image| vec![image]).cycle().take(count).collect()))
}

/// Returns the CPU seconds of this thread as counted by Linux, so that other processes do not count.
pub fn cpu_seconds() -> Option<f64> {
    // Linux updates the count when a thread yields, otherwise every few milliseconds.
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(times.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e9)
}
