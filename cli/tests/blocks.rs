//! ONNX networks whose weights have a scale per block: each block is a run with its own accumulator.

use std::fs;
use std::path::Path;

use ndarray::{ArrayD, IxDyn, OwnedRepr};
use ndarray_npy::NpzReader;

use crate::common::{csv_rows, guardbit, succeed};

#[path = "../../frontends/tests/onnx/writer.rs"]
#[allow(dead_code)]
mod onnx;

use onnx::{Attribute, Model, Node, Tensor, element};

/// Ten input channels in blocks of four (the last one has two), and two output channels.
const INPUT: [i8; 10] = [100, 100, 100, 100, 1, 2, 3, 4, 50, 5];
const WEIGHTS: [[i8; 2]; 10] =
    [[1, 0], [2, 0], [2, 0], [1, 0], [1, 127], [1, 127], [1, 127], [1, -128], [10, -11], [1, 4]];
/// Scales by block and output channel.
const SCALES: [[f32; 2]; 3] = [[1.0, 2.0], [0.5, 0.25], [0.25, 0.5]];

/// Writes a product with the weights along `axis`, and its input.
fn network(dir: &Path, axis: i64) -> (String, String) {
    let bytes = WEIGHTS.as_flattened().iter().map(|&code| code as u8).collect();
    let rows = if axis == 0 { SCALES.as_flattened().to_vec() } else { vec![0.5; 10] };
    let scales = Tensor::reals("scales", &rows).with_dims(if axis == 0 { &[3, 2] } else { &[10, 1] });
    let model = Model {
        opset: 21,
        nodes: vec![
            Node::new("DequantizeLinear", &["x", "scale"], &["real"]),
            Node::new("DequantizeLinear", &["codes", "scales"], &["weights"])
                .with("axis", Attribute::Int(axis))
                .with("block_size", Attribute::Int(4)),
            Node::new("MatMul", &["real", "weights"], &["y"]),
        ],
        constants: vec![
            Tensor::reals("scale", &[0.5]).with_dims(&[]),
            scales,
            Tensor { name: "codes".into(), dims: vec![10, 2], element: element::INT8, bytes },
        ],
        inputs: vec![("x".into(), element::INT8, vec![1, 10])],
        outputs: vec!["y".into()],
    };
    let (file, input) = (dir.join("net.onnx"), dir.join("x.npy"));
    fs::write(&file, model.to_bytes()).unwrap();
    ndarray_npy::write_npy(&input, &ndarray::arr2(&[INPUT])).unwrap();
    (file.to_string_lossy().into_owned(), input.to_string_lossy().into_owned())
}

fn real_array(archive: &mut NpzReader<fs::File>, name: &str) -> Vec<f32> {
    archive.by_name::<OwnedRepr<f32>, IxDyn>(name).map(ArrayD::into_raw_vec_and_offset).unwrap().0
}

/// Computed by hand with 10 bits, -512..511: block 0 of output 0 adds 100, 300, 500, 600, and saturates at
/// 511. Block 1 of output 1 adds 127, 381, 762, 250: it goes from 511 to -1. Block 2 of output 1 adds -550,
/// -530: it goes from -512 to -492.
#[test]
fn a_narrow_accumulator_overflows_per_block() {
    let dir = tempfile::tempdir().unwrap();
    let (model, input) = network(dir.path(), 0);
    let out = dir.path().join("out");
    let place = out.to_string_lossy().into_owned();
    let narrow = ["--set", "accumulation.acc.bits=10", "--set", "accumulation.acc.overflow=saturate"];
    let run = ["run", &model, "--hw", "fpga-int14-os", "--input", &input, "-o", &place];
    succeed(&[&run[..], &narrow].concat());
    let rows = csv_rows(&out.join("layers.csv"));
    let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
    let wanted = [
        ("layer", "y_sums"),
        ("op", "conv2d"),
        ("dots", "6"),
        ("terms", "4"),
        ("events", "3"),
        ("events_high", "2"),
        ("events_low", "1"),
        ("persistent", "2"),
        ("transient", "1"),
        ("wrong", "3"),
        ("min_prefix", "-550"),
        ("max_prefix", "762"),
        ("required_final", "11"),
        ("required_prefix", "11"),
    ];
    for (column, value) in wanted {
        assert_eq!(row[column], value, "{column}");
    }
    // Channels are listed block by block.
    let channels: Vec<String> =
        csv_rows(&out.join("channels.csv")).iter().map(|row| row["events"].clone()).collect();
    assert_eq!(channels, ["1", "0", "0", "1", "0", "1"]);
    let mut archive = NpzReader::new(fs::File::open(out.join("outputs.npz")).unwrap()).unwrap();
    let real = |sums: [[f32; 2]; 3]| {
        [0, 1].map(|n| (0..3).map(|block| 0.5 * SCALES[block][n] * sums[block][n]).sum::<f32>())
    };
    let exact = real([[600.0, 0.0], [10.0, 250.0], [505.0, -530.0]]);
    let narrow = real([[511.0, 0.0], [10.0, -1.0], [505.0, -492.0]]);
    assert_eq!(real_array(&mut archive, "exact/y"), exact);
    assert_eq!(real_array(&mut archive, "simulated/y"), narrow);
}

/// The widths that blocks need follow from their own products; the padding of the last block adds none.
#[test]
fn a_filled_block_needs_no_more_bits() {
    let dir = tempfile::tempdir().unwrap();
    let (model, input) = network(dir.path(), 0);
    let out = dir.path().join("out");
    succeed(&["size", &model, "--hw", "exact-int32-os", "--input", &input, "-o", &out.to_string_lossy()]);
    let rows = csv_rows(&out.join("size_channels.csv"));
    let bits = |column: &str| rows.iter().map(|row| row[column].clone()).collect::<Vec<_>>();
    // The sums farthest from 0, of codes -128..=127 with the weights of each block: -768, 0, -512, -65152,
    // -1408, and 1916 for -11 and 4.
    assert_eq!(bits("bits_weights"), ["11", "1", "10", "17", "12", "12"]);
    assert_eq!(bits("bits_data_final"), ["11", "1", "5", "9", "10", "11"]);
    assert_eq!(bits("bits_data_prefix"), ["11", "1", "5", "11", "10", "11"]);
}

/// Blocks along another axis stay in float; the audit, the table of host operations and `--strict` state the
/// reason.
#[test]
fn blocks_of_another_axis_stay_in_float_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let (model, _) = network(dir.path(), 1);
    let why = "weights have a scale per block along axis 1";
    let audit = succeed(&["inspect", &model, "--audit"]);
    let line = audit.lines().find(|line| line.contains("MatMul is float_matmul")).unwrap();
    assert!(line.contains("float") && line.contains(why), "{line}");
    assert!(succeed(&["inspect", &model, "--hw", "exact-int32-os"]).contains(why));
    let strict = guardbit(&["inspect", &model, "--hw", "exact-int32-os", "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
    // A diagnostic wraps its lines.
    let text = String::from_utf8(strict.stderr).unwrap();
    assert!(text.contains("scale per block"), "{text}");
}
