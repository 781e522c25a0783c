//! How a network is to be quantized, as it is asked for in words.

use std::sync::Arc;

use guardbit_quantize::method::METHODS;
use guardbit_quantize::{CodeSetting, Config, LAYER_METHODS, LayerSetting, Scales, Symmetry};
use guardbit_sim::Mode;

use super::setting::{MOST_ACTIVATION_BITS, MOST_WEIGHT_BITS, parse_codes, parse_rule};
use crate::StudyError;

/// How a network is to be quantized, in words: the defaults of [`Config`] where nothing is said.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizeChoices {
    /// The method that chooses ranges of activations, or for whole layers.
    pub method: String,
    /// The method that chooses ranges of weights.
    pub weight_method: String,
    /// Codes of weights: `int2` to `int8`, `uint2` to `uint8`.
    pub weights: String,
    /// Codes of activations: `int2` to `int16`, `uint2` to `uint16`.
    pub activations: String,
    /// One scale for all weights of a layer, not one per output channel.
    pub per_tensor: bool,
    /// Activations with real 0 in the middle of the codes.
    pub symmetric: bool,
    /// Weights with any zero point.
    pub asymmetric_weights: bool,
    /// Weights from the least code on, not from one above it.
    pub full_range: bool,
    /// Scales that are powers of two.
    pub power_of_two: bool,
    /// Other settings for layers: `LAYER:SETTINGS`, see [`parse_rule`].
    pub layers: Vec<String>,
    /// Where activations are observed: behind the quantized layers before them, or in the float network.
    pub mode: Mode,
    /// Whether ranges of weights are balanced between convolutions that follow each other.
    pub equalize: bool,
    /// Whether hard-swish becomes a hard-sigmoid and a product, each with codes of its own, and not one table.
    pub inline_functions: bool,
    /// Whether the mean error of every layer's sums is taken into its bias.
    pub correct_bias: bool,
    /// The least SQNR, in dB, that a layer may have by its own quantization; one below stays in float.
    pub least_sqnr: Option<f64>,
}

impl Default for QuantizeChoices {
    fn default() -> Self {
        Self {
            method: Self::METHOD.into(),
            weight_method: Self::METHOD.into(),
            weights: Self::WEIGHTS.into(),
            activations: Self::ACTIVATIONS.into(),
            per_tensor: false,
            symmetric: false,
            asymmetric_weights: false,
            full_range: false,
            power_of_two: false,
            layers: Vec::new(),
            mode: Mode::Propagated,
            equalize: false,
            inline_functions: false,
            correct_bias: false,
            least_sqnr: None,
        }
    }
}

impl QuantizeChoices {
    /// The method where none is named, for activations and for weights.
    pub const METHOD: &str = "min-max";
    /// Codes of weights where none are named.
    pub const WEIGHTS: &str = "int8";
    /// Codes of activations where none are named.
    pub const ACTIVATIONS: &str = "uint8";

    /// The checked form.
    ///
    /// # Errors
    /// [`StudyError::QuantizeSetting`] naming what cannot be read, or a method that there is not.
    pub fn config(&self) -> Result<Config, StudyError> {
        let scales = if self.power_of_two { Scales::PowersOfTwo } else { Scales::Any };
        let symmetry = if self.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let activations = CodeSetting { scales, symmetry, ..CodeSetting::ACTIVATIONS };
        let activations = parse_codes(&self.activations, activations, MOST_ACTIVATION_BITS)?;
        let weight_symmetry =
            if self.asymmetric_weights { Symmetry::Asymmetric } else { Symmetry::Symmetric };
        let weights = CodeSetting {
            scales,
            symmetry: weight_symmetry,
            restricted: !self.full_range,
            ..CodeSetting::WEIGHTS
        };
        let weights = parse_codes(&self.weights, weights, MOST_WEIGHT_BITS)?;
        let rules: Result<Vec<_>, _> =
            self.layers.iter().map(|text| parse_rule(text, activations, weights)).collect();
        let mut config = Config {
            setting: LayerSetting { activations, weights, per_channel: !self.per_tensor, float: false },
            rules: rules?,
            propagate: self.mode != Mode::Isolated,
            least_sqnr_db: self.least_sqnr,
            equalize: self.equalize,
            inline_functions: self.inline_functions,
            correct_bias: self.correct_bias,
            ..Config::default()
        };
        let tensors = |name: &str| METHODS.iter().find(|method| method.name() == name).copied();
        let layers = LAYER_METHODS.iter().find(|method| method.name() == self.method).copied();
        let none = |name: &str| {
            let all = METHODS.iter().map(|method| method.name());
            let all: Vec<_> = all.chain(LAYER_METHODS.iter().map(|method| method.name())).collect();
            let problem = format!("no method of that kind; the methods are {}", all.join(", "));
            StudyError::QuantizeSetting { setting: name.into(), problem }
        };
        match (tensors(&self.method), layers) {
            (Some(method), _) => config.method = Arc::new(method),
            (None, Some(method)) => config.layer_method = Some(Arc::new(method)),
            (None, None) => return Err(none(&self.method)),
        }
        let weight_method = tensors(&self.weight_method).ok_or_else(|| none(&self.weight_method))?;
        config.weight_method = Arc::new(weight_method);
        Ok(config)
    }
}
