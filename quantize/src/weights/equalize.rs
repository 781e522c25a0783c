//! Cross-layer equalization: ranges of weights balanced between layers that follow each other.

/// The weights of a layer, `[output channel][cell]`, the channel of the group being the cells' fastest axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The weights.
    pub weights: Vec<f32>,
    /// The bias, one per output channel.
    pub bias: Option<Vec<f32>>,
    /// Output channels.
    pub channels: usize,
    /// Input channels of a group.
    pub depth: usize,
    /// Groups: as many as input channels for a depthwise layer.
    pub groups: usize,
}

impl Layer {
    /// Input channels.
    pub fn inputs(&self) -> usize {
        self.depth * self.groups
    }

    fn terms(&self) -> usize {
        self.weights.len() / self.channels.max(1)
    }

    /// The input channel that a weight reads.
    fn input(&self, index: usize) -> usize {
        let (channel, cell) = (index / self.terms().max(1), index % self.terms().max(1));
        channel / (self.channels / self.groups.max(1)).max(1) * self.depth + cell % self.depth.max(1)
    }

    /// The greatest magnitude among the weights of each output channel.
    fn output_ranges(&self) -> Vec<f64> {
        let range = |weights: &[f32]| weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        self.weights.chunks(self.terms().max(1)).map(|weights| range(weights).into()).collect()
    }

    /// The greatest magnitude among the weights that read each input channel.
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

/// Rounds over a chain, at most.
const ROUNDS: usize = 20;

/// Balances a chain of layers, each the only reader of the one before it, with nothing between them but activations that
/// keep positive factors (none, ReLU, leaky ReLU, with a slope per channel too).
///
/// For the channel i between two layers, with the greatest magnitudes `r1` of the weights that make it and `r2` of those
/// that read it, `s_i = sqrt(r1 * r2) / r2`: the first layer's weights and bias are divided by it, the second's are
/// multiplied, so that both ranges are `sqrt(r1 * r2)` and the network is the same. Pair by pair, until no factor is further
/// than a thousandth from 1, or for 20 rounds. Channels that are 0 on either side stay.
///
/// Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019), section 4.1.
///
/// What is returned is, for every layer but the last, what its output channels were divided by in all.
///
/// # Panics
/// If a layer has another number of input channels than the one before it has output channels.
pub fn equalize(chain: &mut [Layer]) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = chain.iter().map(|layer| vec![1.0; layer.channels]).collect();
    all.pop();
    for _ in 0..ROUNDS {
        let mut furthest = 0.0f64;
        for (index, all) in all.iter_mut().enumerate() {
            let [first, second] = &mut chain[index..index + 2] else { continue };
            assert_eq!(first.channels, second.inputs(), "layers that follow each other");
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
