//! Observed real values of a tensor.

mod channels;
mod histogram;

pub use channels::ObservedChannels;
pub use histogram::{Histogram, Uniform};

/// Extremes and histogram of real values, sample by sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    low: f64,
    high: f64,
    samples: Vec<(f32, f32)>,
    histogram: Histogram,
    left_out: u64,
}

impl Observed {
    /// Returns the least and the greatest observed value, including 0.
    pub fn extremes(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns the greatest observed magnitude.
    pub fn magnitude(&self) -> f64 {
        self.high.max(-self.low)
    }

    /// Returns the least and the greatest value of each sample, in order, without including 0. Samples
    /// without a finite value are left out.
    pub fn samples(&self) -> &[(f32, f32)] {
        &self.samples
    }

    /// Returns the histogram of the values, which does not depend on their order.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Returns the number of observed values that are not finite. All other figures leave them out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds the values of one sample. Values that are not finite are left out.
    pub fn add(&mut self, sample: &[f32]) {
        self.add_values(sample.iter().copied());
    }

    /// Adds the observed values of later samples.
    pub fn merge(&mut self, later: &Self) {
        self.low = self.low.min(later.low);
        self.high = self.high.max(later.high);
        self.samples.extend_from_slice(&later.samples);
        self.histogram.merge(&later.histogram);
        self.left_out += later.left_out;
    }

    fn add_values(&mut self, values: impl Iterator<Item = f32> + Clone) {
        let mut extremes: Option<(f32, f32)> = None;
        for value in values.clone() {
            if value.is_finite() {
                let (low, high) = extremes.unwrap_or((value, value));
                extremes = Some((low.min(value), high.max(value)));
            } else {
                self.left_out += 1;
            }
        }
        let Some((low, high)) = extremes else { return };
        self.samples.push((low, high));
        self.low = self.low.min(low.into());
        self.high = self.high.max(high.into());
        self.histogram.reach(self.magnitude());
        values.filter(|value| value.is_finite()).for_each(|value| self.histogram.count(value.into()));
    }
}
