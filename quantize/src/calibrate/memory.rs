//! Memory that a calibration takes, computed before it starts.

use guardbit_graph::{Links, TensorId};

use crate::{Config, Plan, QuantizeError};

/// Number of bytes per element that is kept, for the float and the simulated network together.
const HELD: usize = 8;
/// Number of bytes per element that a unit is computing, including sums and real values.
const MADE: usize = 20;

/// Returns an error if the samples take more than `most` bytes: all of them are at the same unit at a time.
pub(crate) fn check(plan: &Plan, config: &Config, samples: usize) -> Result<(), QuantizeError> {
    let (each, most) = (peak(plan, config.layer_method.is_some()), config.memory);
    let needed = each.saturating_mul(samples);
    if needed <= most {
        return Ok(());
    }
    Err(QuantizeError::Memory { needed, most, samples, allowed: most / each.max(1) })
}

/// Returns the bytes of one sample at the unit at which the most data is held.
fn peak(plan: &Plan, chosen_again: bool) -> usize {
    let (graph, units) = (plan.graph(), plan.units());
    let links = Links::new(graph);
    let len = |id: TensorId| graph.tensor(id).ty.len();
    let last_reader = |id: TensorId| (0..units.len()).rev().find(|&unit| units[unit].inputs.contains(&id));
    let last_use = |id: TensorId| match last_reader(id) {
        _ if links.is_output(id) => units.len(),
        // The source of codes that may be chosen again is kept until they are final.
        Some(_) if chosen_again => {
            let readers = units.iter().filter(|unit| unit.inputs.contains(&id));
            readers.filter_map(|reader| last_reader(reader.output)).chain(last_reader(id)).max().unwrap_or(0)
        }
        last => last.unwrap_or(0),
    };
    let made = units.iter().enumerate().map(|(unit, made)| (unit, made.output));
    let inputs = graph.inputs().iter().map(|&id| (0, id));
    let lives: Vec<(usize, usize, usize)> =
        inputs.chain(made).map(|(first, id)| (first, last_use(id), len(id))).collect();
    let at = |unit: usize| {
        let held = lives.iter().filter(|(first, last, _)| *first <= unit && unit <= *last);
        let each = if chosen_again { HELD + MADE } else { HELD };
        held.map(|(.., len)| len * each).sum::<usize>() + len(units[unit].output) * MADE
    };
    (0..units.len()).map(at).max().unwrap_or(0)
}
