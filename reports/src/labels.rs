//! Names short enough for an axis.

/// Returns index and short name of a layer, e.g. `#3 conv2d_1`.
pub fn layer_label(index: usize, name: &str) -> String {
    format!("#{index} {name}")
}
