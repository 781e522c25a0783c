//! Change of quantization.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `y = round((x - zx) * sx/sy) + zy`, clamped to the dtype of the output.
    ///
    /// Under equal scales this only moves the zero point, exactly.
    Quantize, "quantize", Activation::None
}
