//! Finds inputs that tell accumulators apart: dot products whose sums differ between accelerators.
//!
//! A device is a black box here: it takes the codes of activations and weights and a bias, and returns the sum
//! after the adder of the bias. [`discriminate`] looks for short dot products that divide a list of accelerators
//! into classes of equal sums. Accelerators of one class are proved equal where bounds allow it.

mod canonical;
mod classes;
mod inputs;
mod result;
mod search;

use std::sync::Arc;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Accelerator, MacLayer, Packing, Program, lower};
use guardbit_sim::Reads;
use guardbit_sim::trace;
use rayon::prelude::*;

use crate::{GoldenError, LayerParameters, VectorError};

pub use result::{Named, input_name};
pub use search::{MAX_BIAS_BITS, MAX_CANDIDATES, MAX_INPUT_TERMS, Search, TestInput};

use canonical::Canonical;
use classes::Classes;

/// Number of products that are computed to find a table of few inputs.
const TABLE_WORK: usize = 60_000_000;
/// Number of inputs that are tried at a time.
const BATCH: usize = 48;

/// Accelerators with equal sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Their indices.
    pub members: Vec<usize>,
    /// Sum per input.
    pub sums: Vec<i128>,
    /// Whether the members are proved equal for every input. A class of one member is.
    pub is_proved: bool,
}

/// Inputs that tell accelerators apart, and their sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discrimination {
    /// Inputs whose sums differ between classes: as few as were found, and of equally good ones the shortest.
    pub inputs: Vec<TestInput>,
    /// Of two accelerators: whether no input with fewer products tells them apart.
    pub is_shortest: Option<bool>,
    /// Classes, in the order of their first members.
    pub classes: Vec<Class>,
    /// Number of inputs that were tried.
    pub tried: usize,
}

impl Discrimination {
    /// Returns the classes whose sums equal the observed ones. `None` stands for a sum that was not observed.
    pub fn matches(&self, observed: &[Option<i128>]) -> Vec<&Class> {
        let equal = |class: &&Class| {
            class.sums.iter().zip(observed).all(|(sum, seen)| seen.is_none_or(|seen| seen == *sum))
        };
        self.classes.iter().filter(equal).collect()
    }
}

/// Finds inputs that tell `candidates` apart. `progress` is called with the number of inputs tried so far and the
/// number of all.
///
/// # Errors
/// [`GoldenError`] if there are too few or too many candidates, if one cannot run the layer, adds floating-point products
/// too, or has lanes that share adders.
pub fn discriminate(
    candidates: &[Accelerator],
    search: &Search,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Discrimination, GoldenError> {
    search.check(candidates.len())?;
    if let Some(float) = candidates.iter().find(|candidate| candidate.float.is_some()) {
        let problem = format!("`{}` adds floating-point products", float.name);
        return Err(GoldenError::Parameters(format!(
            "{problem}, and only integer accumulators can be told apart"
        )));
    }
    let lowered = |accelerator: &Accelerator| {
        let program = search.lower(accelerator, &[TestInput::empty()])?;
        let layer = only_layer(&program)?;
        Ok((Canonical::whole(&program.graph, layer, search), layer.datapath.clone()))
    };
    let lowered = candidates.par_iter().map(lowered).collect::<Result<Vec<_>, GoldenError>>()?;
    let datapaths: Vec<_> = lowered.iter().map(|(_, datapath)| datapath).collect();
    let keys: Vec<_> = lowered.iter().map(|(key, _)| key.as_ref()).collect();
    let pool = inputs::pool(&datapaths, search);
    let mut classes = Classes::new(&keys);
    let mut tried = 0;
    for batch in pool.chunks(BATCH) {
        progress(tried, pool.len());
        let open = classes.open();
        if open.is_empty() {
            break;
        }
        let sums: Vec<_> =
            open.par_iter().map(|&at| search.sums(&candidates[at], batch)).collect::<Result<_, _>>()?;
        for (index, input) in batch.iter().enumerate() {
            let column: Vec<_> = open.iter().zip(&sums).map(|(&at, sums)| (at, sums[index])).collect();
            classes.split(input, &column);
        }
        tried += batch.len();
    }
    progress(pool.len(), pool.len());
    let (divided, mut classes) = classes.into_parts();
    classes.sort();
    let (inputs, rows) = if let [_, _] = candidates
        && let Some(first) = divided.first()
    {
        let rows = candidates.iter().map(|one| search.sums(one, std::slice::from_ref(first)));
        (vec![first.clone()], rows.collect::<Result<Vec<_>, _>>()?)
    } else {
        table(candidates, &classes, &divided, &pool, search)?
    };
    let is_shortest = match (candidates, inputs.as_slice()) {
        ([_, _], [input]) => Some(search.has_no_shorter(candidates, input)),
        _ => None,
    };
    let class = |(members, sums): (Vec<usize>, Vec<i128>)| {
        let is_proved = classes::are_proved(&keys, &members);
        Class { sums, is_proved, members }
    };
    let classes = classes.into_iter().zip(rows).map(class).collect();
    Ok(Discrimination { inputs, is_shortest, classes, tried })
}

/// Returns inputs that tell all classes apart, and the sums of each class: of those that divided classes, and some of
/// the others.
fn table(
    candidates: &[Accelerator],
    classes: &[Vec<usize>],
    divided: &[TestInput],
    pool: &[TestInput],
    search: &Search,
) -> Result<(Vec<TestInput>, Vec<Vec<i128>>), GoldenError> {
    let others = (TABLE_WORK / (classes.len() * search.layer.terms)).clamp(1, pool.len().max(1));
    let others = pool.iter().step_by(pool.len().div_ceil(others).max(1));
    let inputs: Vec<TestInput> = divided.iter().chain(others).cloned().collect();
    let row = |members: &Vec<usize>| search.sums_of(&candidates[members[0]], &inputs);
    let rows = classes.par_iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let chosen = classes::fewest(&rows, |at| inputs[at].products.len());
    let pick = |row: &Vec<i128>| chosen.iter().map(|&at| row[at]).collect();
    Ok((chosen.iter().map(|&at| inputs[at].clone()).collect(), rows.iter().map(pick).collect()))
}

impl Search {
    /// Returns whether accelerators are proved equal for all inputs with fewer products than `input`.
    fn has_no_shorter(&self, candidates: &[Accelerator], input: &TestInput) -> bool {
        let Some(terms) = input.products.len().checked_sub(1) else { return true };
        let keys: Vec<_> = candidates.iter().map(|one| self.key(one, terms)).collect();
        keys.iter().all(|key| key.is_some() && *key == keys[0])
    }

    fn key(&self, accelerator: &Accelerator, terms: usize) -> Option<Canonical> {
        let program = self.lower(accelerator, &[TestInput::empty()]).ok()?;
        Canonical::of_prefix(&program.graph, only_layer(&program).ok()?, self, terms)
    }

    /// Lowers a layer with an output channel per input.
    fn lower(&self, accelerator: &Accelerator, inputs: &[TestInput]) -> Result<Program, GoldenError> {
        let mut weights = Vec::with_capacity(inputs.len() * self.layer.terms);
        for input in inputs {
            weights.extend(input.products.iter().map(|&[_, weight]| weight));
            weights.resize(
                weights.len() + self.layer.terms - input.products.len(),
                self.layer.weight_zero_point,
            );
        }
        let biases = inputs.iter().map(|input| input.bias).collect();
        Ok(lower(Arc::new(self.layer.graph(weights, biases)?), accelerator)?)
    }

    /// Returns the sum of every input, after the adder of the bias.
    fn sums(&self, accelerator: &Accelerator, inputs: &[TestInput]) -> Result<Vec<i128>, GoldenError> {
        let program = self.lower(accelerator, inputs)?;
        let layer = only_layer(&program)?;
        let mut codes = Vec::with_capacity(inputs.len() * self.layer.terms);
        for input in inputs {
            codes.extend(input.products.iter().map(|&[activation, _]| activation));
            codes.resize(
                codes.len() + self.layer.terms - input.products.len(),
                self.layer.activation_zero_point,
            );
        }
        let reads = Reads { activations: &codes[..], weights: None };
        let sum = |index: usize| {
            let operands = trace::operands(layer, reads, OutputPosition { n: 0, h: 0, w: index, c: index });
            trace::trace_observed(layer, index, &operands, &mut |_| ()).biased
        };
        Ok((0..inputs.len()).map(sum).collect())
    }

    /// Like [`sums`](Self::sums) for any number of inputs.
    fn sums_of(&self, accelerator: &Accelerator, inputs: &[TestInput]) -> Result<Vec<i128>, GoldenError> {
        let batches = inputs.chunks(BATCH).map(|batch| self.sums(accelerator, batch));
        Ok(batches.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// Returns the layer of a program of [`Search::lower`].
fn only_layer(program: &Program) -> Result<&MacLayer, GoldenError> {
    let name = &program.accelerator.name;
    let Some(layer) = program.mac_layers().next() else {
        return Err(GoldenError::Parameters(format!("`{name}` does not run conv2d (`offload`)")));
    };
    if layer.packing != Packing::None {
        let what = "two lanes that share an adder (`packing`), whose sums depend on each other,".into();
        return Err(VectorError::Unsupported { layer: name.clone(), what }.into());
    }
    Ok(layer)
}

#[cfg(test)]
mod tests;
