//! Writes inputs that attain the bounds as files.

use std::io::Cursor;

use guardbit_files::Staging;
use guardbit_hwmodels::Program;
use guardbit_hwmodels::bounds::Witness;
use guardbit_reports::{NpzWriter, WitnessRecord};

use super::layers::SizedLayer;
use crate::StudyError;

/// Folder of the witnesses.
pub(super) const FOLDER: &str = "witnesses";

/// Returns a record per level of every layer that describes its witness.
pub(super) fn records(layers: &[SizedLayer<'_>]) -> Vec<WitnessRecord> {
    all(layers).map(|(layer, witness)| record(layer, witness)).collect()
}

/// Writes one file per witness: the codes of the layer's inputs, under the names of its tensors.
pub(super) fn write(
    staging: &mut Staging<'_>,
    program: &Program,
    layers: &[SizedLayer<'_>],
) -> Result<(), StudyError> {
    let graph = &program.graph;
    for (layer, witness) in all(layers) {
        let codes = std::iter::once(&witness.input).chain(&witness.weights);
        let mut npz = NpzWriter::new(Cursor::new(Vec::new()));
        for (id, codes) in program.reads(layer.layer).into_iter().flatten().zip(codes) {
            let tensor = graph.tensor(id);
            // One sample. The first axis counts samples if its size is 1; otherwise an axis of 1 is
            // prepended.
            let samples: &[usize] = if tensor.ty.shape.first() == Some(&1) { &[] } else { &[1] };
            let shape = [samples, &tensor.ty.shape].concat();
            npz.add(&tensor.name, tensor.ty.dtype, &shape, codes.iter().copied())?;
        }
        staging.write(&record(layer, witness).file, npz.finish()?.get_ref())?;
    }
    Ok(())
}

fn all<'a>(layers: &'a [SizedLayer<'a>]) -> impl Iterator<Item = (&'a SizedLayer<'a>, &'a Witness)> {
    layers.iter().flat_map(|layer| layer.witnesses.iter().flatten().map(move |witness| (layer, witness)))
}

fn record(sized: &SizedLayer<'_>, witness: &Witness) -> WitnessRecord {
    let (index, level) = (sized.layer.node.index(), &sized.layer.datapath.levels[witness.level].name);
    let out = witness.out;
    WitnessRecord {
        index,
        layer: sized.layer.name.clone(),
        name: sized.layer.short_name.clone(),
        level: level.clone(),
        run: witness.run,
        out: [out.n, out.h, out.w, out.c],
        sum: witness.sum,
        bits: witness.bits,
        attained: witness.attained,
        file: format!("{FOLDER}/{index}_{level}.npz"),
    }
}
