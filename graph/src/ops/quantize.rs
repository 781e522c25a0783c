//! Change of quantization.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `y = round((x - zx) * sx/sy) + zy`, clamped to the dtype of the output.
    ///
    /// With equal scales this only moves the zero point, exactly. Sums of 32 bits may have scales along the axis of
    /// their channels.
    Quantize, "quantize", Activation::None
}
