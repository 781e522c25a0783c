//! Target: the steps after accepted inputs (lowering, both engines, timing, bounds, export, and the check of the
//! exported bundle).

use std::sync::Arc;

use guardbit_frontends::{random_codes, read_yaml};
use guardbit_hwmodels::bounds::{LayerBounds, network_sums};
use guardbit_hwmodels::{Program, check_program, from_yaml, lower};
use guardbit_rtl_vectors::{CheckRequest, check, export};
use guardbit_sim::{
    Engine, Keep, LayerCodes, LayerStats, Mode, Options, Reads, SampleTensors, SimError, Simulation,
};

use super::manifest;
use crate::{Choices, generate, message, scratch};

pub(crate) fn run(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let (accelerator, network) = (generate::accelerator(choices), generate::network(choices));
    // A failing test shows this. libFuzzer would print it a thousand times a second.
    if !cfg!(fuzzing) {
        println!("{network}\n{accelerator}");
    }
    let graph = match read_yaml(&network, &scratch::folder(), "fuzz") {
        Ok(graph) => graph,
        Err(error) => return message::check(error),
    };
    let accelerator = match from_yaml(&accelerator, "fuzz.yaml", &[]) {
        Ok(accelerator) => accelerator,
        Err(error) => return message::check(error),
    };
    match lower(Arc::new(graph), &accelerator) {
        Ok(program) => follow(&program, choices),
        Err(error) => message::check(error),
    }
}

fn follow(program: &Program, choices: &mut Choices<'_>) {
    let _ = check_program(program);
    let _ = network_sums(program);
    let mode = choices.one(&Mode::ALL);
    let samples: Vec<_> = (0..2).map(|seed| sample(program, seed)).collect();
    let [reference, fast] =
        [Engine::Reference, Engine::Fast].map(|engine| simulate(program, engine, mode, &samples));
    match (&reference, &fast) {
        (Ok(reference), Ok(fast)) => assert!(reference == fast, "the engines differ"),
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (a, b) => panic!("one engine fails: {:?} {:?}", a.as_ref().err(), b.as_ref().err()),
    }
    let Ok((tensors, _)) = reference else { return };
    for layer in program.mac_layers() {
        let _ = LayerBounds::new(&program.graph, layer);
    }
    let layers: Vec<_> = program.mac_layers().collect();
    let layer = if layers.is_empty() { return } else { choices.one(&layers) };
    let inputs: Vec<_> =
        tensors.iter().filter_map(|t| Reads::of(program, layer, &t.exact)).map(LayerCodes::from).collect();
    let inputs: Vec<_> = inputs.iter().map(LayerCodes::reads).collect();
    match export(program, layer.node, &inputs, &manifest::request()) {
        Ok(bundle) => {
            let folder = scratch::folder().join("exported");
            let _ = std::fs::remove_dir_all(&folder);
            manifest::write(&folder, &bundle.files);
            let report = check(&folder, &CheckRequest::default()).expect("an exported bundle can be checked");
            assert!(report.passed(), "{report:?}");
        }
        Err(error) => message::check(error),
    }
}

/// Returns random codes for every input.
fn sample(program: &Program, seed: u64) -> Vec<Vec<i32>> {
    let inputs = program.graph.inputs().iter().map(|&id| &program.graph.tensor(id).ty);
    inputs.map(|ty| random_codes(seed, ty.code_range(), ty.len())).collect()
}

type Simulated = (Vec<SampleTensors>, Vec<Option<LayerStats>>);

fn simulate(
    program: &Program,
    engine: Engine,
    mode: Mode,
    samples: &[Vec<Vec<i32>>],
) -> Result<Simulated, SimError> {
    let options = Options { engine, mode, keep: Keep::All, ..Options::default() };
    let mut simulation = Simulation::new(program, options);
    let tensors = simulation.run_batch(samples)?;
    Ok((tensors, simulation.finish()))
}
