//! Laws of activations that stay on the chip, on random networks of several layers.

use std::sync::Arc;

use crate::common::network::{NetworkCase, network_case};
use guardbit_graph::{Graph, NodeId};
use guardbit_hwmodels::{
    Accelerator, Dataflow, MacLayer, Memory, Program, Residency, TimingConvention, lower,
};
use guardbit_sim::{Engine, Keep, Mode, Options, Placing, Simulation, StatsLevel};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::sample::select;

/// Generates memories, some too small for a layer, some for the activations that stay.
fn memories() -> impl Strategy<Value = Memory> {
    let kib = || prop_oneof![Just(64.0), 0.004..1.0f64];
    let rates = (0.5..20.0f64, 0.5..20.0f64, 0..200u64);
    (kib(), kib(), kib(), rates, any::<bool>(), select(vec![1, 7, 64])).prop_map(
        |(activation_kib, weight_kib, accumulator_kib, (sram, dram, latency), double_buffer, burst)| Memory {
            activation_kib,
            weight_kib,
            accumulator_kib,
            residency: Residency::None,
            double_buffer,
            sram_bytes_per_cycle: sram,
            accumulator_bytes_per_cycle: 40.0,
            dram_bytes_per_cycle: dram,
            dram_latency_cycles: latency,
            dram_burst_bytes: burst,
            dram_outstanding_bursts: None,
        },
    )
}

/// Generates accelerators of every dataflow and convention, with layers that differ only in their datapaths.
fn everywhere(accelerator: &Accelerator, change: &impl Fn(&mut Accelerator)) -> Accelerator {
    let mut changed = accelerator.clone();
    changed.layers = Default::default();
    change(&mut changed);
    for (name, own) in accelerator.layers.iter() {
        changed.layers.insert(name.to_owned(), everywhere(own, change));
    }
    changed
}

/// Returns whether a layer reads its activations on the chip; one with two activations reads both from
/// outside.
fn keeps(layer: &MacLayer) -> bool {
    !layer.dots.streams_weights()
}

/// Returns the bytes, rounded up, that are held while a node runs, computed independently from the
/// activations that stay.
fn held(program: &Program, node: NodeId) -> u128 {
    let graph = &program.graph;
    let index = node.index();
    let alive = |tensor: guardbit_graph::TensorId| {
        let made = graph.nodes_with_ids().find(|(_, node)| node.output == tensor).unwrap().0.index();
        let reads = |(id, node): &(NodeId, &guardbit_graph::Node)| {
            program.mac_layer(*id).is_some_and(keeps) && node.inputs[0] == Some(tensor)
        };
        let last = graph.nodes_with_ids().filter(reads).map(|(id, _)| id.index()).max().unwrap();
        made <= index && index <= last
    };
    let bits = |tensor| {
        let ty = &graph.tensor(tensor).ty;
        ty.len() as u128 * u128::from(ty.code_range().bits())
    };
    let here = program.residents.iter().filter(|resident| alive(resident.tensor));
    here.map(|resident| bits(resident.tensor)).sum()
}

/// Returns whether a tensor must be stored outside: the host or a layer with two activations reads it, or it
/// is an output of the network.
fn wanted_outside(program: &Program, graph: &Graph, tensor: guardbit_graph::TensorId) -> bool {
    let hosted = |(id, node): (NodeId, &guardbit_graph::Node)| {
        !program.mac_layer(id).is_some_and(keeps) && node.inputs.contains(&Some(tensor))
    };
    graph.outputs().contains(&tensor) || graph.nodes_with_ids().any(hosted)
}

fn programs(case: &NetworkCase, change: &impl Fn(&mut Accelerator)) -> [Program; 2] {
    [Residency::None, Residency::Fit].map(|residency| {
        let accelerator = everywhere(&case.accelerator, &|accelerator| {
            change(accelerator);
            accelerator.memory.residency = residency;
        });
        lower(Arc::clone(&case.graph), &accelerator).unwrap()
    })
}

/// Returns all results of a run except cycles.
fn values(program: &Program, case: &NetworkCase, options: Options) -> (Vec<String>, Vec<u64>) {
    let mut simulation = Simulation::new(program, options);
    let samples: Vec<_> = case.samples.iter().map(|sample| vec![sample.clone()]).collect();
    let tensors = simulation.run_batch(&samples).unwrap();
    let stats = simulation.finish();
    let events =
        stats.iter().flatten().flat_map(|layer| layer.levels.iter().map(|level| level.total().events()));
    (tensors.iter().map(|tensors| format!("{tensors:?}")).collect(), events.collect())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_stays_fits_and_saves(
        case in network_case(),
        memory in memories(),
        dataflow in select(Dataflow::ALL.to_vec()),
        convention in select(TimingConvention::ALL.to_vec()),
    ) {
        let [without, with] = programs(&case, &|accelerator| {
            accelerator.memory = memory;
            accelerator.dataflow = dataflow;
            accelerator.timing.convention = convention;
        });
        prop_assert!(without.residents.is_empty());
        let size = (memory.activation_kib * 8192.0).floor() as u128;
        for (node, _) in case.graph.nodes_with_ids() {
            prop_assert!(held(&with, node) <= size, "{} of {size}", held(&with, node));
            prop_assert_eq!(held(&with, node), with.resident_bits(node));
        }
        let peak = case.graph.nodes_with_ids().map(|(node, _)| held(&with, node)).max().unwrap_or(0);
        prop_assert_eq!(with.resident_peak().map_or(0, |(_, bits)| bits), peak);
        for (plain, layer) in without.mac_layers().zip(with.mac_layers()) {
            prop_assert!(layer.timing.cycles <= plain.timing.cycles);
            prop_assert!(layer.timing.cost.dram_bytes <= plain.timing.cost.dram_bytes);
            let node = case.graph.node(layer.node);
            let stays = |tensor| with.residents.iter().any(|resident| Some(resident.tensor) == tensor);
            let (moved, before) = (layer.timing.cost.moved, plain.timing.cost.moved);
            let loads = !keeps(layer) || !stays(node.inputs[0]);
            let stores = !stays(Some(node.output)) || wanted_outside(&with, &case.graph, node.output);
            prop_assert_eq!(moved.loaded_activations > 0, loads && before.loaded_activations > 0);
            prop_assert_eq!(moved.stored > 0, stores && before.stored > 0);
            // Data from outside has the tiles that it has without residency.
            if loads && stores {
                prop_assert_eq!(&layer.timing, &plain.timing);
            }
        }
    }

    /// Residency changes no code and no event, in both engines and both modes. Every event has a cycle of its
    /// layer.
    #[test]
    fn no_value_depends_on_it(case in network_case(), memory in memories(), mode in select(Mode::ALL.to_vec())) {
        let [without, with] = programs(&case, &|accelerator| accelerator.memory = memory);
        for engine in [Engine::Reference, Engine::Fast] {
            let options = Options {
                engine,
                isa: None,
                mode,
                stats: StatsLevel::Full,
                placing: Placing::All,
                events_per_layer: 20,
                events_per_sample: true,
                keep: Keep::All,
            };
            prop_assert_eq!(values(&with, &case, options), values(&without, &case, options));
        }
    }
}
