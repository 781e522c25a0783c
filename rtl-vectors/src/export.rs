//! Exports a layer as a bundle: files by name, in memory.

use guardbit_graph::NodeId;
use guardbit_hwmodels::Program;
use guardbit_hwmodels::timing::{LayerTiming, Outside};
use guardbit_sim::Reads;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use crate::assemble::{Parts, assemble};
use crate::beats::Dot;
use crate::bundle::{Bundle, Request};
use crate::manifest::{LayerInfo, Source};
use crate::sizes::{MAX_LANES, MAX_PRODUCTS, MAX_TERMS};
use crate::{VectorError, arithmetic, array, beats, corners, describe, real};

/// Exports the layer of `node`. `inputs` holds the codes that it reads, sample by sample.
///
/// Equal arguments give equal bytes.
///
/// # Errors
/// [`VectorError`] if the layer's datapath cannot be exported.
pub fn export(
    program: &Program,
    node: NodeId,
    inputs: &[Reads<'_, [i32]>],
    request: &Request,
) -> Result<Bundle, VectorError> {
    Ok(with_dots(program, node, inputs, request)?.0)
}

/// Returns the bundle of [`export`], and its dot products.
pub(crate) fn with_dots(
    program: &Program,
    node: NodeId,
    inputs: &[Reads<'_, [i32]>],
    request: &Request,
) -> Result<(Bundle, Vec<Dot>), VectorError> {
    let name = program.graph.node_name(node).to_owned();
    let Some(layer) = program.mac_layer(node) else {
        return Err(VectorError::Unsupported {
            layer: name,
            what: "an operation that runs on the host".into(),
        });
    };
    let arithmetic = arithmetic::arithmetic(&program.graph, layer)?;
    let lanes = beats::lanes(&layer.datapath, layer.order.len());
    if lanes > MAX_LANES {
        let what = format!("a tree over {lanes} products (at most {MAX_LANES})");
        return Err(VectorError::Unsupported { layer: name, what });
    }
    let window = &layer.dots.window;
    let most = window.dots().saturating_mul(inputs.len()).min(request.source.cases);
    let products = most.saturating_mul(layer.order.len());
    if products > MAX_PRODUCTS || layer.order.len() > MAX_TERMS {
        return Err(VectorError::TooLong { layer: name, products });
    }
    let mut random = Pcg64Mcg::seed_from_u64(request.source.seed);
    let mut dots = real::real(layer, inputs, request.source.cases, &mut random);
    dots.extend(corners::corners(layer, &arithmetic));
    dots.extend(corners::search(layer, &arithmetic, &dots, request.source.seed));
    dots.extend(corners::unshown(layer, &arithmetic, &dots, request.source.seed));
    if dots.is_empty() {
        return Err(VectorError::Empty { layer: name });
    }

    let [input, weight, output] = describe::tensors(&program.graph, layer);
    // Of several given permutations, only the layer's own is exported.
    let mut accelerator = program.accelerator_of(node).clone();
    accelerator.datapath.order = layer.datapath.order.clone();
    // A bundle contains the layer alone, whose activations come from outside.
    let timing = match layer.timing.outside {
        Outside::ALL => layer.timing.clone(),
        _ => LayerTiming::of(&accelerator, window, layer.widths, layer.dots.streams_weights()),
    };
    let array = array::array(program, node, layer, &arithmetic, inputs, request.source.seed);
    let bundle = assemble(Parts {
        source: Source { accelerator: accelerator.name.clone(), ..request.source.clone() },
        settings: request.settings.clone(),
        packing: request.packing,
        formats: &request.formats,
        waves: &request.waves,
        layer: LayerInfo {
            index: node.index(),
            name,
            op: layer.op.into(),
            terms: layer.order.len(),
            dots: window.dots(),
            channels: window.channels(),
            input,
            weight,
            two_activations: layer.dots.streams_weights(),
            output,
            window: describe::window(window),
            constant_bits: layer.widths.constants,
        },
        accelerator: &accelerator,
        timing: &timing,
        arithmetic,
        lanes,
        dots: &dots,
        noise: random,
        array: array.into(),
    })?;
    Ok((bundle, dots))
}
