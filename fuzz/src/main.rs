//! Fuzz targets: one per reader of a file format, one per stage of a multi-stage reader, and one for the steps that
//! follow accepted inputs.
//!
//! A target takes any bytes. It must return a result or an error quickly, with little memory, and with an error
//! message that fits on a terminal. Each target is a file in `targets/` and a line below. `cargo test` runs each
//! target briefly; `scripts/fuzz MINUTES` runs them with libFuzzer for as long as you want. Keep valuable inputs in
//! `corpus/NAME/` (`scripts/goldens/make_onnx_seeds.py` wrote some of those of `onnx`).

mod choices;
mod generate;
mod message;
mod mutate;
mod protobuf;
mod samples;
mod scratch;
mod targets;

use std::path::{Path, PathBuf};

use choices::Choices;
use mutate::mutated;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// Its name, which is also the name of its file, its test and its corpus.
    name: &'static str,
    /// Runs the target on any bytes.
    run: fn(&[u8]),
}

impl Target {
    /// Returns the inputs stored for this target, sorted by file name.
    fn corpus(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name);
        let entries = std::fs::read_dir(&folder).expect("every target has a corpus");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder").path()).collect();
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: targets::$name::run },)*];

        $(#[test]
        fn $name() {
            let target = TARGETS.iter().find(|target| target.name == stringify!($name)).expect("it is in the list");
            let seeds: Vec<_> = target.corpus().into_iter().map(|(_, bytes)| bytes).collect();
            bolero::check!().for_each(|bytes: &[u8]| {
                // libFuzzer generates its own inputs. Without it, inputs are stored ones with changes.
                let input = if cfg!(fuzzing) { bytes.to_vec() } else { mutated(&seeds, bytes) };
                (target.run)(&input);
            });
        })*
    };
}

targets! {
    tflite
    onnx_parse
    onnx_normalise
    onnx_recognise
    tflite_parse
    tflite_normalise
    tflite_recognise
    onnx
    graph
    accelerator
    set
    cost
    study
    npy
    npz
    labels
    manifest
    diff_layer
    chain
}

#[test]
fn the_corpus_is_handled() {
    for target in TARGETS {
        for (path, bytes) in target.corpus() {
            println!("{}", path.display());
            (target.run)(&bytes);
        }
    }
}
