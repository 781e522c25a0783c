//! Runs one sample through the network, node by node.

use guardbit_graph::{DType, NodeId, TensorId};
use guardbit_hwmodels::{FloatAccumulation, FloatMacLayer, Host, MacLayer, Step};

use crate::accumulate::Accumulate;
use crate::aligned::{self, FloatStats, Operands};
use crate::codes::Codes;
use crate::counts::Counts;
use crate::fast::{LayerCounts, Scratch};
use crate::layer::{self, LayerRun, Made};
use crate::options::{Keep, Mode};
use crate::reads::Reads;
use crate::setup::{Setup, codes_of};
use crate::stats::{self, Differences};
use crate::tensors::BatchTensors;

/// Sample that is being run.
pub(crate) struct Sample<'s, 'p> {
    setup: &'s Setup<'p>,
    /// Counts by program of the batches before.
    before: &'s [Counts],
    /// Counts by program.
    counts: &'s mut [Counts],
    scratch: &'s mut Scratch,
    index: usize,
    tensors: BatchTensors,
}

/// Activations that some programs share.
struct Reading {
    codes: Codes,
    /// Weights, if they are activations.
    weights: Option<Codes>,
    /// Whether the codes are those of the exact network.
    exact: bool,
    /// Indices of the programs, ascending.
    by: Vec<usize>,
}

impl Reading {
    /// Returns whether both hold the same shared codes.
    fn is(&self, other: &Self) -> bool {
        let weights = self.weights.iter().zip(&other.weights);
        self.codes.is(&other.codes) && weights.into_iter().all(|(a, b)| a.is(b))
    }
}

impl<'s, 'p> Sample<'s, 'p> {
    /// Prepares a sample for every program that is not stopped.
    pub fn new(
        setup: &'s Setup<'p>,
        before: &'s [Counts],
        counts: &'s mut [Counts],
        scratch: &'s mut Scratch,
        index: usize,
        inputs: &[Codes],
    ) -> Self {
        let mut exact = setup.constants.clone();
        for (&id, codes) in setup.programs[0].program.graph.inputs().iter().zip(inputs) {
            exact[id.index()] = Some(codes.clone());
        }
        let (simulated, events) = (vec![exact.clone(); counts.len()], vec![Vec::new(); counts.len()]);
        let mut tensors = BatchTensors { exact, simulated, events };
        setup.states.give(setup.programs[0].program, &mut tensors);
        Self { setup, before, counts, scratch, index, tensors }
    }

    /// Runs every node.
    pub fn run(&mut self) {
        let program = self.setup.programs[0].program;
        for (node, _) in program.graph.nodes_with_ids() {
            match &program.steps[node.index()] {
                // Nobody sees real values that only stand for codes.
                Step::Host(Host::OfLayer) if self.setup.options.keep == Keep::Outputs => {}
                Step::Host(_) => self.run_on_host(node),
                Step::Float(layer) => self.run_float(layer),
                Step::Mac(layer) => self.run_layer(layer),
            }
            if self.setup.options.keep == Keep::Outputs {
                self.forget(node);
            }
        }
    }

    /// Returns the tensors that were kept.
    pub fn into_tensors(self) -> BatchTensors {
        self.tensors
    }

    /// Returns whether a program is still running.
    fn runs(&self, program: usize) -> bool {
        self.counts[program].trapped.is_none() && self.before[program].trapped.is_none()
    }

    fn run_on_host(&mut self, node: NodeId) {
        let graph = &self.setup.programs[0].program.graph;
        let (inputs, output) = (&graph.node(node).inputs, graph.node(node).output);
        let host = &self.setup.host[node.index()];
        let run = |tensors: &[Option<Codes>]| host.run(graph, node, |id| held(tensors, id));
        let isolated = self.setup.options.mode == Mode::Isolated;
        let exact = run(&self.tensors.exact);
        self.tensors.exact[output.index()] = Some(exact.clone());
        for program in 0..self.counts.len() {
            if !self.runs(program) {
                continue;
            }
            let BatchTensors { exact: exact_tensors, simulated, .. } = &mut self.tensors;
            let (before, rest) = simulated.split_at_mut(program);
            let own = &mut rest[0];
            let known = std::iter::once((&*exact_tensors, true));
            let known = known
                .chain(before.iter().zip(0..).map(|(other, i)| (other, self.counts[i].trapped.is_none())));
            let made = match known.filter(|(_, runs)| *runs).find(|(other, _)| reads_same(inputs, own, other))
            {
                _ if isolated => exact.clone(),
                Some((other, _)) if other[output.index()].is_some() => held(other, output).clone(),
                _ => {
                    let codes = run(own);
                    if codes == exact { exact.clone() } else { codes }
                }
            };
            own[output.index()] = Some(made);
        }
    }

    fn run_float(&mut self, layer: &FloatMacLayer) {
        let (setup, node) = (self.setup, layer.node.index());
        let graph = &setup.programs[0].program.graph;
        let output = graph.node(layer.node).output;
        let prepared = |program: usize| setup.programs[program].floats[node].as_ref();
        let constant = prepared(0).and_then(aligned::Prepared::weights);
        let read = |tensors: &[Option<Codes>]| -> Operands {
            [(&layer.dots.activations, None), (&layer.dots.weights, constant)].map(|(operand, constant)| {
                if let Some(constant) = constant {
                    return constant.clone();
                }
                let read = |id| held(tensors, id).to_vec();
                let scales = operand.blocks.as_ref().map(|blocks| blocks.codes(graph, read));
                aligned::Codes { elements: operand.codes(graph, read), scales }
            })
        };
        let right = read(&self.tensors.exact);
        // Programs with equal operands and equal accumulations share results.
        let mut runs: Vec<(Operands, FloatAccumulation, aligned::Made, FloatStats)> = Vec::new();
        let mut chosen = vec![None; self.counts.len()];
        for (program, chosen) in chosen.iter_mut().enumerate() {
            let (true, Some(own)) = (self.runs(program), prepared(program)) else { continue };
            let accumulation = own.accumulation();
            let operands = match setup.options.mode {
                Mode::Isolated => right.clone(),
                Mode::Propagated => read(&self.tensors.simulated[program]),
            };
            let same = runs.iter().position(|run| run.0 == operands && run.1 == accumulation);
            let Some(counts) = &self.counts[program].floats[node] else { continue };
            *chosen = Some(same.unwrap_or_else(|| {
                let mut stats = counts.empty();
                let made = aligned::run(own, self.index, &operands, Some(&mut stats), &setup.options);
                runs.push((operands, accumulation, made, stats));
                runs.len() - 1
            }));
        }
        let exact = runs.iter().find(|run| run.0 == right).map(|run| run.2.exact.clone());
        let exact = exact.or_else(|| {
            prepared(0).map(|own| aligned::run(own, self.index, &right, None, &setup.options).exact)
        });
        let exact = exact.expect("every layer of floating-point codes is prepared");
        let pack = |words: &[i32]| Codes::within(graph.tensor(output).ty.dtype, words);
        let right = pack(&exact);
        for (_, _, made, stats) in &mut runs {
            aligned::compare(stats, &exact, &made.delivered);
        }
        let made: Vec<Codes> = runs
            .iter()
            .map(|run| if run.2.delivered == exact { right.clone() } else { pack(&run.2.delivered) })
            .collect();
        for (program, run) in chosen.into_iter().enumerate() {
            let Some(run) = run else { continue };
            if let Some(counts) = &mut self.counts[program].floats[node] {
                counts.merge(runs[run].3.clone());
            }
            self.tensors.simulated[program][output.index()] = Some(made[run].clone());
        }
        self.tensors.exact[output.index()] = Some(right);
    }

    fn run_layer(&mut self, layer: &MacLayer) {
        let graph = &self.setup.programs[0].program.graph;
        let node = graph.node(layer.node);
        let input = node.inputs[0].expect("a layer on the accelerator has activations");
        let [_, weights] = self.setup.programs[0].program.reads(layer);
        let output = node.output;
        let types = [input, output].map(|id| graph.tensor(id).ty.dtype);
        let mut exact = None;
        let mut simulated: Vec<Option<Codes>> = vec![None; self.counts.len()];
        for reading in self.readings(input, weights) {
            let Made { exact: right, simulated: made } = self.run_reading(layer, types, &reading);
            for (program, codes) in reading.by.into_iter().zip(made) {
                simulated[program] = Some(codes.unwrap_or_else(|| right.clone()));
            }
            match reading.exact {
                true => exact = Some(right),
                false => self.scratch.spare().keep(right),
            }
        }
        let exact = exact.unwrap_or_else(|| {
            let prepared = self.setup.programs.first().map(|one| &one.prepared[layer.node.index()]);
            let exact = &self.tensors.exact;
            let codes = Reads { activations: held(exact, input), weights: weights.map(|id| held(exact, id)) };
            let options = &self.setup.options;
            let [input, dtype] = types;
            let reading =
                layer::Reading { codes, input, dtype, sample: self.index, options, wants_exact: true };
            layer::exact_codes(layer, prepared, &reading, self.scratch)
        });
        if self.setup.options.events_per_sample {
            for (counts, events) in self.counts.iter_mut().zip(&mut self.tensors.events) {
                events.extend(counts.layers[layer.node.index()].as_mut().map(LayerCounts::take_events));
            }
        }
        self.compare(layer, output, &exact, &mut simulated);
        self.tensors.exact[output.index()] = Some(exact);
        for (tensors, codes) in self.tensors.simulated.iter_mut().zip(simulated) {
            tensors[output.index()] = codes;
        }
    }

    /// Shares equal codes, and counts how other codes differ from the exact ones.
    fn compare(
        &mut self,
        layer: &MacLayer,
        output: TensorId,
        exact: &Codes,
        simulated: &mut [Option<Codes>],
    ) {
        let quantization = self.setup.programs[0].program.graph.tensor(output).ty.quantization.as_ref();
        let signal = stats::signal(exact, quantization.map_or(0, |q| q.zero_point(0)));
        let mut distinct: Vec<(Codes, Option<Differences>)> = vec![(exact.clone(), None)];
        for (program, codes) in simulated.iter_mut().enumerate() {
            let Some(own) = codes else { continue };
            let index = distinct.iter().position(|(other, _)| other == own).unwrap_or_else(|| {
                let differences = Differences::new(layer.dots.window.channels(), exact, own);
                distinct.push((own.clone(), Some(differences)));
                distinct.len() - 1
            });
            let (same, differences) = &distinct[index];
            *codes = Some(same.clone());
            if let Some(counts) = &mut self.counts[program].layers[layer.node.index()] {
                counts.stats.add_outputs(signal, differences.as_ref());
            }
        }
    }

    /// Returns the inputs of the programs that are still running, grouped by equal codes.
    fn readings(&self, input: TensorId, weights: Option<TensorId>) -> Vec<Reading> {
        let running = (0..self.counts.len()).filter(|&program| self.runs(program));
        let isolated = self.setup.options.mode == Mode::Isolated;
        let read = |tensors: &[Option<Codes>], exact, by| Reading {
            codes: held(tensors, input).clone(),
            weights: weights.map(|id| held(tensors, id).clone()),
            exact,
            by,
        };
        let mut readings = vec![read(&self.tensors.exact, true, Vec::new())];
        for program in running {
            let own = if isolated { &self.tensors.exact } else { &self.tensors.simulated[program] };
            let own = read(own, false, vec![program]);
            match readings.iter_mut().find(|reading| reading.is(&own)) {
                Some(reading) => reading.by.push(program),
                None => readings.push(own),
            }
        }
        readings.retain(|reading| !reading.by.is_empty());
        readings
    }

    /// Runs one layer of the programs that share their inputs.
    fn run_reading(
        &mut self,
        layer: &MacLayer,
        [input, dtype]: [DType; 2],
        Reading { codes, weights, exact, by }: &Reading,
    ) -> Made {
        let node = layer.node;
        let mut runs = Vec::with_capacity(by.len());
        let mut traps = Vec::with_capacity(by.len());
        let chosen = self.counts.iter_mut().zip(&self.setup.programs).enumerate();
        for (_, (counts, one)) in chosen.filter(|(program, _)| by.binary_search(program).is_ok()) {
            let (Some(counts), Some(layer)) = (&mut counts.layers[node.index()], one.program.mac_layer(node))
            else {
                continue;
            };
            runs.push(LayerRun { layer, prepared: &one.prepared[node.index()], counts, trap: None });
        }
        let options = &self.setup.options;
        let codes = Reads { activations: codes, weights: weights.as_ref() };
        let sample = self.index;
        let reading = layer::Reading { codes, input, dtype, sample, options, wants_exact: *exact };
        let made = layer::run(&mut runs, &reading, self.scratch);
        for run in runs {
            // Every layer of a large network has such a list.
            run.counts.stats.compact_events();
            traps.push(run.trap);
        }
        for (&program, trap) in by.iter().zip(traps) {
            if let Some(trap) = trap {
                self.counts[program].trapped = Some((self.index, trap.error(layer)));
            }
        }
        made
    }

    fn forget(&mut self, node: NodeId) {
        let program = self.setup.programs[0].program;
        let inputs = program.graph.node(node).inputs.iter().flatten().copied();
        for input in inputs.chain(codes_of(program, node)) {
            if self.setup.last_use[input.index()] == Some(node) {
                let all = std::iter::once(&mut self.tensors.exact).chain(&mut self.tensors.simulated);
                all.filter_map(|tensors| tensors[input.index()].take())
                    .for_each(|codes| self.scratch.spare().keep(codes));
            }
        }
    }
}

/// Returns whether a node's inputs are equal in both runs. Equal codes are shared.
fn reads_same(inputs: &[Option<TensorId>], a: &[Option<Codes>], b: &[Option<Codes>]) -> bool {
    let same = |id: &TensorId| match (&a[id.index()], &b[id.index()]) {
        (Some(a), Some(b)) => a.is(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    inputs.iter().flatten().all(same)
}

fn held(tensors: &[Option<Codes>], id: TensorId) -> &Codes {
    tensors[id.index()].as_ref().expect("tensors are computed before they are read")
}
