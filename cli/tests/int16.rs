//! Layers with 16-bit activations against LiteRT's reference kernels: 32-bit and 64-bit biases, no bias, and
//! sums and biases beyond 32 bits. `scripts/goldens/make_int16_goldens.py` generates the models and the codes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::root;
use guardbit_frontends::read_tflite;
use guardbit_hwmodels::{Program, load, lower};
use guardbit_sim::{Engine, Keep, Options, Simulation};
use ndarray::ArrayD;
use ndarray_npy::NpzReader;

/// Exact datapath with the bias adder that the model asks for.
const EXACT: [&str; 2] = ["accumulation.acc.bits=auto", "bias.bits=from_model"];

fn folder() -> PathBuf {
    root().join("cli/tests/int16")
}

fn lowered(model: &Path, more: &[&str]) -> Program {
    let graph = read_tflite(&std::fs::read(model).unwrap(), "int16").unwrap();
    let sets: Vec<String> = EXACT.iter().chain(more).map(|set| set.to_string()).collect();
    lower(Arc::new(graph), &load("exact-int32-os", &sets).unwrap()).unwrap()
}

fn codes(archive: &mut NpzReader<File>, name: &str) -> Vec<i32> {
    let array: ArrayD<i16> = archive.by_name(name).unwrap();
    array.iter().map(|&code| code.into()).collect()
}

/// Model whose sums exceed the 32 bits of the runtime's accumulator and wrap there.
const WRAPS: &str = "conv_32_deep";

/// Checks that both runs of every engine give LiteRT's codes.
fn check(model: &str, more: &[&str]) {
    let wrap: &[&str] = if model == WRAPS { &["bias.overflow=wrap"] } else { &[] };
    let program = lowered(&folder().join(format!("{model}.tflite")), &[more, wrap].concat());
    let mut archive = NpzReader::new(File::open(folder().join(format!("{model}.npz"))).unwrap()).unwrap();
    let (x, y) = (codes(&mut archive, "x"), codes(&mut archive, "y"));
    for engine in [Engine::Reference, Engine::Fast] {
        let options = Options { engine, keep: Keep::Outputs, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let sample = simulation.run_batch(&[vec![x.clone()]]).unwrap().pop().unwrap();
        let output = program.graph.outputs()[0].index();
        for (run, tensors) in [("exact", &sample.exact), ("simulated", &sample.simulated)] {
            let ours = tensors[output].as_ref().unwrap();
            let wrong = ours.to_vec().iter().zip(&y).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{model} {more:?}, {engine:?}, {run}: {wrong} of {} codes differ", y.len());
        }
    }
}

fn models() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let models = files.filter(|path| path.extension().is_some_and(|e| e == "tflite"));
    let mut names: Vec<_> =
        models.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names.len(), 19);
    names
}

#[test]
fn sixteen_bit_layers_equal_litert() {
    models().iter().for_each(|model| check(model, &[]));
}

#[test]
fn preloaded_and_folded_they_equal_litert() {
    for model in models() {
        check(&model, &["bias.at=preload"]);
        check(&model, &["operands.zero_point=fold"]);
    }
}

/// A 32-bit bias adder is not exact for 64-bit biases, and must be requested.
#[test]
fn a_bias_adder_of_32_bits_can_be_asked_for() {
    let model = folder().join("conv_64_wide.tflite");
    let describe = |more: &[&str]| {
        let program = lowered(&model, more);
        let layer = program.mac_layers().next().unwrap().datapath.describe();
        layer.split(" > ").find(|stage| stage.starts_with("bias")).unwrap().to_owned()
    };
    assert_eq!(describe(&[]), "bias post 64 bits saturate");
    assert_eq!(describe(&["bias.bits=32"]), "bias post 32 bits saturate");
    let narrow = lowered(&folder().join("conv_32.tflite"), &[]);
    assert!(narrow.mac_layers().next().unwrap().datapath.describe().contains("bias post 32 bits saturate"));
}
