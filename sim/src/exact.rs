//! The exact run of a layer: the same program with widths and shifts lifted.

use guardbit_hwmodels::MacLayer;

use crate::fast::Prepared;
use crate::output::{self, Sum};
use crate::parallel::Patch;

/// The exact output codes of `layer` for one input; `prepared` is the layer as the fast engine runs it.
pub(crate) fn layer_codes(layer: &MacLayer, prepared: Option<&Prepared<'_>>, input: &[i32]) -> Vec<i32> {
    if let Some(codes) = prepared.and_then(|prepared| prepared.exact_codes(input)) {
        return codes;
    }
    let window = &layer.dots.window;
    let mut patch = Patch::new(layer, input);
    let one = |index| {
        let out = window.output_position(index);
        patch.read(out);
        let activations = patch.activations();
        let products = dot(activations, &layer.weights[out.c]);
        let sum = Sum {
            delivered: 0,
            exact: output::exact_sum(layer, out.c, products.into()),
            activations: patch.sum().into(),
            count: activations.len(),
        };
        output::exact_code(layer, out.c, &sum)
    };
    (0..window.dots()).map(one).collect()
}

/// Sum of products. Operands have at most 17 bits, so 64 bits hold 2^30 of them.
fn dot(activations: &[i32], weights: &[i32]) -> i64 {
    activations.iter().zip(weights).map(|(&x, &w)| i64::from(x) * i64::from(w)).sum()
}
