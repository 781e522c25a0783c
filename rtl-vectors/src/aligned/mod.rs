//! Bundles of floating-point layers: products aligned to the largest exponent, cut, added, promoted.
//!
//! One unit of the accelerator, beat by beat: a beat is one addition. Expected values are those of `guardbit_num`, whose
//! arithmetic the simulator uses too.

mod again;
mod aimed;
mod assemble;
mod beats;
mod bins;
mod corners;
mod draw;
mod fault;
mod formats;
mod hdl;
mod interface;
mod manifest;
mod model;
mod real;
mod replay;
mod scaled;
#[cfg(test)]
mod tests;
mod unit;

use guardbit_graph::NodeId;
use guardbit_hwmodels::Program;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

pub use assemble::FloatBundle;
pub use hdl::{float_reference_rtl, float_unit_rtl};
pub use manifest::{
    FLOAT_KIND, FloatArithmetic, FloatBin, FloatCase, FloatCompared, FloatInterface, FloatLayerInfo,
    FloatManifest, FormatInfo, ScaleInfo, float_manifest_schema,
};
pub use real::FloatOperands;
pub(crate) use replay::{check, mutate};

use crate::VectorError;
use crate::bundle::{Format, Request};
use crate::describe;
use crate::manifest::Source;
use crate::sizes::{MAX_PRODUCTS, MAX_TERMS};
use assemble::{Parts, assemble};
use unit::Unit;

/// Exports a floating-point layer. `inputs` holds the codes of its operands, sample by sample.
///
/// Equal arguments give equal bytes.
///
/// # Errors
/// [`VectorError`] if the node is not such a layer, or if the bundle format or the reference RTL does not support it.
pub fn export_float(
    program: &Program,
    node: NodeId,
    inputs: &[FloatOperands],
    request: &Request,
) -> Result<FloatBundle, VectorError> {
    let name = program.graph.node_name(node).to_owned();
    let Some(layer) = program.float_layers().find(|layer| layer.node == node) else {
        return Err(VectorError::Unsupported {
            layer: name,
            what: "an operation that runs on the host".into(),
        });
    };
    let unit = Unit::of_layer(layer)?;
    supported(&name, request)?;
    let window = &layer.dots.window;
    let most = window.dots().saturating_mul(inputs.len()).min(request.source.cases);
    let products = most.saturating_mul(layer.order.len());
    if products > MAX_PRODUCTS || layer.order.len() > MAX_TERMS {
        return Err(VectorError::TooLong { layer: name, products });
    }
    let mut random = Pcg64Mcg::seed_from_u64(request.source.seed);
    let mut dots = real::real(layer, &unit, inputs, request.source.cases, &mut random);
    dots.extend(corners::corners(&unit, layer.order.len(), request.source.seed));
    let mut accelerator = program.accelerator_of(node).clone();
    // Of several given permutations, only the layer's own is exported.
    let names = [layer.short_name.as_str(), layer.name.as_str()];
    if let Some((order, _)) = accelerator.datapath.order.of_layer(&names, window.kernel) {
        accelerator.datapath.order = order;
    }
    Ok(assemble(Parts {
        source: Source { accelerator: accelerator.name.clone(), ..request.source.clone() },
        settings: request.settings.clone(),
        packing: request.packing,
        formats: &request.formats,
        layer: FloatLayerInfo {
            index: node.index(),
            name,
            op: layer.op.into(),
            terms: layer.order.len(),
            dots: window.dots(),
            input: layer.dots.activations.dtype.name().into(),
            weight: layer.dots.weights.dtype.name().into(),
            window: describe::window(window),
        },
        accelerator: &accelerator,
        unit: &unit,
        dots: &dots,
    }))
}

/// Refuses formats of files that exist for integer layers only.
fn supported(layer: &str, request: &Request) -> Result<(), VectorError> {
    let what = match (request.formats.contains(&Format::Axis), request.waves.is_empty()) {
        (true, _) => "AXI4-Stream transfers of a floating-point layer",
        (_, false) => "waveforms of a floating-point layer",
        _ => return Ok(()),
    };
    let help = "leave out --waves, and `axis` of --formats: both are for integer layers";
    Err(VectorError::FloatUnsupported { layer: layer.into(), what: what.into(), help })
}
