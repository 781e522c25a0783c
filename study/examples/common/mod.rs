//! What the benchmarks share.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use guardbit_graph::Graph;

/// What goes wrong.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Per sample, the codes of every input.
pub type Samples = Vec<Vec<Vec<i32>>>;

/// A network under the name of its file, and `count` samples from an array of int8 codes, taken in turn.
pub fn load(model: &Path, images: &Path, count: usize) -> Result<(String, Arc<Graph>, Samples), Failure> {
    let graph = Arc::new(guardbit_frontends::load(model)?);
    let length = graph.tensor(graph.inputs()[0]).ty.len();
    let images: ndarray::ArrayD<i8> = ndarray_npy::read_npy(images)?;
    let codes: Vec<i32> = images.iter().map(|&code| code.into()).collect();
    let images: Vec<_> = codes.chunks_exact(length).map(<[i32]>::to_vec).collect();
    let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, graph, images.into_iter().map(|image| vec![image]).cycle().take(count).collect()))
}

/// Seconds that this thread has run so far, as Linux counts them: what other processes took does not count.
pub fn cpu_seconds() -> Option<f64> {
    // Linux brings the count up to date where a thread gives way, else every few milliseconds.
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(times.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e9)
}
