//! Table of the tiles of layers.

use super::fit::{Fitted, View};
use crate::TileRecord;
use crate::numbers::human;

/// Returns the tile of every layer as text, with layers by their short names, with the columns that fit.
pub fn tiles_text(tiles: &[TileRecord], view: &View) -> String {
    let cells = |cell: &dyn Fn(&TileRecord) -> String| tiles.iter().map(cell).collect::<Vec<_>>();
    let count = |count: u64| human(count);
    Fitted::default()
        .column(0, "layer", cells(&|tile| tile.name.clone()))
        .column(3, "index", cells(&|tile| tile.index.to_string()))
        .column(0, "tiles", cells(&|tile| count(tile.count as u64)))
        .column(1, "pixels", cells(&|tile| count(tile.pixels as u64)))
        .column(1, "channels", cells(&|tile| count(tile.channels as u64)))
        .column(1, "terms", cells(&|tile| count(tile.terms as u64)))
        .column(4, "order", cells(&|tile| tile.order.replace('_', " ")))
        .column(2, "activations", cells(&|tile| count(tile.activation_bytes)))
        .column(2, "weights", cells(&|tile| count(tile.weight_bytes)))
        .column(2, "sums", cells(&|tile| count(tile.sum_bytes)))
        .column(0, "fits", cells(&|tile| if tile.fits { "yes" } else { "no" }.into()))
        .every_row(view, "layer")
}
