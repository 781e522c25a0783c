//! Layers whose weights are activations, on the fast engine. Each image runs as a layer with constant
//! weights.

use std::ops::Range;
use std::sync::Arc;

use guardbit_hwmodels::MacLayer;

use super::{LayerRun, Made, Reading, exact_pixels, pixels, run_pixels};
use crate::codes::{Codes, Packed};
use crate::fast::{LayerCounts, Prepared, Scratch, Sites};
use crate::reads::Reads;

/// Runs every program's layer on the same operands; `layer` is that of the first program.
pub(super) fn run(
    layer: &MacLayer,
    runs: &mut [LayerRun<'_, '_>],
    reading: &Reading<'_>,
    scratch: &mut Scratch,
) -> Made {
    let whole = || Packed::zeros(reading.dtype, layer.dots.window.dots());
    let (mut exact, mut image) = (whole(), None);
    let mut simulated: Vec<Packed> = runs.iter().map(|_| whole()).collect();
    // The exact codes are the result of programs that produce no others.
    let reading = Reading { wants_exact: true, ..*reading };
    each_image(layer, &reading, |index, weights, at, reading| {
        let layers: Vec<MacLayer> = runs.iter().map(|run| run.layer.with_weights(weights, index)).collect();
        let mut prepared: Vec<Prepared<'_>> = Vec::with_capacity(layers.len());
        for (layer, run) in layers.iter().zip(&*runs) {
            prepared.push(prepare(layer, prepared.first(), run.prepared.sites.clone(), reading));
        }
        let all = runs.iter().zip(&prepared);
        let mut counts: Vec<LayerCounts> =
            all.map(|(run, prepared)| run.counts.empty(prepared, reading.sample)).collect();
        let of_image = layers.iter().zip(&prepared).zip(&mut counts);
        let mut of_image: Vec<LayerRun<'_, '_>> = of_image
            .map(|((layer, prepared), counts)| LayerRun { layer, prepared, counts, trap: None })
            .collect();
        let made = run_pixels(&mut of_image, reading, at.clone(), &mut image, scratch);
        let traps: Vec<_> = of_image.into_iter().map(|run| run.trap).collect();
        for (((run, trap), mut counts), prepared) in runs.iter_mut().zip(traps).zip(counts).zip(&prepared) {
            run.trap = run.trap.into_iter().chain(trap).min();
            counts.flush(prepared, reading.options);
            run.counts.merge(counts);
        }
        let first = at.start * layer.dots.window.channels();
        exact.overwrite(first, made.exact.packed());
        for (whole, own) in simulated.iter_mut().zip(&made.simulated) {
            whole.overwrite(first, own.as_ref().unwrap_or(&made.exact).packed());
        }
    });
    Made { exact: exact.into(), simulated: simulated.into_iter().map(|codes| Some(codes.into())).collect() }
}

/// Returns the exact output codes.
pub(super) fn exact_codes(layer: &MacLayer, reading: &Reading<'_>, scratch: &mut Scratch) -> Codes {
    let (mut exact, mut image) = (Packed::zeros(reading.dtype, layer.dots.window.dots()), None);
    each_image(layer, reading, |index, weights, at, reading| {
        let layer = layer.with_weights(weights, index);
        let prepared = prepare(&layer, None, None, reading);
        let codes = exact_pixels(&layer, Some(&prepared), reading, at.clone(), &mut image, scratch);
        exact.overwrite(at.start * layer.dots.window.channels(), codes.packed());
    });
    exact.into()
}

/// Calls `each` with every image, the codes of all weights, the image's pixels, and the reading without
/// weights.
fn each_image<'a>(
    layer: &MacLayer,
    reading: &Reading<'a>,
    mut each: impl FnMut(usize, &[i32], Range<usize>, &Reading<'a>),
) {
    let weights = reading.codes.weights.map_or_else(Vec::new, Codes::to_vec);
    let reading = Reading { codes: Reads::from(reading.codes.activations), ..*reading };
    let images = layer.dots.window.batch;
    let of_image = pixels(layer) / images.max(1);
    for image in 0..images {
        each(image, &weights, image * of_image..(image + 1) * of_image, &reading);
    }
}

/// Prepares the layer of one image. `sites` are those of all images.
fn prepare<'a>(
    layer: &'a MacLayer,
    like: Option<&Prepared<'a>>,
    sites: Option<Arc<Sites<'a>>>,
    reading: &Reading<'_>,
) -> Prepared<'a> {
    Prepared::new(
        layer,
        reading.input.min()..=reading.input.max(),
        reading.dtype,
        like,
        true,
        sites.unwrap_or_else(|| Sites::shared(layer, None)),
        reading.options,
    )
}
