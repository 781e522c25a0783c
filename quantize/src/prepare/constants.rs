//! Real constants.

use guardbit_graph::{Tensor, real_of};

/// Returns the values of a constant of real numbers.
pub(crate) fn reals(tensor: &Tensor) -> Option<Vec<f32>> {
    let codes = tensor.codes().filter(|_| tensor.ty.dtype == guardbit_graph::DType::Float32)?;
    Some(codes.iter().map(real_of).collect())
}

/// One number per channel, or one for all.
#[derive(Debug, Clone)]
pub(crate) struct PerChannel(Vec<f32>);

impl PerChannel {
    /// Returns the number of a channel.
    pub fn of(&self, channel: usize) -> f64 {
        f64::from(self.0[if self.0.len() == 1 { 0 } else { channel }])
    }

    /// Returns the numbers of all `channels` channels.
    pub fn spread(&self, channels: usize) -> Vec<f32> {
        (0..channels).map(|channel| self.of(channel) as f32).collect()
    }
}

/// Returns a constant that broadcasts along a last axis of `channels` channels, and adds no axis to a tensor
/// of rank `rank`.
pub(crate) fn per_channel(tensor: &Tensor, channels: usize, rank: usize) -> Option<PerChannel> {
    let shape = &tensor.ty.shape;
    let (last, front) = shape.split_last().map_or((1, &[][..]), |(&last, front)| (last, front));
    let fits = shape.len() <= rank && front.iter().all(|&size| size == 1) && (last == 1 || last == channels);
    fits.then(|| reals(tensor).map(PerChannel)).flatten()
}
