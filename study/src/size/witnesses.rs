//! Inputs that attain the bounds, as files.

use std::io::Cursor;
use std::path::Path;

use guardbit_hwmodels::Program;
use guardbit_reports::{NpzWriter, WitnessRecord, write_atomic};

use super::layers::SizedLayer;
use crate::StudyError;

/// What the witnesses show.
pub(super) fn records(layers: &[SizedLayer<'_>]) -> Vec<WitnessRecord> {
    let record = |layer: &SizedLayer<'_>| {
        let witness = layer.witness.as_ref()?;
        let out = witness.out;
        Some(WitnessRecord {
            index: layer.layer.node.index(),
            layer: layer.layer.name.clone(),
            name: layer.layer.short_name.clone(),
            out: [out.n, out.h, out.w, out.c],
            sum: witness.sum,
            bits: witness.bits,
            attained: witness.attained,
        })
    };
    layers.iter().filter_map(record).collect()
}

/// One array per layer, under its name: the codes of the layer's own input.
pub(super) fn write(path: &Path, program: &Program, layers: &[SizedLayer<'_>]) -> Result<(), StudyError> {
    let graph = &program.graph;
    let mut npz = NpzWriter::new(Cursor::new(Vec::new()));
    for layer in layers {
        let Some(Some(id)) = graph.node(layer.layer.node).inputs.first() else { continue };
        if let Some(witness) = &layer.witness {
            let ty = &graph.tensor(*id).ty;
            npz.add(&layer.layer.name, ty.dtype, &ty.shape, witness.input.iter().copied())?;
        }
    }
    Ok(write_atomic(path, npz.finish()?.get_ref())?)
}
