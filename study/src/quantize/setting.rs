//! Settings of the quantizer as text.

use guardbit_graph::DType;
use guardbit_hwmodels::{BlockScaling, FloatAccumulation, PRESETS, ScaleFormat};
use guardbit_quantize::{
    BlockScales, CodeSetting, Config, LayerClass, Rule, Scales, ShortFloats, Symmetry, Which,
};

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
        problem: match FloatCodes::named(text) {
            Some(_) => {
                format!("floating-point codes are set for the whole network; expected {}", codes(most))
            }
            None => {
                let words = || {
                    FLOATS.iter().map(|codes| codes.name).chain(["int8", "int4", "uint8", "uint4", "int16"])
                };
                let alias = FAMILIES.iter().find(|(family, _)| text.eq_ignore_ascii_case(family));
                let near = alias.map(|(_, own)| *own).or(guardbit_documents::nearest(text, words()));
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                format!("invalid codes: {near}expected {}", with_floats(most))
            }
        },
    };
    Ok(CodeSetting { bits: bits.ok_or_else(wrong)?, signed, ..base })
}

/// Floating-point codes of operands of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FloatCodes {
    name: &'static str,
    dtype: DType,
    blocks: Option<BlockScales>,
}

/// Builds a row.
const fn row(name: &'static str, dtype: DType, blocks: Option<BlockScales>) -> FloatCodes {
    FloatCodes { name, dtype, blocks }
}

/// Floating-point codes of operands of layers, by name.
const FLOATS: [FloatCodes; 10] = [
    row("e4m3", DType::Float8E4M3Fn, None),
    row("e5m2", DType::Float8E5M2, None),
    row("e4m3fnuz", DType::Float8E4M3FnUz, None),
    row("e5m2fnuz", DType::Float8E5M2FnUz, None),
    row("e2m1", DType::Float4E2M1, None),
    row("bfloat16", DType::BFloat16, None),
    row("mxfp8", DType::Float8E4M3Fn, Some(BlockScales::Mx)),
    row("mxfp8-e5m2", DType::Float8E5M2, Some(BlockScales::Mx)),
    row("mxfp4", DType::Float4E2M1, Some(BlockScales::Mx)),
    row("nvfp4", DType::Float4E2M1, Some(BlockScales::Nv)),
];

/// Names of families of formats, and what is meant.
const FAMILIES: [(&str, &str); 5] = [
    ("fp8", "e4m3` or `e5m2"),
    ("float8", "e4m3` or `e5m2"),
    ("fp4", "mxfp4`, `nvfp4` or `e2m1"),
    ("float4", "mxfp4`, `nvfp4` or `e2m1"),
    ("bf16", "bfloat16"),
];

impl FloatCodes {
    /// Returns the codes of a name such as `e4m3`, or `None` for another text.
    fn named(text: &str) -> Option<Self> {
        let text = if text == "e4m3fn" { "e4m3" } else { text };
        FLOATS.into_iter().find(|codes| codes.name == text)
    }

    /// Returns whether a range has an effect on the codes.
    fn has_scale(self) -> bool {
        self.dtype.bits() < 16 && self.blocks != Some(BlockScales::Mx)
    }
}

/// Returns whether a method for ranges has an effect on floating-point codes of this name.
pub(super) fn has_scale(text: &str) -> bool {
    FloatCodes::named(text).is_some_and(FloatCodes::has_scale)
}

/// Reads the codes of weights and activations if both are floating-point codes; `None` if neither is.
///
/// # Errors
/// [`StudyError::QuantizeSetting`] if only one is, or if no layer multiplies such codes.
pub(super) fn parse_floats(weights: &str, activations: &str) -> Result<Option<ShortFloats>, StudyError> {
    let wrong =
        |setting: &str, problem: String| StudyError::QuantizeSetting { setting: setting.into(), problem };
    let named = [FloatCodes::named(weights), FloatCodes::named(activations)];
    // A misspelt name is not a name of integer codes.
    if named.iter().any(Option::is_some) {
        let words =
            [("weights", weights, MOST_WEIGHT_BITS), ("activations", activations, MOST_ACTIVATION_BITS)];
        for ((option, text, most), _) in words.into_iter().zip(named).filter(|(_, named)| named.is_none()) {
            parse_codes(text, CodeSetting::WEIGHTS, most).map_err(|error| of_option(option, text, error))?;
        }
    }
    match named.into() {
        (None, None) => Ok(None),
        (Some(w), Some(x)) if w == x || w.dtype.bits() <= 8 && x.dtype.bits() <= 8 => Ok(Some(ShortFloats {
            activations: x.dtype,
            weights: w.dtype,
            activation_blocks: x.blocks,
            weight_blocks: w.blocks,
        })),
        (Some(_), Some(_)) => Err(wrong(
            &format!("weights={weights}"),
            format!(
                "cannot be multiplied with activations of {activations}; expected codes of at most 8 bits, or \
                 bfloat16, for both"
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

/// Returns an error about codes with the option that has them.
pub(super) fn of_option(option: &str, text: &str, error: StudyError) -> StudyError {
    match error {
        StudyError::QuantizeSetting { problem, .. } => {
            StudyError::QuantizeSetting { setting: format!("{option}={text}"), problem }
        }
        error => error,
    }
}

/// Returns the name of floating-point codes, which [`parse_floats`] reads.
fn float_text(dtype: DType, blocks: Option<BlockScales>) -> &'static str {
    let found = FLOATS.iter().find(|own| (own.dtype, own.blocks) == (dtype, blocks));
    found.map_or(dtype.name(), |own| own.name)
}

/// Returns the codes of weights and of activations of a configuration, as text.
pub(crate) fn codes_texts(config: &Config) -> [String; 2] {
    match config.short_floats {
        Some(ShortFloats { weights, activations, activation_blocks, weight_blocks }) => {
            [float_text(weights, weight_blocks), float_text(activations, activation_blocks)].map(String::from)
        }
        None => [config.setting.weights, config.setting.activations].map(codes_text),
    }
}

/// Returns floating-point codes of weights and of activations with their scales, in words; `None` for integer codes.
pub(crate) fn float_words(config: &Config) -> Option<[String; 2]> {
    let floats = config.short_floats?;
    let words = |dtype: DType, blocks, scale: &str| {
        let name = float_text(dtype, blocks);
        match blocks {
            Some(BlockScales::Mx) => format!("{name} per 32"),
            Some(BlockScales::Nv) => format!("{name} per 16"),
            None if dtype.bits() > 8 => name.to_owned(),
            None => format!("{name} {scale}"),
        }
    };
    let scale = if config.setting.per_channel { "per channel" } else { "per tensor" };
    Some([
        words(floats.weights, floats.weight_blocks, scale),
        words(floats.activations, floats.activation_blocks, "per tensor"),
    ])
}

/// Returns a note if the unit of no preset multiplies the floating-point codes.
pub(super) fn without_unit(config: &Config) -> Option<String> {
    let floats = config.short_floats?;
    let operands = [(floats.weights, floats.weight_blocks), (floats.activations, floats.activation_blocks)];
    let multiplies = |unit: &FloatAccumulation| {
        operands.iter().all(|(dtype, blocks)| {
            let scales =
                blocks.map(
                    |blocks| if blocks == BlockScales::Mx { ScaleFormat::Ue8m0 } else { ScaleFormat::Ue4m3 },
                );
            dtype.float_format().is_some_and(|format| unit.operands.contains(format))
                && scales.is_none_or(|own| {
                    unit.block_scales != BlockScaling::None
                        && [own, ScaleFormat::Any].contains(&unit.scale_format)
                })
        })
    };
    let mut presets = PRESETS.iter().filter_map(|preset| guardbit_hwmodels::load(preset.name, &[]).ok());
    let found = presets.any(|preset| preset.float.as_ref().is_some_and(multiplies));
    let [weights, activations] = codes_texts(config);
    (!found).then(|| {
        format!(
            "no preset multiplies weights of {weights} by activations of {activations}; describe a unit that does with \
             `float_accumulation`, or name equal codes for both"
        )
    })
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
    let names = FLOATS.map(|codes| codes.name);
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
        for FloatCodes { name, dtype, blocks } in FLOATS {
            let read = parse_floats(name, name).unwrap().unwrap();
            assert_eq!((read.weights, read.activations), (dtype, dtype));
            assert_eq!((read.weight_blocks, read.activation_blocks), (blocks, blocks));
            assert_eq!(float_text(dtype, blocks), name);
        }
        assert_eq!(parse_floats("e4m3fn", "e4m3").unwrap(), parse_floats("e4m3", "e4m3fn").unwrap());
        assert!(parse_floats("mxfp4", "e4m3").unwrap().is_some());
        assert!(parse_floats("e5m2", "e4m3").unwrap().is_some());
        assert_eq!(parse_floats("int8", "uint8").unwrap(), None);
        for (weights, activations) in
            [("e4m3", "uint8"), ("int8", "e4m3"), ("bfloat16", "e5m2"), ("e4m3", "bfloat16")]
        {
            let error = parse_floats(weights, activations).unwrap_err().to_string();
            assert!(error.contains(weights) && error.contains(activations), "{error}");
        }
    }

    /// A family of formats and another case of letters get a suggestion.
    #[test]
    fn formats_are_suggested() {
        for (text, near) in [
            ("fp8", "did you mean `e4m3` or `e5m2`?"),
            ("FP8", "did you mean `e4m3` or `e5m2`?"),
            ("fp4", "did you mean `mxfp4`, `nvfp4` or `e2m1`?"),
            ("MXFP4", "did you mean `mxfp4`?"),
            ("E4M3", "did you mean `e4m3`?"),
            ("bf16", "did you mean `bfloat16`?"),
        ] {
            let error = parse_codes(text, CodeSetting::WEIGHTS, MOST_WEIGHT_BITS).unwrap_err().to_string();
            assert!(error.contains(near), "{error}");
        }
    }

    /// The unit of some preset multiplies equal codes, and MX weights by e4m3; nothing multiplies by scales of two kinds.
    #[test]
    fn codes_that_no_preset_multiplies_are_noted() {
        let note = |weights: &str, activations: &str| {
            let short_floats = parse_floats(weights, activations).unwrap();
            without_unit(&Config { short_floats, ..Config::default() })
        };
        FLOATS.iter().for_each(|codes| assert_eq!(note(codes.name, codes.name), None));
        assert_eq!(note("mxfp8", "e4m3"), None);
        for (weights, activations) in [("nvfp4", "mxfp4"), ("nvfp4", "e4m3"), ("e4m3", "e4m3fnuz")] {
            let note = note(weights, activations).unwrap();
            assert!(note.contains(weights) && note.contains(activations), "{note}");
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
