//! Settings of a quantization.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::method::{Method, MinMax};
use crate::{
    CodeSetting, FloatTarget, LayerClass, LayerMethod, LayerParameters, LayerProblem, Observed,
    QuantizeError, Range, ShortFloats, Target,
};

/// Settings of a quantization.
#[derive(Clone)]
pub struct Config {
    /// General setting, for everything without a rule.
    pub setting: LayerSetting,
    /// Dtypes of operands of convolutions and matrix products, if these become floating-point codes. Settings of
    /// integer codes are then ignored, except for scales.
    pub short_floats: Option<ShortFloats>,
    /// Exceptions by class or name of a layer; later ones take precedence.
    pub rules: Vec<Rule>,
    /// Method that chooses the ranges of activations.
    pub method: Arc<dyn Method>,
    /// Method that chooses the ranges of weights.
    pub weight_method: Arc<dyn Method>,
    /// Method that chooses the parameters of whole layers, after the methods above.
    pub layer_method: Option<Arc<dyn LayerMethod>>,
    /// Whether activations are observed with the error of the quantized layers before them; otherwise in the
    /// float network.
    pub propagate: bool,
    /// Whether ranges of weights are balanced between successive convolutions.
    pub equalize: bool,
    /// Whether hard-swish becomes a hard-sigmoid and a product, each with codes of its own as in ONNX
    /// Runtime's quantizer, instead of one table.
    pub inline_functions: bool,
    /// Whether the mean error of every layer's sums is corrected in its bias.
    pub correct_bias: bool,
    /// Least SQNR in dB that a layer may have after its own quantization; a layer below stays in float.
    pub least_sqnr_db: Option<f64>,
    /// Greatest number of bytes of activations that calibration may hold at a time.
    pub memory: usize,
    /// Flag that another thread sets to end calibration with [`QuantizeError::Cancelled`] before the next
    /// part of the network.
    pub cancelled: Arc<AtomicBool>,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Config");
        // Keys of cached searches for integer codes have no field for other codes.
        if let Some(formats) = &self.short_floats {
            text.field("short_floats", formats);
        }
        text.field("setting", &self.setting)
            .field("rules", &self.rules)
            .field("method", &self.method.name())
            .field("weight_method", &self.weight_method.name())
            .field("layer_method", &self.layer_method.as_ref().map(|method| method.name()))
            .field("propagate", &self.propagate)
            .field("equalize", &self.equalize)
            .field("inline_functions", &self.inline_functions)
            .field("correct_bias", &self.correct_bias)
            .field("least_sqnr_db", &self.least_sqnr_db)
            .field("memory", &self.memory)
            .finish()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            setting: LayerSetting::default(),
            short_floats: None,
            rules: Vec::new(),
            method: Arc::new(MinMax),
            weight_method: Arc::new(MinMax),
            layer_method: None,
            propagate: true,
            equalize: false,
            inline_functions: false,
            correct_bias: false,
            least_sqnr_db: None,
            memory: 4 << 30,
            cancelled: Arc::default(),
        }
    }
}

/// Settings of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerSetting {
    /// Codes of its output. The codes of the network's inputs follow the general setting.
    pub activations: CodeSetting,
    /// Codes of its weights.
    pub weights: CodeSetting,
    /// Whether every output channel has a weight scale of its own.
    pub per_channel: bool,
    /// Whether it stays in float.
    pub float: bool,
}

impl Default for LayerSetting {
    fn default() -> Self {
        Self {
            activations: CodeSetting::ACTIVATIONS,
            weights: CodeSetting::WEIGHTS,
            per_channel: true,
            float: false,
        }
    }
}

/// Exception for some layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Codes of their outputs; `None` leaves the setting unchanged, here and in the other fields.
    pub layers: Which,
    /// Codes of their outputs; `None` keeps the general setting, here and in the other fields.
    pub activations: Option<CodeSetting>,
    /// Codes of their weights.
    pub weights: Option<CodeSetting>,
    /// Whether every output channel has a weight scale of its own.
    pub per_channel: Option<bool>,
    /// Whether they stay in float.
    pub float: Option<bool>,
}

/// Layers to which a rule applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Layers of a class.
    Class(LayerClass),
    /// Layer with the given name: that of its output tensor, or its short name.
    Name(String),
}

impl Rule {
    /// Returns a rule without effect.
    pub fn new(layers: Which) -> Self {
        Self { layers, activations: None, weights: None, per_channel: None, float: None }
    }
}

impl Config {
    /// Returns the setting of a layer with these names and, if it has one, class.
    pub(crate) fn setting(&self, names: [&str; 2], class: Option<LayerClass>) -> LayerSetting {
        let holds = |which: &Which| match which {
            Which::Class(wanted) => class == Some(*wanted),
            Which::Name(name) => names.contains(&name.as_str()),
        };
        let mut setting = self.setting;
        for rule in self.rules.iter().filter(|rule| holds(&rule.layers)) {
            setting.activations = rule.activations.unwrap_or(setting.activations);
            setting.weights = rule.weights.unwrap_or(setting.weights);
            setting.per_channel = rule.per_channel.unwrap_or(setting.per_channel);
            setting.float = rule.float.unwrap_or(setting.float);
        }
        setting
    }
}

/// Allows the methods of a list to be used as methods.
impl Method for &'static dyn Method {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn range(&self, observed: &Observed, target: &Target) -> Range {
        (**self).range(observed, target)
    }

    fn magnitude(&self, observed: &Observed, target: &FloatTarget) -> Option<f64> {
        (**self).magnitude(observed, target)
    }
}

impl LayerMethod for &'static dyn LayerMethod {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        (**self).choose(layer)
    }

    fn promises(&self) -> bool {
        (**self).promises()
    }
}
