//! Fuzz targets: one per reader of a file format, one per floor of a reader that has floors, and one for
//! what follows accepted inputs.
//!
//! A target takes any bytes and must come back: with a result or an error, soon, within little memory, and with an
//! error message that a terminal can show. Each is a file in `targets/` and a line below; `cargo test` runs each for a
//! moment, `scripts/fuzz MINUTES` with libFuzzer for as long as wanted. Inputs worth keeping lie in `corpus/NAME/`.

mod choices;
mod generate;
mod message;
mod mutate;
mod protobuf;
mod samples;
mod scratch;

use std::path::{Path, PathBuf};

use choices::Choices;
use mutate::mutated;

/// Something to throw bytes at.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// Its name, which is that of its file, its test and its corpus.
    name: &'static str,
    /// Takes any bytes.
    run: fn(&[u8]),
}

impl Target {
    /// The inputs that are kept for it, by file name.
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
        mod targets {
            $(pub(crate) mod $name;)*
        }

        const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: targets::$name::run },)*];

        $(#[test]
        fn $name() {
            let target = TARGETS.iter().find(|target| target.name == stringify!($name)).expect("it is in the list");
            let seeds: Vec<_> = target.corpus().into_iter().map(|(_, bytes)| bytes).collect();
            bolero::check!().for_each(|bytes: &[u8]| {
                // libFuzzer makes inputs of its own; here they are good ones with changes.
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
