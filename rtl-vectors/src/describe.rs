//! Describes the layer in the manifest, apart from its arithmetic: types, geometry and formulas.

use guardbit_graph::{Graph, TensorId, Window};
use guardbit_hwmodels::MacLayer;
use guardbit_num::Scheme;

use crate::manifest::{TensorInfo, WindowInfo};

/// Returns the activations, the weights and the output of `layer`.
pub(crate) fn tensors(graph: &Graph, layer: &MacLayer) -> [TensorInfo; 3] {
    let node = graph.node(layer.node);
    let input = |index: usize| node.inputs.get(index).copied().flatten();
    let weights = layer.dots.weights.as_ref().map_or(&[][..], |weights| &weights.zero_points);
    let output_zero_point = match &layer.dots.finish {
        guardbit_graph::Finish::Requantize(stage) => vec![stage.output_zero_point.into()],
        guardbit_graph::Finish::Divide(_) => Vec::new(),
    };
    [
        tensor(graph, input(0), vec![layer.dots.input_zero_point.into()]),
        tensor(graph, input(1), shared(weights)),
        tensor(graph, Some(node.output), output_zero_point),
    ]
}

fn tensor(graph: &Graph, id: Option<TensorId>, zero_points: Vec<i64>) -> TensorInfo {
    let ty = id.map(|id| &graph.tensor(id).ty);
    let range = ty.and_then(|ty| ty.quantization.as_ref()?.range());
    TensorInfo {
        dtype: ty.map_or("none", |ty| ty.dtype.name()).to_owned(),
        range: range.map(|range| range.ends().into()),
        step: range.map_or(1, |range| range.step()),
        zero_points,
    }
}

/// Returns one value if all values are equal, otherwise all of them.
fn shared(values: &[i32]) -> Vec<i64> {
    let all = values.iter().map(|&v| v.into());
    if values.windows(2).all(|pair| pair[0] == pair[1]) { all.take(1).collect() } else { all.collect() }
}

/// Describes which activations an output element reads.
pub(crate) fn window(window: &Window) -> WindowInfo {
    WindowInfo {
        batch: window.batch,
        input: window.input,
        output: window.output,
        kernel: window.kernel,
        stride: window.stride,
        dilation: window.dilation,
        pad: window.pad,
        groups: window.groups,
    }
}

/// Returns the formula from a sum `x` to the number that is clamped to a code. `z` is the zero point, `m` and
/// `e` are the values of the multiplier ports, `M` is the real multiplier.
pub(crate) fn formula(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Double => {
            "y = int32(x << max(e,0)); h = (y*m + 2^30) >> 31; r = max(-e,0); \
             (r ? (h + 2^(r-1) - (h<0)) >> r : h) + z"
        }
        Scheme::Single => "drop(x*m, 31-e, half_up) + z",
        Scheme::Away => "drop(x*m, 31-e, half_away) + z",
        Scheme::Even => "float32: half_even(f32(x) * f32(M)) + z",
        Scheme::Float32Upward => "float32: floor(f32(x) * f32(M) + z + 0.5)",
        Scheme::Float64Upward => "float64: floor(x * M + z + 0.5)",
        Scheme::Float32Nearest => "float32: half_away(f32(x) * f32(M) + z)",
        Scheme::Float64Nearest => "float64: half_away(x * M + z)",
        Scheme::Float64Away => "float64: half_away(x * M) + z",
        Scheme::TosaDouble => {
            "s = 31-e; d = s > 31 ? (x >= 0 ? 2^30 : -2^30) : 0; ((x*m + 2^(s-1) + d) >> s) + z"
        }
        Scheme::TosaScale16 => {
            "g = drop(m, 16, half_away); s = 15-e; if g = 2^15: g = 2^14, s = s-1; \
             drop(x*g << max(-s,0), max(s,0), half_up) + z"
        }
        Scheme::Q48 => {
            "g = m < 0x7fff0000 ? (m + 2^15) >> 16 : 0x7fff; \
             int32(drop(x*g << max(e-14,0), 15-min(e,14), half_up)) + z"
        }
    }
}
