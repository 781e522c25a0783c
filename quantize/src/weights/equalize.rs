//! Cross-layer equalization: balances weight ranges between consecutive layers.

/// Weights of a layer, `[output channel][cell]`; within a cell, the input channel of the group is the fastest
/// axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Values of the weights.
    pub weights: Vec<f32>,
    /// Bias, one value per output channel.
    pub bias: Option<Vec<f32>>,
    /// Number of output channels.
    pub channels: usize,
    /// Number of input channels per group.
    pub depth: usize,
    /// Number of groups: equal to the number of input channels for a depthwise layer.
    pub groups: usize,
}

impl Layer {
    /// Returns the number of input channels.
    pub fn inputs(&self) -> usize {
        self.depth * self.groups
    }

    fn terms(&self) -> usize {
        self.weights.len() / self.channels.max(1)
    }

    /// Returns the input channel that a weight reads.
    fn input(&self, index: usize) -> usize {
        let (channel, cell) = (index / self.terms().max(1), index % self.terms().max(1));
        channel / (self.channels / self.groups.max(1)).max(1) * self.depth + cell % self.depth.max(1)
    }

    /// Returns the largest weight magnitude of each output channel.
    fn output_ranges(&self) -> Vec<f64> {
        let range = |weights: &[f32]| weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        self.weights.chunks(self.terms().max(1)).map(|weights| range(weights).into()).collect()
    }

    /// Returns the largest weight magnitude that reads each input channel.
    fn input_ranges(&self) -> Vec<f64> {
        let mut ranges = vec![0.0f64; self.inputs()];
        for (index, &weight) in self.weights.iter().enumerate() {
            let range = &mut ranges[self.input(index)];
            *range = range.max(f64::from(weight.abs()));
        }
        ranges
    }

    fn divide_outputs(&mut self, factors: &[f64]) {
        let terms = self.terms().max(1);
        for (index, weight) in self.weights.iter_mut().enumerate() {
            *weight = (f64::from(*weight) / factors[index / terms]) as f32;
        }
        for (bias, factor) in self.bias.iter_mut().flatten().zip(factors) {
            *bias = (f64::from(*bias) / factor) as f32;
        }
    }

    fn multiply_inputs(&mut self, factors: &[f64]) {
        for index in 0..self.weights.len() {
            let factor = factors[self.input(index)];
            self.weights[index] = (f64::from(self.weights[index]) * factor) as f32;
        }
    }
}

/// Maximum number of passes over a chain.
const ROUNDS: usize = 20;

/// Balances a chain of layers. Each layer is the only reader of the previous one, with nothing between them
/// except activations that preserve positive factors (none, ReLU, leaky ReLU, also with a slope per channel).
///
/// For a channel i between two layers, let `r1` be the largest magnitude of the weights that produce it, and
/// `r2` of the weights that read it. With `s_i = sqrt(r1 * r2) / r2`, the first layer's weights and bias are
/// divided by `s_i`, and the second layer's weights are multiplied by it. Both ranges become `sqrt(r1 * r2)`,
/// and the network's function is unchanged. Pairs are balanced in turn until all factors are within a
/// thousandth of 1, or for 20 passes. Channels that are 0 on either side are left unchanged.
///
/// Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019),
/// section 4.1.
///
/// Returns, for every layer except the last, the total divisor of each output channel.
///
/// # Panics
/// If a layer's number of input channels differs from the previous layer's number of output channels.
pub fn equalize(chain: &mut [Layer]) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = chain.iter().map(|layer| vec![1.0; layer.channels]).collect();
    all.pop();
    for _ in 0..ROUNDS {
        let mut furthest = 0.0f64;
        for (index, all) in all.iter_mut().enumerate() {
            let [first, second] = &mut chain[index..index + 2] else { continue };
            assert_eq!(first.channels, second.inputs(), "the layers are consecutive");
            let factors = factors(&first.output_ranges(), &second.input_ranges());
            first.divide_outputs(&factors);
            second.multiply_inputs(&factors);
            for (all, factor) in all.iter_mut().zip(factors) {
                *all *= factor;
                furthest = furthest.max((factor - 1.0).abs());
            }
        }
        if furthest < 1e-3 {
            break;
        }
    }
    all
}

fn factors(made: &[f64], read: &[f64]) -> Vec<f64> {
    let factor = |(&made, &read): (&f64, &f64)| {
        let factor = (made / read).sqrt();
        if factor.is_normal() { factor } else { 1.0 }
    };
    made.iter().zip(read).map(factor).collect()
}
