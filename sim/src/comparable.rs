//! Checks whether programs differ only in their registers.

use std::sync::Arc;

use guardbit_hwmodels::{Datapath, MacLayer, Program, Register, Step};

use crate::error::SimError;

/// Returns an error unless both programs have equal exact runs, sum by sum: they are lowered from one graph,
/// and their layers differ only in registers and timing.
pub(crate) fn check(first: &Program, second: &Program) -> Result<(), SimError> {
    if !Arc::ptr_eq(&first.graph, &second.graph) {
        return Err(SimError::Unlike { what: "the graph".into() });
    }
    let steps = first.steps.iter().zip(&second.steps);
    for ((node, _), (a, b)) in first.graph.nodes_with_ids().zip(steps) {
        match (a, b) {
            (Step::Host(_), Step::Host(_)) => {}
            (Step::Float(a), Step::Float(b)) if a.order == b.order => {}
            (Step::Mac(a), Step::Mac(b)) if same(a, b) => {}
            (Step::Mac(_) | Step::Float(_), _) | (_, Step::Mac(_) | Step::Float(_)) => {
                let name = first.graph.short_name(node);
                return Err(SimError::Unlike { what: format!("layer `{name}`") });
            }
        }
    }
    Ok(())
}

fn same(a: &MacLayer, b: &MacLayer) -> bool {
    a.order == b.order
        && a.weights == b.weights
        && a.bias == b.bias
        && a.input_sum_factor == b.input_sum_factor
        && a.weight_sum_factor == b.weight_sum_factor
        && a.requantizers == b.requantizers
        && a.exact_requantizers == b.exact_requantizers
        && a.output_range == b.output_range
        && a.packing == b.packing
        && without_registers(&a.datapath) == without_registers(&b.datapath)
}

fn without_registers(datapath: &Datapath) -> Datapath {
    let mut datapath = datapath.clone();
    datapath.product.register = Register::Auto;
    datapath.bias.register = Register::Auto;
    datapath.levels.iter_mut().for_each(|level| level.register = Register::Auto);
    datapath
}
