//! Figures of how far quantized values are from real ones.

/// Signal to noise in dB, of sums of squares; infinite where there is no noise.
pub fn sqnr_db(signal: f64, noise: f64) -> f64 {
    if noise == 0.0 { f64::INFINITY } else { 10.0 * (signal / noise).log10() }
}
