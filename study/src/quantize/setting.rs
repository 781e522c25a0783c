//! Settings of the quantizer as text.

use guardbit_graph::DType;
use guardbit_quantize::{CodeSetting, Config, LayerClass, Rule, Scales, ShortFloats, Symmetry, Which};

use crate::StudyError;

/// Reads codes such as `int8` or `uint4`, and keeps the rest of `base`.
///
/// # Errors
/// [`StudyError::QuantizeSetting`] unless the text is such a word with 2 to `most` bits.
pub fn parse_codes(text: &str, base: CodeSetting, most: u32) -> Result<CodeSetting, StudyError> {
    let (signed, bits) = match text.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, text.strip_prefix("int").unwrap_or_default()),
    };
    let bits = bits.parse::<u32>().ok().filter(|bits| (2..=most).contains(bits));
    let wrong = || StudyError::QuantizeSetting {
        setting: text.into(),
        problem: match float_codes(text) {
            Some(_) => {
                format!("floating-point codes are set for the whole network; expected {}", codes(most))
            }
            None => format!("invalid codes; expected {}", with_floats(most)),
        },
    };
    Ok(CodeSetting { bits: bits.ok_or_else(wrong)?, signed, ..base })
}

/// Floating-point codes of operands of layers, by name.
const FLOATS: [(&str, DType); 5] = [
    ("e4m3", DType::Float8E4M3Fn),
    ("e5m2", DType::Float8E5M2),
    ("e4m3fnuz", DType::Float8E4M3FnUz),
    ("e5m2fnuz", DType::Float8E5M2FnUz),
    ("bfloat16", DType::BFloat16),
];

/// Returns the dtype of floating-point codes such as `e4m3`, or `None` for another text.
fn float_codes(text: &str) -> Option<DType> {
    FLOATS.iter().find(|(name, _)| *name == text).map(|(_, dtype)| *dtype)
}

/// Reads the codes of weights and activations if both are floating-point codes; `None` if neither is.
///
/// # Errors
/// [`StudyError::QuantizeSetting`] if only one is, or if no layer multiplies such codes.
pub(super) fn parse_floats(weights: &str, activations: &str) -> Result<Option<ShortFloats>, StudyError> {
    let wrong =
        |setting: &str, problem: String| StudyError::QuantizeSetting { setting: setting.into(), problem };
    match (float_codes(weights), float_codes(activations)) {
        (None, None) => Ok(None),
        (Some(weights), Some(activations))
            if weights == activations || weights.bits() == 8 && activations.bits() == 8 =>
        {
            Ok(Some(ShortFloats { weights, activations }))
        }
        (Some(_), Some(_)) => Err(wrong(
            &format!("weights={weights}"),
            format!(
                "cannot be multiplied with activations of {activations}; expected float8 codes, or bfloat16, for \
                 both"
            ),
        )),
        (Some(_), None) => Err(wrong(
            &format!("weights={weights}"),
            format!(
                "needs floating-point activations too, e.g. activations={weights}; they are {activations}"
            ),
        )),
        (None, Some(_)) => Err(wrong(
            &format!("activations={activations}"),
            format!("needs floating-point weights too, e.g. weights={activations}; they are {weights}"),
        )),
    }
}

/// Returns the name of floating-point codes, which [`parse_floats`] reads.
pub(crate) fn float_text(dtype: DType) -> &'static str {
    FLOATS.iter().find(|(_, own)| *own == dtype).map_or(dtype.name(), |(name, _)| *name)
}

/// Returns the codes of weights and of activations of a configuration, as text.
pub(crate) fn codes_texts(config: &Config) -> [String; 2] {
    match config.short_floats {
        Some(ShortFloats { weights, activations }) => {
            [weights, activations].map(|dtype| float_text(dtype).into())
        }
        None => [config.setting.weights, config.setting.activations].map(codes_text),
    }
}

/// Returns the supported codes of weights, in words.
pub fn weight_codes() -> String {
    with_floats(MOST_WEIGHT_BITS)
}

/// Returns the supported codes of activations, in words.
pub fn activation_codes() -> String {
    with_floats(MOST_ACTIVATION_BITS)
}

fn with_floats(most: u32) -> String {
    let names: Vec<&str> = FLOATS.iter().map(|(name, _)| *name).collect();
    format!("{}; or {} for all weights and activations", codes(most), names.join(", "))
}

fn codes(most: u32) -> String {
    format!("int2 to int{most} or uint2 to uint{most}")
}

/// Reads a rule such as `depthwise:weights=int6,per-tensor` or `LAYER:float`, relative to the general
/// settings.
///
/// # Errors
/// [`StudyError::QuantizeSetting`] naming the part that cannot be read.
pub fn parse_rule(text: &str, activations: CodeSetting, weights: CodeSetting) -> Result<Rule, StudyError> {
    let wrong = |problem: String| StudyError::QuantizeSetting { setting: text.into(), problem };
    let (which, settings) =
        text.rsplit_once(':').ok_or_else(|| wrong("is invalid: expected LAYER:SETTING,...".into()))?;
    let class = LayerClass::ALL.into_iter().find(|class| class.name() == which);
    let mut rule = Rule::new(class.map_or_else(|| Which::Name(which.into()), Which::Class));
    let (mut activations, mut weights) = (activations, weights);
    for setting in settings.split(',') {
        match setting.split_once('=').unwrap_or((setting, "")) {
            ("float", "") => rule.float = Some(true),
            ("per-tensor", "") => rule.per_channel = Some(false),
            ("per-channel", "") => rule.per_channel = Some(true),
            ("weights", codes) => weights = parse_codes(codes, weights, MOST_WEIGHT_BITS)?,
            ("activations", codes) => activations = parse_codes(codes, activations, MOST_ACTIVATION_BITS)?,
            ("symmetric", "") => activations.symmetry = Symmetry::Symmetric,
            ("asymmetric", "") => activations.symmetry = Symmetry::Asymmetric,
            ("power-of-two", "") => {
                (activations.scales, weights.scales) = (Scales::PowersOfTwo, Scales::PowersOfTwo);
            }
            _ => {
                return Err(wrong(format!(
                    "unknown setting `{setting}`: expected float, per-tensor, per-channel, weights=CODES, \
                     activations=CODES, symmetric, asymmetric, power-of-two"
                )));
            }
        }
    }
    rule.activations = Some(activations);
    rule.weights = Some(weights);
    Ok(rule)
}

/// Returns codes as text that [`parse_codes`] reads.
fn codes_text(setting: CodeSetting) -> String {
    format!("{}{}", if setting.signed { "int" } else { "uint" }, setting.bits)
}

/// Returns a rule as text that [`parse_rule`] reads.
pub(crate) fn rule_text(rule: &Rule) -> String {
    let layers = match &rule.layers {
        Which::Class(class) => class.name(),
        Which::Name(name) => name,
    };
    let codes =
        |name, setting: Option<CodeSetting>| setting.map(|setting| format!("{name}={}", codes_text(setting)));
    let float = rule.float.filter(|float| *float).map(|_| "float".to_owned());
    let scales = rule.per_channel.map(|each| if each { "per-channel" } else { "per-tensor" }.to_owned());
    let settings = [float, scales, codes("weights", rule.weights), codes("activations", rule.activations)];
    format!("{layers}:{}", settings.into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// Maximum bits of weight codes.
pub const MOST_WEIGHT_BITS: u32 = 8;
/// Maximum bits of activation codes.
pub const MOST_ACTIVATION_BITS: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Rule, String> {
        let (activations, weights) = (CodeSetting::ACTIVATIONS, CodeSetting::WEIGHTS);
        parse_rule(text, activations, weights).map_err(|error| error.to_string())
    }

    #[test]
    fn floating_point_codes_come_in_pairs() {
        for (name, dtype) in FLOATS {
            let read = parse_floats(name, name).unwrap();
            assert_eq!(read, Some(ShortFloats { weights: dtype, activations: dtype }));
            assert_eq!(float_text(dtype), name);
        }
        assert!(parse_floats("e5m2", "e4m3").unwrap().is_some());
        assert_eq!(parse_floats("int8", "uint8").unwrap(), None);
        for (weights, activations) in
            [("e4m3", "uint8"), ("int8", "e4m3"), ("bfloat16", "e5m2"), ("e4m3", "bfloat16")]
        {
            let error = parse_floats(weights, activations).unwrap_err().to_string();
            assert!(error.contains(weights) && error.contains(activations), "{error}");
        }
    }

    #[test]
    fn rules_are_read() {
        let rule = check("depthwise:weights=int6,per-tensor").unwrap();
        assert_eq!(rule_text(&rule), "depthwise:per-tensor,weights=int6,activations=uint8");
        assert_eq!(check(&rule_text(&rule)), Ok(rule.clone()));
        assert_eq!((rule.layers, rule.per_channel), (Which::Class(LayerClass::Depthwise), Some(false)));
        assert_eq!(rule.weights.map(|codes| (codes.bits, codes.signed)), Some((6, true)));
        let rule = check("block:1/conv:float").unwrap();
        assert_eq!((rule.layers, rule.float), (Which::Name("block:1/conv".into()), Some(true)));
        for wrong in ["conv", "conv:", "conv:weights=int9", "conv:weights=8", "conv:activations=uint1"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
