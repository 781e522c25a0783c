//! Runs one unit on samples, before and after its codes are chosen.

use std::borrow::Cow;
use std::sync::Arc;

use guardbit_graph::{Graph, Integers, TensorId, real_of};
use guardbit_hwmodels::lower;
use guardbit_sim::{Codes, Options, Simulation, StatsLevel};
use rayon::prelude::*;

use super::{Reading, Simulated, State, wide};
use crate::emit::{EVEN, Emit};
use crate::patterns::{Layer, Output, Parts};
use crate::plan::Unit;
use crate::{QuantizeError, TensorCodes};

/// Result of a unit for a sample, before the codes of its output are chosen.
#[derive(Debug, Clone)]
pub(crate) enum Raw {
    /// Sums of a layer: integers of 32 bits in steps of input scale times weight scale.
    Sums(Codes),
    /// Words of real values.
    Real(Arc<[i32]>),
    /// No values, because codes are moved unchanged.
    Moved,
}

impl Raw {
    /// Returns the number of sums that a float32 cannot hold exactly.
    pub(crate) fn rounded_sums(&self) -> u64 {
        match self {
            Self::Sums(sums) => {
                sums.to_vec().into_iter().filter(|&sum| (sum as f32) as i64 != i64::from(sum)).count() as u64
            }
            Self::Real(_) | Self::Moved => 0,
        }
    }
}

impl Simulated<'_> {
    /// Quantizes the inputs whose variables are set.
    pub(crate) fn enter(&self, states: &mut [State]) {
        for &id in self.plan.graph().inputs() {
            self.quantize_real(id, states);
        }
    }

    /// Quantizes a tensor that was computed in float, if its variable is set.
    pub(crate) fn quantize_real(&self, id: TensorId, states: &mut [State]) {
        let Some(codes) = self.variable(id) else { return };
        states.par_iter_mut().for_each(|state| {
            let Some(words) = &state.real[id.index()] else { return };
            state.codes[id.index()] =
                Some(packed(codes, words.iter().map(|&word| codes.code(real_of(word)))));
        });
    }

    /// Returns the results of a unit for every sample, before its output's codes are chosen.
    pub(crate) fn raw(&self, index: usize, states: &[State]) -> Result<Vec<Raw>, QuantizeError> {
        let unit = &self.plan.units()[index];
        let Some(forms) = unit.forms.as_ref().filter(|_| self.is_quantized(index)) else {
            return Ok(self.in_float(unit, states, Reading::Simulated).into_iter().map(Raw::Real).collect());
        };
        if let Output::AsInput | Output::AsInputAtFirst = forms.output() {
            return Ok(vec![Raw::Moved; states.len()]);
        }
        let graph = self.alone(index, None)?;
        if forms.layer().is_some() {
            let sums = layer_sums(graph, unit.inputs[0], states)?;
            return Ok(sums.into_iter().map(Raw::Sums).collect());
        }
        let made = self.on_host(&graph, unit, states)?;
        Ok(made.into_iter().map(|words| Raw::Real(words.into())).collect())
    }

    /// Stores the output of a unit in every state: codes, if its output's variable is set.
    pub(crate) fn settle(
        &self,
        index: usize,
        states: &mut [State],
        raw: Vec<Raw>,
    ) -> Result<(), QuantizeError> {
        let unit = &self.plan.units()[index];
        let at = unit.output.index();
        let codes = self.variable(unit.output);
        let (Some(codes), true) = (codes, self.is_quantized(index)) else {
            for (state, raw) in states.iter_mut().zip(raw) {
                if let Raw::Real(words) = raw {
                    state.real[at] = Some(words);
                }
            }
            self.quantize_real(unit.output, states);
            return Ok(());
        };
        let made = self.codes(index, states, &raw, codes)?;
        states.iter_mut().zip(made).for_each(|(state, codes)| state.codes[at] = Some(codes));
        Ok(())
    }

    /// Returns the codes of a unit's output.
    pub(crate) fn codes(
        &self,
        index: usize,
        states: &[State],
        raw: &[Raw],
        codes: TensorCodes,
    ) -> Result<Vec<Codes>, QuantizeError> {
        let unit = &self.plan.units()[index];
        let layer = unit.forms.as_ref().and_then(|forms| forms.layer());
        if let Some(layer) = layer {
            return self.requantized(index, layer, raw, codes);
        }
        let graph = self.alone(index, Some(codes))?;
        let made = self.on_host(&graph, unit, states)?;
        Ok(made.into_iter().map(|made| packed(codes, made.into_iter())).collect())
    }

    /// Returns the codes of a layer's sums.
    fn requantized(
        &self,
        index: usize,
        layer: &Layer,
        raw: &[Raw],
        codes: TensorCodes,
    ) -> Result<Vec<Codes>, QuantizeError> {
        let unit = &self.plan.units()[index];
        let name = || self.plan.names(index)[0].to_owned();
        let (Some(weights), Some(input)) = (self.weights(index), self.variable(unit.inputs[0])) else {
            return Err(QuantizeError::Impossible { layer: name(), problem: "has no chosen weights".into() });
        };
        let requantizer = |channel| {
            let weight = weights.weights.scale(channel);
            EVEN.requantizer(input.parameters.scale, weight, codes.parameters.scale)
        };
        let requantizers: Result<Vec<_>, _> = (0..layer.channels).map(requantizer).collect();
        let requantizers = requantizers
            .map_err(|error| QuantizeError::Impossible { layer: name(), problem: error.to_string() })?;
        let zero_point = i128::from(codes.parameters.zero_point);
        let code = |(at, sum): (usize, i32)| {
            let code = requantizers[at % layer.channels].requantize(sum.into(), zero_point);
            let code = codes.range.clamp(code);
            unit.clip.as_ref().map_or(code, |clip| clip.code(code, &codes))
        };
        let made = |raw: &Raw| match raw {
            Raw::Sums(sums) => packed(codes, sums.to_vec().into_iter().enumerate().map(code)),
            Raw::Real(_) | Raw::Moved => packed(codes, std::iter::empty()),
        };
        Ok(raw.par_iter().map(made).collect())
    }

    /// Returns the real values of a unit's output, with its limits applied.
    pub(crate) fn reals(&self, index: usize, states: &[State], raw: &[Raw]) -> Vec<Vec<f32>> {
        let unit = &self.plan.units()[index];
        let limited = |value: f32| match &unit.clip {
            Some(clip) if self.is_quantized(index) => clip.real(value),
            _ => value,
        };
        let steps = self.steps(index);
        let real = |(state, raw): (&State, &Raw)| match raw {
            Raw::Real(words) => words.iter().map(|&word| limited(real_of(word))).collect(),
            Raw::Sums(sums) => {
                let sums = sums.to_vec();
                let real = |(at, &sum): (usize, &i32)| limited(sum as f32 * steps[at % steps.len()]);
                sums.iter().enumerate().map(real).collect()
            }
            Raw::Moved => {
                let input = unit.inputs[0];
                state.reals(input, Reading::Simulated, self.variable(input))
            }
        };
        states.par_iter().zip(raw).map(real).collect()
    }

    /// Returns the real value of one step of a layer's sums, per output channel.
    fn steps(&self, index: usize) -> Vec<f32> {
        let input = self.variable(self.plan.units()[index].inputs[0]);
        match (self.weights(index), input) {
            (Some(codes), Some(input)) => {
                codes.weights.scales.iter().map(|scale| input.parameters.scale * scale).collect()
            }
            _ => vec![1.0],
        }
    }

    /// Returns the results of a unit in float, computed from the values of either network.
    pub(crate) fn in_float(&self, unit: &Unit, states: &[State], reading: Reading) -> Vec<Arc<[i32]>> {
        let graph = self.plan.graph();
        let one = |state: &State| {
            let read = |id: TensorId| state.words(id, reading, self.variable(id));
            let mut held: Vec<(TensorId, Arc<[i32]>)> =
                unit.inputs.iter().map(|&id| (id, read(id))).collect();
            for &node in &unit.nodes {
                let inputs = &graph.node(node).inputs;
                let words = |id: &Option<TensorId>| -> Cow<'_, [i32]> {
                    let Some(id) = id else { return Cow::default() };
                    let made = held.iter().find(|(made, _)| made == id).map(|(_, words)| words[..].into());
                    made.or_else(|| graph.tensor(*id).codes().map(Integers::to_words)).unwrap_or_default()
                };
                let inputs: Vec<Cow<'_, [i32]>> = inputs.iter().map(words).collect();
                let made = graph.evaluate(node, &inputs.iter().map(|words| &words[..]).collect::<Vec<_>>());
                held.push((graph.node(node).output, made.into()));
            }
            held.pop().map_or_else(|| Arc::from([]), |(_, words)| words)
        };
        states.par_iter().map(one).collect()
    }

    /// Returns a unit as a network of its own: in its simulated form, or in its integer form with these
    /// codes.
    pub(crate) fn alone(&self, index: usize, codes: Option<TensorCodes>) -> Result<Graph, QuantizeError> {
        let (graph, unit) = (self.plan.graph(), &self.plan.units()[index]);
        let name = &graph.tensor(unit.output).name;
        let mut emit = Emit::new(name, graph.tensors().iter().map(|tensor| tensor.name.as_str()));
        let mut inputs: Vec<(TensorId, TensorId)> = Vec::new();
        for &id in &unit.inputs {
            if inputs.iter().any(|(known, _)| *known == id) {
                continue;
            }
            let tensor = graph.tensor(id);
            let ty = match self.variable(id) {
                Some(codes) => codes.ty(&tensor.name, &tensor.ty.shape)?,
                None => tensor.ty.clone(),
            };
            inputs.push((id, emit.input(&tensor.name, ty)?));
        }
        let output = emit_unit(self, index, &mut emit, codes, |id| {
            inputs.iter().find(|(known, _)| *known == id).map(|(_, made)| *made)
        })?;
        emit.finish(vec![output])
    }

    /// Returns the output of a unit's own network for every sample.
    fn on_host(&self, graph: &Graph, unit: &Unit, states: &[State]) -> Result<Vec<Vec<i32>>, QuantizeError> {
        let mut inputs: Vec<TensorId> = Vec::new();
        unit.inputs.iter().for_each(|&id| {
            if !inputs.contains(&id) {
                inputs.push(id)
            }
        });
        let one = |state: &State| {
            let codes: Vec<Vec<i32>> = inputs.iter().map(|id| held(state, *id).to_vec()).collect();
            let codes: Vec<&[i32]> = codes.iter().map(Vec::as_slice).collect();
            let mut made = graph.interpret(&codes)?;
            Ok(made.swap_remove(graph.outputs()[0].index()))
        };
        states.par_iter().map(one).collect()
    }
}

/// Adds a unit to a network: in its simulated form, or in its integer form with these codes.
pub(crate) fn emit_unit(
    simulated: &Simulated<'_>,
    index: usize,
    emit: &mut Emit,
    codes: Option<TensorCodes>,
    known: impl Fn(TensorId) -> Option<TensorId>,
) -> Result<TensorId, QuantizeError> {
    let unit = &simulated.plan.units()[index];
    let name = &simulated.plan.graph().tensor(unit.output).name;
    let inputs: Option<Vec<TensorId>> = unit.inputs.iter().map(|&id| known(id)).collect();
    let (Some(forms), Some(inputs)) = (&unit.forms, inputs) else {
        return Err(QuantizeError::Impossible {
            layer: name.clone(),
            problem: "reads a missing tensor".into(),
        });
    };
    let parts = |name| Parts { inputs: &inputs, weights: simulated.weights(index), name };
    let Some(codes) = codes else { return forms.simulated(emit, &parts(name)) };
    match unit.clip.as_ref().filter(|clip| clip.acts_on(&codes)) {
        None => forms.integer(emit, &parts(name), &codes),
        Some(clip) => {
            let unclipped = emit.fresh(name, "unclipped");
            let id = forms.integer(emit, &parts(&unclipped), &codes)?;
            clip.emit(emit, id, name, &codes)
        }
    }
}

/// Returns the sums of a layer that is a network of its own, computed on the fast engine.
fn layer_sums(graph: Graph, input: TensorId, states: &[State]) -> Result<Vec<Codes>, QuantizeError> {
    let layer = graph.name().to_owned();
    let program = lower(Arc::new(graph), wide()?);
    let program =
        program.map_err(|source| QuantizeError::Lower { layer: layer.clone(), source: Box::new(source) })?;
    let output = program.graph.outputs()[0];
    let options = Options { stats: StatsLevel::None, ..Options::default() };
    let samples: Vec<Vec<Codes>> = states.iter().map(|state| vec![held(state, input)]).collect();
    let made = Simulation::new(&program, options).run_batch(&samples);
    let made = made.map_err(|source| QuantizeError::Run { layer, source: Box::new(source) })?;
    Ok(made.into_iter().filter_map(|mut tensors| tensors.exact[output.index()].take()).collect())
}

/// Returns the codes of a tensor; empty if it has none, which every network refuses.
fn held(state: &State, id: TensorId) -> Codes {
    state.codes[id.index()].clone().unwrap_or_else(|| {
        Codes::new(guardbit_graph::DType::Int8, &[]).expect("no code is within all ranges")
    })
}

/// Returns codes at their own width.
fn packed(codes: TensorCodes, made: impl Iterator<Item = i32>) -> Codes {
    let made: Vec<i32> = made.collect();
    Codes::new(codes.dtype, &made).expect("codes are clamped to the range of their type")
}

/// Returns the real values of words.
pub(crate) fn reals_of(words: &[i32]) -> Vec<f32> {
    words.iter().map(|&word| real_of(word)).collect()
}
