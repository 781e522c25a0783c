//! Bundles for tests.
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use guardbit_graph::DType;
use guardbit_rtl_vectors::manifest::{Manifest, Packing, Source};
use guardbit_rtl_vectors::{Format, LayerParameters, Request, WaveFormat, export};

/// Accelerator with a layer for it.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    pub accelerator: &'static str,
    pub terms: usize,
    pub packing: Packing,
}

const fn unit(accelerator: &'static str, terms: usize) -> Unit {
    Unit { accelerator, terms, packing: Packing::Dense }
}

/// Datapaths of every kind.
pub const UNITS: &[Unit] = &[
    unit("fpga-int14-os", 27),
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 12, overflow: wrap}\n",
        40,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 13, overflow: sticky}\n",
        40,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate_symmetric}\nbias: {at: preload}\n",
        18,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate_zero, check: hand_over}\n",
        18,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-os\nproduct: {bits: 12, overflow: saturate, shift: 2, round: half_even}\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 12, overflow: saturate, shift: 1, round: half_away}\n",
        30,
    ),
    Unit { packing: Packing::ByteSlot, ..unit("fpga-int14-tree", 37) },
    unit("fpga-int14-ws", 70),
    unit("inner14-outer24", 150),
    unit("schema: 1\nextends: fpga-int14-os\nrequantize: {scheme: float64_away}\n", 20),
];

/// Exports the corner cases of `unit` to `dir`.
pub fn bundle(dir: &Path, unit: Unit) -> Manifest {
    let parameters = LayerParameters {
        terms: unit.terms,
        activation: DType::Int8,
        activation_zero_point: -3,
        weight: DType::Int8,
        weight_zero_point: 0,
    };
    let program = parameters.program(unit.accelerator).unwrap();
    let node = program.mac_layers().next().unwrap().node;
    let source = Source {
        model: "unit".into(),
        model_sha256: "0".repeat(64),
        accelerator: "test".into(),
        accelerator_sha256: "0".repeat(64),
        input: "none".into(),
        seed: 1,
        cases: 0,
    };
    let request = Request {
        source,
        settings: Default::default(),
        packing: unit.packing,
        formats: Format::ALL.to_vec(),
        waves: WaveFormat::ALL.to_vec(),
    };
    let bundle = export(&program, node, &[], &request).unwrap();
    for (path, bytes) in &bundle.files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    bundle.manifest
}
