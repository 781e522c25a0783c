//! Similarity of quantized values to real ones.

use guardbit_sim::sqnr_db;

/// Similarity of two lists of real values, one exact and one quantized.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Likeness {
    exact: f64,
    quantized: f64,
    product: f64,
    noise: f64,
    greatest_error: f64,
}

impl Likeness {
    /// Adds pairs of values.
    pub fn add(&mut self, exact: &[f32], quantized: &[f32]) {
        for (&a, &b) in exact.iter().zip(quantized) {
            let (a, b) = (f64::from(a), f64::from(b));
            self.exact += a * a;
            self.quantized += b * b;
            self.product += a * b;
            self.noise += (a - b) * (a - b);
            self.greatest_error = self.greatest_error.max((a - b).abs());
        }
    }

    /// Returns the signal-to-quantization-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        sqnr_db(self.exact, self.noise)
    }

    /// Returns the cosine of the angle between both lists; 1 if both are 0.
    pub fn cosine(&self) -> f64 {
        let lengths = (self.exact * self.quantized).sqrt();
        if lengths == 0.0 { f64::from(u8::from(self.noise == 0.0)) } else { self.product / lengths }
    }

    /// Returns the greatest difference.
    pub fn greatest_error(&self) -> f64 {
        self.greatest_error
    }
}

/// Returns the bin of a value among `bins` bins over `[low, high]`.
pub(crate) fn bin(value: f32, [low, high]: [f32; 2], bins: usize) -> usize {
    let width = f64::from(high) - f64::from(low);
    let place = (f64::from(value) - f64::from(low)) / if width > 0.0 { width } else { 1.0 };
    ((place * bins as f64) as usize).min(bins - 1)
}
