//! What was seen of the real values of a tensor.

/// Extremes and histogram of real values, sample by sample.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    low: f64,
    high: f64,
}

impl Observed {
    /// The least and the greatest value seen, joined with 0.
    pub fn extremes(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Adds the values of one sample. Values that are no finite numbers are left out.
    pub fn add(&mut self, sample: &[f32]) {
        for &value in sample.iter().filter(|value| value.is_finite()) {
            self.low = self.low.min(value.into());
            self.high = self.high.max(value.into());
        }
    }
}
