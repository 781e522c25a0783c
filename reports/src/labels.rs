//! Names that fit on an axis.

/// `#3 conv2d_1`: index and short name of a layer.
pub fn layer_label(index: usize, name: &str) -> String {
    format!("#{index} {name}")
}
