//! Settings of a quantization, as text.

use std::sync::Arc;

use guardbit_quantize::method::METHODS;
use guardbit_quantize::{CodeSetting, Config, LAYER_METHODS, LayerSetting, Scales, ShortFloats, Symmetry};
use guardbit_sim::Mode;

use super::setting::{
    MOST_ACTIVATION_BITS, MOST_WEIGHT_BITS, has_scale, of_option, parse_codes, parse_floats, parse_rule,
};
use crate::StudyError;

/// Settings of a quantization, as text; the defaults are those of [`Config`].
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizeChoices {
    /// Method that chooses ranges of activations, or parameters of whole layers.
    pub method: String,
    /// Method that chooses ranges of weights.
    pub weight_method: String,
    /// Codes of weights: `int2` to `int8`, `uint2` to `uint8`, or floating-point codes such as `e4m3`.
    pub weights: String,
    /// Codes of activations: `int2` to `int16`, `uint2` to `uint16`, or floating-point codes if the weights have
    /// such codes too.
    pub activations: String,
    /// Whether all weights of a layer share one scale, instead of one per output channel.
    pub per_tensor: bool,
    /// Whether real 0 is in the middle of the activation codes.
    pub symmetric: bool,
    /// Whether weights may have any zero point.
    pub asymmetric_weights: bool,
    /// Whether weights use the least code, instead of starting one above it.
    pub full_range: bool,
    /// Whether scales are powers of two.
    pub power_of_two: bool,
    /// Overrides for single layers: `LAYER:SETTINGS`, see [`parse_rule`].
    pub layers: Vec<String>,
    /// Where activations are observed: after the quantized layers before them, or in the float network.
    pub mode: Mode,
    /// Whether ranges of weights are balanced between consecutive convolutions.
    pub equalize: bool,
    /// Whether hard-swish becomes a hard-sigmoid and a product, each with its own codes, instead of one
    /// table.
    pub inline_functions: bool,
    /// Whether the mean error of every layer's sums is corrected in its bias.
    pub correct_bias: bool,
    /// Minimum SQNR of a layer's own quantization, in dB; a layer below it stays in float.
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
    /// Default method for activations and for weights.
    pub const METHOD: &str = "min-max";
    /// Default codes of weights.
    pub const WEIGHTS: &str = "int8";
    /// Default codes of activations.
    pub const ACTIVATIONS: &str = "uint8";

    /// Returns the checked form.
    ///
    /// # Errors
    /// [`StudyError::QuantizeSetting`] naming a setting that cannot be read, or an unknown method.
    pub fn config(&self) -> Result<Config, StudyError> {
        let short_floats = parse_floats(&self.weights, &self.activations)?;
        if short_floats.is_some() {
            return self.float_config(short_floats);
        }
        let scales = if self.power_of_two { Scales::PowersOfTwo } else { Scales::Any };
        let symmetry = if self.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let activations = CodeSetting { scales, symmetry, ..CodeSetting::ACTIVATIONS };
        let activations = parse_codes(&self.activations, activations, MOST_ACTIVATION_BITS)
            .map_err(|error| of_option("activations", &self.activations, error))?;
        let weight_symmetry =
            if self.asymmetric_weights { Symmetry::Asymmetric } else { Symmetry::Symmetric };
        let weights = CodeSetting {
            scales,
            symmetry: weight_symmetry,
            restricted: !self.full_range,
            ..CodeSetting::WEIGHTS
        };
        let weights = parse_codes(&self.weights, weights, MOST_WEIGHT_BITS)
            .map_err(|error| of_option("weights", &self.weights, error))?;
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
        self.methods(&mut config)?;
        Ok(config)
    }

    /// Sets the methods.
    fn methods(&self, config: &mut Config) -> Result<(), StudyError> {
        let tensors = |name: &str| METHODS.iter().find(|method| method.name() == name).copied();
        let layers = LAYER_METHODS.iter().find(|method| method.name() == self.method).copied();
        let none = |name: &str| {
            let all = METHODS.iter().map(|method| method.name());
            let all: Vec<_> = all.chain(LAYER_METHODS.iter().map(|method| method.name())).collect();
            let problem = format!("unknown method; the methods are {}", all.join(", "));
            StudyError::QuantizeSetting { setting: name.into(), problem }
        };
        match (tensors(&self.method), layers) {
            (Some(method), _) => config.method = Arc::new(method),
            (None, Some(method)) => config.layer_method = Some(Arc::new(method)),
            (None, None) => return Err(none(&self.method)),
        }
        let weight_method = tensors(&self.weight_method).ok_or_else(|| none(&self.weight_method))?;
        config.weight_method = Arc::new(weight_method);
        Ok(())
    }

    /// Returns the checked form for floating-point codes.
    fn float_config(&self, short_floats: Option<ShortFloats>) -> Result<Config, StudyError> {
        let mut wrong: Vec<(String, String)> = Vec::new();
        let weight_blocks = short_floats.is_some_and(|formats| formats.weight_blocks.is_some());
        let all_blocks =
            weight_blocks && short_floats.is_some_and(|formats| formats.activation_blocks.is_some());
        let without_effect = [
            ("per_tensor", self.per_tensor && weight_blocks),
            ("power_of_two", self.power_of_two && all_blocks),
            ("symmetric", self.symmetric),
            ("asymmetric_weights", self.asymmetric_weights),
            ("full_range", self.full_range),
            ("inline_functions", self.inline_functions),
            ("correct_bias", self.correct_bias),
            ("least_sqnr", self.least_sqnr.is_some()),
        ];
        for (setting, _) in without_effect.iter().filter(|(_, given)| *given) {
            wrong.push((
                (*setting).into(),
                format!("has no effect on codes of {}; leave it out", self.weights),
            ));
        }
        let scales = if self.power_of_two { Scales::PowersOfTwo } else { Scales::Any };
        let with = |codes: CodeSetting| CodeSetting { scales, ..codes };
        let (activations, weights) = (with(CodeSetting::ACTIVATIONS), with(CodeSetting::WEIGHTS));
        let mut rules = Vec::new();
        for text in &self.layers {
            let mut rule = parse_rule(text, activations, weights)?;
            if (rule.activations, rule.weights) != (Some(activations), Some(weights)) {
                let expected = "expected float, per-tensor or per-channel";
                wrong.push((
                    text.clone(),
                    format!("sets integer codes in a network of {}; {expected}", self.weights),
                ));
            }
            (rule.activations, rule.weights) = (None, None);
            rules.push(rule);
        }
        let mut config = Config {
            setting: LayerSetting { activations, weights, per_channel: !self.per_tensor, float: false },
            short_floats,
            rules,
            propagate: self.mode != Mode::Isolated,
            equalize: self.equalize,
            ..Config::default()
        };
        self.methods(&mut config)?;
        let chosen = [
            ("method", &self.method, &self.activations),
            ("weight_method", &self.weight_method, &self.weights),
        ];
        let unused =
            |(_, method, codes): &&(_, &String, &String)| *method != Self::METHOD && !has_scale(codes);
        for (option, method, codes) in chosen.iter().filter(unused) {
            wrong.push((
                format!("{option}={method}"),
                format!("has no effect on codes of {codes}, which have no range to choose; leave it out"),
            ));
        }
        let of_floats =
            |name: &str| METHODS.iter().any(|method| method.name() == name && method.chooses_floats());
        for choice in chosen.iter().filter(|choice| !unused(choice) && !of_floats(choice.1)) {
            let all = METHODS.iter().filter(|method| method.chooses_floats()).map(|method| method.name());
            let all = all.collect::<Vec<_>>().join(", ");
            wrong.push((
                choice.1.clone(),
                format!("chooses ranges of integer codes; the methods for codes of {} are {all}", choice.2),
            ));
        }
        // One message for all of them.
        let mut wrong = wrong.into_iter();
        let Some((setting, problem)) = wrong.next() else { return Ok(config) };
        let problem = wrong.fold(problem, |all, (setting, problem)| format!("{all}; {setting}: {problem}"));
        Err(StudyError::QuantizeSetting { setting, problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every setting without effect is in the message.
    #[test]
    fn all_wrong_settings_are_reported() {
        let codes = || "mxfp4".to_owned();
        let choices = QuantizeChoices {
            weights: codes(),
            activations: codes(),
            per_tensor: true,
            symmetric: true,
            method: "mse".into(),
            weight_method: "percentile".into(),
            ..QuantizeChoices::default()
        };
        let error = choices.config().unwrap_err().to_string();
        for setting in ["per_tensor", "symmetric", "method=mse", "weight_method=percentile"] {
            assert!(
                error.contains(&format!("{setting}: has no effect on codes of mxfp4")),
                "{setting} in {error}"
            );
        }
    }
}
