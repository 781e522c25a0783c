//! Observed real values per channel.

use super::Observed;

/// Observed real values of every channel of a tensor; the channel is its last axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedChannels {
    channels: Vec<Observed>,
}

impl ObservedChannels {
    /// Returns empty observations of `channels` channels.
    pub fn new(channels: usize) -> Self {
        Self { channels: vec![Observed::default(); channels] }
    }

    /// Returns the observed values of each channel.
    pub fn channels(&self) -> &[Observed] {
        &self.channels
    }

    /// Adds the values of one sample: element `i` belongs to channel `i` modulo the number of channels.
    pub fn add(&mut self, sample: &[f32]) {
        let count = self.channels.len();
        for (channel, observed) in self.channels.iter_mut().enumerate() {
            observed.add_values(sample.iter().copied().skip(channel).step_by(count));
        }
    }

    /// Adds the observed values of later samples of the same channels.
    pub fn merge(&mut self, later: &Self) {
        self.channels.iter_mut().zip(&later.channels).for_each(|(mine, others)| mine.merge(others));
    }
}
