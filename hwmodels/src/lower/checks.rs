//! Checks of a layer, whatever its codes are.

use guardbit_graph::{MAX_ELEMENTS, Window};

use super::error::LowerError;
use crate::Walk;

/// Returns an error for a layer with more weights than the largest tensor; those of a pool are not a tensor.
pub(super) fn check_size(layer: &str, window: &Window) -> Result<(), LowerError> {
    let channels = window.channels();
    let sizes = window.kernel.iter().chain([&channels]);
    let all = sizes.copied().try_fold(1usize, |all, size| all.checked_mul(size.max(1)));
    if all.is_some_and(|all| all <= MAX_ELEMENTS) {
        return Ok(());
    }
    let cells = window.kernel.map(|size| size.to_string()).join("x");
    Err(LowerError::TooManyProducts { layer: layer.into(), channels, cells })
}

/// Returns the error for a layer without a permutation of its length.
pub(super) fn no_permutation(layer: String, window: &Window, walk: &Walk) -> LowerError {
    let given = match walk {
        Walk::File(given) => {
            given.iter().map(|(name, order)| format!("`{name}` (length {})", order.len())).collect()
        }
        _ => Vec::new(),
    };
    LowerError::NoPermutation { layer, terms: window.terms(), given: given.join(", ") }
}
