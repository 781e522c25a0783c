//! Tests of damaged and hostile files, which give an error or a network, without a panic or excessive memory.

use std::path::Path;

use guardbit_frontends::read_tflite;
use proptest::prelude::*;

use super::streams;
use super::writer::{Model, Operator, Tensor, Value};

/// Returns a network with operands of every kind: scales per channel, a shape, a list among the options.
fn small() -> Vec<u8> {
    let weights = Tensor {
        scales: vec![0.5, 0.25],
        zero_points: vec![0, 0],
        ..Tensor::int8("w", &[2, 1, 1, 1], 1.0, 0)
    };
    let tensors = vec![
        Tensor::int8("x", &[1, 2, 2, 1], 0.5, -1),
        weights.with_data([3, -4]),
        Tensor::ints("b", &[5, 6]),
        Tensor::int8("y", &[1, 2, 2, 2], 0.5, 3),
        Tensor::int8("mean", &[1, 1, 1, 2], 0.5, 3),
        Tensor::ints("axes", &[1, 2]),
        Tensor::int8("z", &[1, 2], 0.5, 3),
    ];
    let conv = Operator::new(3, &[0, 1, 2], 3).with_options(1, [(1, Value::Int(1)), (2, Value::Int(1))]);
    let mean = Operator::new(40, &[3, 5], 4).with_options(27, [(0, Value::Byte(1))]);
    let squeeze = Operator::new(43, &[4], 6).with_options(30, [(0, Value::Ints(vec![1, 2]))]);
    Model::new(tensors, vec![conv, mean, squeeze]).to_bytes()
}

/// Returns a network with a variable that a subgraph initializes.
fn stream() -> Vec<u8> {
    streams::delay().to_bytes()
}

fn digits() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/digits_int8.tflite");
    std::fs::read(path).unwrap()
}

#[test]
fn the_small_networks_are_sound() {
    assert_eq!(read_tflite(&stream(), "stream").unwrap().states().len(), 1);
    assert_eq!(read_tflite(&small(), "small").unwrap().nodes().len(), 3);
}

#[test]
fn no_prefix_is_a_network() {
    for bytes in [small(), stream()] {
        for length in 0..bytes.len() {
            assert!(read_tflite(&bytes[..length], "small").is_err(), "{length} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn no_prefix_of_a_real_network_panics() {
    let bytes = digits();
    for length in 0..bytes.len() {
        let _ = read_tflite(&bytes[..length], "digits");
    }
}

#[test]
fn no_word_is_trusted() {
    let words = [0, 1, 4, 0xff, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff];
    for bytes in [small(), stream()] {
        for at in 0..bytes.len().saturating_sub(3) {
            for word in words {
                let mut damaged = bytes.clone();
                damaged[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
                let _ = read_tflite(&damaged, "small");
            }
        }
    }
}

#[test]
fn data_that_are_used_over_and_over_are_not_unfolded() {
    const CODES: i32 = 4096;
    let network = |constants: i32| {
        let mut tensors = vec![Tensor::int8("x", &[1, CODES], 0.5, 0)];
        let mut operators = Vec::new();
        for index in 0..constants {
            let constant = Tensor::int8("constant", &[1, CODES], 0.5, 0).with_data(vec![1; CODES as usize]);
            tensors.extend([constant, Tensor::int8("sum", &[1, CODES], 0.5, 0)]);
            operators.push(Operator::new(0, &[0, 2 * index + 1], 2 * index + 2));
        }
        let mut model = Model::new(tensors, operators);
        model.share_buffers = true;
        read_tflite(&model.to_bytes(), "shared")
    };
    assert!(network(2).is_ok());
    let error = network(100).unwrap_err();
    assert_eq!(error.code(), "guardbit::tflite::unfolds", "{error}");
}

/// Whatever a file contains, the short names of its layers are valid on a terminal, in a plot and on a command line.
#[test]
fn short_names_of_hostile_names_are_plain() {
    let long: &'static str = String::leak("a".repeat(70_000));
    let names = ["\u{1b}[2J\u{7}conv\r\n", long, "1e9", "\u{202e}", "true", "../../x", "=cmd()"];
    let tensors = names.map(|name| Tensor::int8(name, &[1, 4], 0.5, 0));
    let tensors = [vec![Tensor::int8("x", &[1, 4], 0.5, 0)], tensors.to_vec()].concat();
    let operators = (0..names.len() as i32).map(|i| Operator::new(19, &[i], i + 1)).collect();
    let graph = read_tflite(&Model::new(tensors, operators).to_bytes(), "hostile").unwrap();
    let short: Vec<_> = graph.nodes_with_ids().map(|(id, _)| graph.short_name(id)).collect();
    assert_eq!(short, ["relu_2J_conv", &"a".repeat(28), "relu_1e9", "relu", "relu_2", "x", "cmd"]);
    let full: Vec<_> = graph.nodes_with_ids().map(|(id, _)| graph.node_name(id)).collect();
    assert_eq!(full, ["_[2J_conv__", &"a".repeat(256), "1e9", "_", "true", "../../x", "=cmd()"]);
    let noted: Vec<_> = graph.notes().iter().map(|note| note.text.as_str()).collect();
    let control = "control characters of its name are replaced by `_`";
    assert_eq!(noted, [control, "its name has 70000 bytes and is truncated", control]);
}

/// Names that become equal when cleaned stay distinct.
#[test]
fn plain_names_are_unique() {
    let names = ["a\u{7}", "a_", "a\u{8}", "a_"];
    let tensors = names.map(|name| Tensor::int8(name, &[1, 4], 0.5, 0));
    let tensors = [vec![Tensor::int8("x", &[1, 4], 0.5, 0)], tensors.to_vec()].concat();
    let operators = (0..names.len() as i32).map(|i| Operator::new(19, &[i], i + 1)).collect();
    let graph = read_tflite(&Model::new(tensors, operators).to_bytes(), "plain").unwrap();
    let full: Vec<_> = graph.nodes_with_ids().map(|(id, _)| graph.node_name(id)).collect();
    assert_eq!(full, ["a_", "a_#2", "a_#3", "a_#4"]);
}

#[test]
fn shared_operators_are_no_product() {
    let mut operator = Operator::new(19, &[0], 1);
    operator.outputs = vec![1; 50_000];
    let tensors = vec![Tensor::int8("x", &[1, 4], 0.5, 0), Tensor::int8("y", &[1, 4], 0.5, 0)];
    let error = read_tflite(&Model::new(tensors, vec![operator]).to_bytes(), "shared").unwrap_err();
    assert!(error.to_string().ends_with("operator 0 (RELU): has 50000 outputs, expected 1"), "{error}");
}

/// Returns a file of `../shared/hostile`, or `None` if the folder is absent and ignored tests are run.
fn shared(file: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hostile").join(file);
    let read = || std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    cfg!(shared_hostile).then(read)
}

#[test]
#[cfg_attr(not(shared_hostile), ignore = "needs ../shared/hostile")]
fn shared_operators_of_a_file_are_no_product() {
    let Some(bytes) = shared("quad50000.tflite") else { return };
    let error = read_tflite(&bytes, "quad").unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
}

#[test]
#[cfg_attr(not(shared_hostile), ignore = "needs ../shared/hostile")]
fn shared_hostile_names_are_plain() {
    for file in ["long.tflite", "ctrl.tflite"] {
        let Some(bytes) = shared(file) else { return };
        let graph = read_tflite(&bytes, file).expect("LiteRT runs it");
        for (id, _) in graph.nodes_with_ids() {
            let short = graph.short_name(id);
            let plain = short.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            assert!(plain && !short.is_empty() && short.len() <= 28, "{file}: {short:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_do_not_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        for mut bytes in [small(), stream(), digits()] {
            for (at, value) in &flips {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            let _ = read_tflite(&bytes, "flipped");
        }
    }

    #[test]
    fn random_bytes_do_not_panic(tail in prop::collection::vec(any::<u8>(), 0..512)) {
        let bytes = [&16u32.to_le_bytes()[..], b"TFL3", &tail].concat();
        let _ = read_tflite(&bytes, "random");
    }
}
