//! Files that are too long to be stored.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;

use ndarray_npy::WriteNpyExt;

const QUAD: [&[u8]; 3] =
    [include_bytes!("quad_head.part"), include_bytes!("quad_middle.part"), include_bytes!("quad_tail.part")];
const LONG: [&[u8]; 2] = [include_bytes!("long_head.part"), include_bytes!("long_tail.part")];
/// Elements of an array that compresses a thousandfold.
const BOMB: u64 = 1 << 30;
const NESTED: &[u8] = include_bytes!("nested_20.npy");
const V2: &[u8] = include_bytes!("v2_hlen_4g.npy");

/// Writes all of them to `dir`.
pub fn write_long(dir: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).unwrap();
    write("quad50000.tflite", &quad());
    write("long.tflite", &[LONG[0], &vec![b'L'; 100_000], LONG[1]].concat());
    write("deep2.yaml", format!("schema: 1\nx: {}1{}\n", "[".repeat(50_000), "]".repeat(50_000)).as_bytes());
    write("aliases.yaml", aliases().as_bytes());
    write("line.yaml", graph_line().as_bytes());
    write(
        "hw_line.yaml",
        format!("{{schema: 1, name: \"{}\", product: {{bits: nine}}}}", long_text()).as_bytes(),
    );
    let study = "{schema: 1, model: net.tflite, hw: fpga-int14-os, output: \"LONG\", sweep: {bits: nine}}";
    write("study_line.yaml", study.replace("LONG", &long_text()).as_bytes());
    write("rate.yaml", b"{schema: 1, extends: fpga-int14-os, memory: {dram_bytes_per_cycle: 1e-30}}");
    write("layers.yaml", layers().as_bytes());
    for name in ["pipe.yaml", "pipe.npy"] {
        assert!(Command::new("mkfifo").arg(dir.join(name)).status().unwrap().success());
    }
    write("nested.npy", NESTED);
    write("v2.npy", V2);
    for (name, file) in
        [("pipe", "pipe.npy"), ("zero", "/dev/zero"), ("nested", "nested.npy"), ("v2", "v2.npy")]
    {
        write(&format!("behind_{name}.yaml"), weights_in(file).as_bytes());
    }
    let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': (1, {BOMB}), }}");
    let header = format!("{header:<117}\n");
    let start = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat();
    archive(&dir.join("bomb.npz"), &mut start.chain(io::repeat(0).take(BOMB)));
    archive(&dir.join("nested.npz"), &mut &NESTED[..]);
}

/// Writes an array in NumPy's format.
pub fn npy(path: &Path, values: &[i8], shape: &[usize]) {
    let array = ndarray::ArrayD::from_shape_vec(shape, values.to_vec()).unwrap();
    array.write_npy(File::create(path).unwrap()).unwrap();
}

/// Returns a file with 50,000 operators that share one table.
fn quad() -> Vec<u8> {
    let offsets = (0..50_000u32).flat_map(|i| (0x30d4c - 4 * i).to_le_bytes());
    let outputs = (0..50_000).flat_map(|_| 1u32.to_le_bytes());
    let parts = [QUAD[0].to_vec(), offsets.collect(), QUAD[1].to_vec(), outputs.collect(), QUAD[2].to_vec()];
    parts.concat()
}

/// Returns text with more columns than 16 bits count.
fn long_text() -> String {
    "x".repeat(70_000)
}

/// Returns a network in one line, with an error at its end.
fn graph_line() -> String {
    let names: Vec<String> =
        (0..7000).map(|i| format!("{{name: t{i}, shape: [1], dtype: int8, scale: 1}}")).collect();
    format!(
        "{{schema: 1, nodes: [], outputs: [], inputs: [{}, {{name: z, shape: [1], dtype: int8, scale: wide}}]}}",
        names.join(", ")
    )
}

/// Returns nine lines that expand to a billion values.
fn aliases() -> String {
    let mut text = String::from("schema: 1\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for i in 1..10 {
        let row = vec![format!("*a{}", i - 1); 10].join(", ");
        text += &format!("a{i}: &a{i} [{row}]\n");
    }
    text
}

/// Returns an accelerator with entries for 2,000 layers.
fn layers() -> String {
    let entry = |i| format!("  layer{i}: {{accumulation.acc.bits: 16}}\n");
    format!("schema: 1\nextends: fpga-int14-os\nlayers:\n{}", (0..2000).map(entry).collect::<String>())
}

/// Returns a network with weights in a file.
fn weights_in(file: &str) -> String {
    format!(
        "schema: 1\ninputs: [{{name: x, shape: [1, 8], dtype: int8, scale: 1}}]\n\
         constants: [{{name: w, shape: [1, 8, 8, 1], dtype: int8, scale: 1, file: {file}}}]\n\
         nodes: [{{op: fully_connected, inputs: [x, w], output: {{name: y, dtype: int8, scale: 1}}}}]\noutputs: [y]\n"
    )
}

/// Writes an archive with one compressed member `x.npy`.
fn archive(path: &Path, bytes: &mut dyn Read) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    archive.start_file("x.npy", zip::write::SimpleFileOptions::default().large_file(true)).unwrap();
    io::copy(bytes, &mut archive).unwrap();
    archive.finish().unwrap().flush().unwrap();
}
