//! Tiles of a layer in the order of the time model, with the words that each reads and writes.

use std::collections::HashMap;

use guardbit_graph::Tap;
use guardbit_hwmodels::MacLayer;
use guardbit_hwmodels::timing::Fold;

use super::image::Placement;
use super::layout::Tile;

/// Greatest number of tiles of a layer.
pub(super) const MAX_TILES: u64 = 1 << 16;

/// Images of a layer.
pub(super) struct Places<'a> {
    pub input: &'a Placement,
    pub output: &'a Placement,
    /// Word of the weight of an image, output channel and window cell.
    pub weight: &'a dyn Fn(usize, usize, usize) -> usize,
}

/// Returns the tiles of `layer`, and the numbers of products after which a tile leaves sums unfinished. `start` is the time
/// of the reference array from one tile to the next.
pub(super) fn tiles(
    layer: &MacLayer,
    folds: &[Fold],
    places: &Places<'_>,
    period: u64,
) -> (Vec<Tile>, Vec<usize>) {
    let outputs = |fold: &Fold| (fold.pixels.start, fold.channels.start);
    let mut passes: HashMap<_, usize> = HashMap::new();
    for fold in folds {
        *passes.entry(outputs(fold)).or_default() += 1;
    }
    let mut seen: HashMap<_, usize> = HashMap::new();
    let (mut spilled, mut ends) = (0, Vec::new());
    let mut tiles = Vec::with_capacity(folds.len());
    for fold in folds {
        let pass = seen.entry(outputs(fold)).or_default();
        let is_done = fold.terms.end == layer.order.len();
        let spill = (!is_done).then_some(spilled);
        if !is_done {
            spilled += fold.pixels.len() * fold.channels.len();
            ends.push(fold.terms.end);
        }
        let (reads, weights, writes) = words(layer, fold, places);
        tiles.push(Tile {
            block: fold.tile,
            core: fold.core,
            pass: *pass,
            passes: passes[&outputs(fold)],
            pixels: [fold.pixels.start, fold.pixels.end],
            channels: [fold.channels.start, fold.channels.end],
            terms: [fold.terms.start, fold.terms.end],
            cycles: [fold.cycles.start, fold.cycles.end],
            start: Some(tiles.len() as u64 * period),
            reads,
            weights,
            writes: writes.filter(|_| is_done),
            spill,
        });
        *pass += 1;
    }
    ends.sort_unstable();
    ends.dedup();
    (tiles, ends)
}

/// Returns the ranges of words that a fold reads of the input and of the weights, and that its outputs have.
fn words(
    layer: &MacLayer,
    fold: &Fold,
    places: &Places<'_>,
) -> (Option<[usize; 2]>, [usize; 2], Option<[usize; 2]>) {
    let window = &layer.dots.window;
    let (mut reads, mut weights, mut writes) = (None, None, None);
    let cells: Vec<_> = fold.terms.clone().map(|k| window.kernel_position(layer.order[k])).collect();
    let groups = |channel: usize| window.group(layer.timing.output(0, channel).c);
    for pixel in fold.pixels.clone() {
        let mut group = None;
        for channel in fold.channels.clone() {
            let out = layer.timing.output(pixel, channel);
            widen(&mut writes, places.output.word([out.n, out.h, out.w, out.c]));
            // Channels of a group read the same activations.
            let here = (out.n, groups(channel));
            if group.replace(here) == Some(here) {
                continue;
            }
            for &cell in &cells {
                if let Tap::Input(at) = window.tap(out, cell) {
                    widen(&mut reads, places.input.word(places.input.position(at)));
                }
            }
        }
    }
    for channel in fold.channels.clone() {
        let out = layer.timing.output(0, channel);
        for k in fold.terms.clone() {
            widen(&mut weights, (places.weight)(out.n, out.c, layer.order[k]));
        }
    }
    (reads, weights.unwrap_or([0, 0]), writes)
}

fn widen(range: &mut Option<[usize; 2]>, word: usize) {
    let [least, greatest] = range.unwrap_or([word, word]);
    *range = Some([least.min(word), greatest.max(word)]);
}
