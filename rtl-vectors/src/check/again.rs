//! Generates a bundle again from the data that only the bundle defines: the accelerator, the layer's geometry
//! and types, and the operands in the stimuli. Everything else follows from these and is compared.

use std::path::Path;

use guardbit_graph::{CodeRange, CodeType, DType, MAX_ELEMENTS, Window};
use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::timing::{LayerTiming, MAX_CYCLES, Widths};
use guardbit_hwmodels::{
    Accelerator, ActivationOffset, Datapath, MAC_OPERATIONS, ZeroPoint, from_complete_yaml,
};
use guardbit_num::{Multiplier, Requantizer, Scheme};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::refused::{Refused, claim};
use super::{array, files, stimuli};
use crate::arithmetic::{Codes, Unit, in_bias_unit, multiplier_words};
use crate::assemble::{Parts, assemble};
use crate::beats::{self, Dot};
use crate::bundle::Bundle;
use crate::interface::interface;
use crate::manifest::{
    ACCELERATOR, Arithmetic, CaseGroup, FileInfo, LayerInfo, Manifest, Need, RequantizeInfo, Source,
    TensorInfo, WindowInfo,
};
use crate::real;
use crate::sizes::{MAX_LANES, MAX_TERMS};

/// Greatest size of an accelerator file in bytes.
const MAX_ACCELERATOR: u64 = 1 << 18;

/// Greatest exponent of a multiplier.
const MAX_EXPONENT: i64 = 30;

/// Greatest length of a case's identifier and class.
const MAX_ID: usize = 100;

/// A bundle generated again, with its dot products.
pub(super) struct Made {
    pub bundle: Bundle,
    pub dots: Vec<Dot>,
}

/// Returns the bundle in `dir`, generated again without the cases that need one of `without`.
pub(super) fn bundle(dir: &Path, manifest: &Manifest, without: &[Need]) -> Result<Made, Refused> {
    let accelerator = accelerator(dir)?;
    let window = window(&manifest.layer.window).map_err(|problem| claim("/layer/window", problem))?;
    let layer = layer(&manifest.layer, &window)?;
    let types = Types::of(&layer)?;
    let datapath = datapath(&accelerator, &manifest.arithmetic);
    let lanes = beats::lanes(&datapath, layer.terms);
    if lanes > MAX_LANES {
        return Err(claim("/interface/lanes", format!("{lanes} lanes; expected at most {MAX_LANES}")));
    }
    let arithmetic = arithmetic(manifest, &accelerator, &datapath, &types, &window, layer.terms)?;
    let widths = types.widths(constant_bits(manifest, arithmetic.requantize.scheme)?);
    let timing = LayerTiming::of(&accelerator, &window, widths, layer.two_activations);
    if timing.cycles > MAX_CYCLES {
        return Err(claim("/timing/cycles", "expected at most 2^53"));
    }
    let packing = manifest.interface.packing;
    let mut dots =
        stimuli::dots(dir, manifest, &arithmetic, &interface(&arithmetic, lanes, packing), layer.terms)?;
    let mut cases = manifest.cases.iter();
    dots.retain(|_| cases.next().is_none_or(|case| !case.needs.iter().any(|need| without.contains(need))));
    places(manifest, &window)?;
    let shared = crate::array::shared(&window, layer.two_activations);
    let array = array::part(dir, manifest, &accelerator, &shared, &arithmetic, layer.terms)?;
    let made = assemble(Parts {
        source: source(manifest, &accelerator, &window),
        settings: manifest.settings.clone(),
        packing,
        formats: &formats(&manifest.files, "stim_a."),
        waves: &formats(&manifest.files, "waves/vectors."),
        layer,
        accelerator: &accelerator,
        timing: &timing,
        arithmetic,
        lanes,
        noise: noise(manifest.source.seed, &dots),
        dots: &dots,
        array,
    });
    Ok(Made { bundle: made?, dots })
}

pub(crate) fn accelerator(dir: &Path) -> Result<Accelerator, Refused> {
    let text = files::read(dir, ACCELERATOR, MAX_ACCELERATOR)?;
    let text = String::from_utf8(text).map_err(|_| claim(ACCELERATOR, "is not UTF-8"))?;
    from_complete_yaml(&text, ACCELERATOR).map_err(|error| claim(ACCELERATOR, error.to_string()))
}

pub(crate) fn window(info: &WindowInfo) -> Result<Window, String> {
    let WindowInfo { batch, input, output, kernel, stride, dilation, pad, groups } = *info;
    let elements = |name: &str, sizes: &[usize], most: usize| {
        let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        match product {
            Some(1..) if product <= Some(most) => Ok(()),
            _ => Err(format!("{name}: {sizes:?} must have 1 to {most} elements")),
        }
    };
    elements("input", &[&[batch], &input[..]].concat(), MAX_ELEMENTS)?;
    elements("output", &[&[batch], &output[..]].concat(), MAX_ELEMENTS)?;
    elements("kernel", &kernel, MAX_TERMS)?;
    for axis in 0..2 {
        elements("stride over the output", &[stride[axis], output[axis]], MAX_ELEMENTS)?;
        elements("dilation over the kernel", &[dilation[axis], kernel[axis]], MAX_ELEMENTS)?;
        if pad[axis] > MAX_ELEMENTS {
            return Err(format!("pad: {pad:?}; expected at most {MAX_ELEMENTS}"));
        }
    }
    if groups == 0 || output[2] % groups != 0 || kernel[2].checked_mul(groups) != Some(input[2]) {
        let [reads, makes] = [input[2], output[2]];
        let depth = kernel[2];
        return Err(format!(
            "groups: {groups} groups of {depth} channels do not match {reads} input and {makes} output \
             channels"
        ));
    }
    Ok(Window { batch, input, output, kernel, stride, dilation, pad, groups })
}

/// Returns the layer with the fields that follow from its window.
fn layer(info: &LayerInfo, window: &Window) -> Result<LayerInfo, Refused> {
    if !MAC_OPERATIONS.contains(&info.op.as_str()) {
        return Err(claim("/layer/op", format!("expected one of {}", MAC_OPERATIONS.join(", "))));
    }
    let zero_points = &info.weight.zero_points;
    let per_channel =
        zero_points.len() == window.channels() && zero_points.iter().any(|z| *z != zero_points[0]);
    if zero_points.len() != 1 && !per_channel {
        return Err(claim(
            "/layer/weight/zero_points",
            "expected one, or one per output channel if they differ",
        ));
    }
    for (at, zero_points) in [("input", &info.input.zero_points), ("output", &info.output.zero_points)] {
        if zero_points.len() != 1 {
            return Err(claim(&format!("/layer/{at}/zero_points"), "expected one"));
        }
    }
    Ok(LayerInfo { terms: window.terms(), dots: window.dots(), channels: window.channels(), ..info.clone() })
}

/// Types of the layer's codes.
struct Types {
    activation: (CodeType, i32),
    weight: (CodeType, Vec<i32>),
    output: (CodeType, i32),
}

impl Types {
    fn of(layer: &LayerInfo) -> Result<Self, Refused> {
        let one = |at: &str, info: &TensorInfo| -> Result<(CodeType, Vec<i32>), Refused> {
            let at = format!("/layer/{at}");
            let dtype: DType =
                info.dtype.parse().map_err(|_| claim(&format!("{at}/dtype"), "unknown type"))?;
            if dtype == DType::Int64 || dtype.is_float() {
                return Err(claim(&format!("{at}/dtype"), "expected integers of at most 32 bits"));
            }
            let zero_point = |(index, &value): (usize, &i64)| match i32::try_from(value) {
                Ok(value) if (dtype.min()..=dtype.max()).contains(&value) => Ok(value),
                _ => Err(claim(
                    &format!("{at}/zero_points/{index}"),
                    format!("{value} is not a value of {dtype}"),
                )),
            };
            let zero_points =
                info.zero_points.iter().enumerate().map(zero_point).collect::<Result<_, _>>()?;
            let all = CodeRange::of(dtype);
            let range = match (info.range, info.step) {
                (None, 1) => all,
                (None, _) => return Err(claim(&format!("{at}/step"), "a step needs a range")),
                (Some([min, max]), step) => CodeRange::new(min, max)
                    .and_then(|range| range.with_step(step))
                    .filter(|&range| range != all && all.includes(range))
                    .ok_or_else(|| {
                        claim(&format!("{at}/range"), format!("not a proper subset of the {dtype} codes"))
                    })?,
            };
            Ok((CodeType { dtype, range }, zero_points))
        };
        let first = |(codes, zero_points): (CodeType, Vec<i32>)| (codes, zero_points[0]);
        Ok(Self {
            activation: first(one("input", &layer.input)?),
            weight: one("weight", &layer.weight)?,
            output: first(one("output", &layer.output)?),
        })
    }

    fn widths(&self, constants: u64) -> Widths {
        let all = [self.activation.0, self.weight.0, self.output.0];
        let [activation, weight, output] = all.map(|codes| codes.range.bits());
        Widths { activation, weight, output, constants }
    }
}

/// Returns the claimed size of the layer's constants. An error if no such biases and multipliers (one for the layer, one per
/// channel, or none if nothing is scaled) exist.
fn constant_bits(manifest: &Manifest, scheme: Scheme) -> Result<u64, Refused> {
    let channels = manifest.layer.window.output[2] as u64;
    let has_bias = manifest.cases.first().is_some_and(|case| case.bias.is_some());
    let biases: &[u64] = if has_bias { &[32, 64] } else { &[0] };
    // Corner cases may have multipliers of their own.
    let mut real = manifest.cases.iter().filter(|case| case.group == CaseGroup::Real);
    let least = u64::from(real.any(|case| case.multiplier != 1.0));
    let multipliers = [least, 1, channels].map(|count| count.saturating_mul(scheme.constant_bits().into()));
    let claimed = manifest.layer.constant_bits;
    let mut sizes = biases.iter().flat_map(|&bias| {
        multipliers.map(|multipliers| channels.saturating_mul(bias).saturating_add(multipliers))
    });
    if sizes.any(|size| size == claimed) {
        return Ok(claimed);
    }
    Err(claim(
        "/layer/constant_bits",
        format!("{claimed} is not a possible size of biases and multipliers for {channels} channels"),
    ))
}

/// Returns the accelerator's datapath. If the accelerator leaves the bias's width to the network, the claimed
/// width is used.
fn datapath(accelerator: &Accelerator, claimed: &Arithmetic) -> Datapath {
    let bits = if claimed.bias.register.bits == Some(64) { 64 } else { 32 };
    let datapath = accelerator.datapath.clone();
    Datapath { bias: datapath.bias.of_layer(bits), ..datapath }
}

/// Returns the arithmetic of the unit. Only the network defines the range of all biases, the scheme (unless
/// the accelerator sets one) and the clamp, so these are taken from the manifest.
fn arithmetic(
    manifest: &Manifest,
    accelerator: &Accelerator,
    datapath: &Datapath,
    types: &Types,
    window: &Window,
    terms: usize,
) -> Result<Arithmetic, Refused> {
    let claimed = &manifest.arithmetic;
    let (codes, zero_point) = types.output;
    let code = |key: &str, value: i64| match i32::try_from(value) {
        Ok(code) if codes.range.contains(code) => Ok(code),
        _ => {
            Err(claim(&format!("/arithmetic/requantize/{key}"), format!("{value} is not a value of {codes}")))
        }
    };
    let (min, max) =
        (code("clamp_min", claimed.requantize.clamp_min)?, code("clamp_max", claimed.requantize.clamp_max)?);
    if min > max {
        return Err(claim("/arithmetic/requantize/clamp_min", "exceeds clamp_max"));
    }
    let scheme = match datapath.requantize.scheme {
        Some(scheme) => scheme,
        None => claimed.requantize.scheme,
    };
    let codes = Codes {
        activation: types.activation.0.range,
        offset: ActivationOffset::new(datapath.operands.zero_point, types.activation.1),
        weight: types.weight.0.range,
        weight_zero_points: &types.weight.1,
        is_padded: window.reads_padding(),
    };
    let unit = Unit {
        name: &manifest.layer.op,
        datapath,
        packing: accelerator.packing.into(),
        terms,
        operands: codes.operands(datapath.operands.zero_point),
        steps: codes.steps(datapath.operands.zero_point),
        has_bias: manifest.cases.first().is_some_and(|case| case.bias.is_some()),
        has_side: datapath.operands.zero_point == ZeroPoint::Fold && types.weight.1.iter().any(|&z| z != 0),
        words: Range { min: claimed.bias.word_min.into(), max: claimed.bias.word_max.into() },
        scheme,
        exponents: (claimed.requantize.exp_min, claimed.requantize.exp_max),
        zero_point,
        clamp: (min, max),
    };
    exponents(manifest)?;
    biases(manifest, &unit, &types.weight.1)?;
    Ok(unit.arithmetic()?)
}

/// Checks that the multipliers of real cases have exponents of the layer.
fn exponents(manifest: &Manifest) -> Result<(), Refused> {
    let RequantizeInfo { scheme, unit_shift, exp_min, exp_max, .. } = manifest.arithmetic.requantize;
    if !(-1100..=MAX_EXPONENT).contains(&exp_min) || !(exp_min..=MAX_EXPONENT).contains(&exp_max) {
        return Err(claim(
            "/arithmetic/requantize/exp_min",
            format!("{exp_min} to {exp_max} is not a valid range of exponents"),
        ));
    }
    for (index, case) in manifest.cases.iter().enumerate().filter(|(_, case)| case.group == CaseGroup::Real) {
        let refused = |problem: String| claim(&format!("/cases/{index}/multiplier"), problem);
        let multiplier = Multiplier::new(case.multiplier).and_then(|m| m.scaled_up(unit_shift));
        let multiplier = multiplier.map_err(|error| refused(error.to_string()))?;
        let [significand, exponent] = multiplier_words(Requantizer::new(scheme, multiplier));
        if significand != 0 && !(exp_min..=exp_max).contains(&exponent) {
            let range = format!("{exp_min} to {exp_max} (exp_min, exp_max)");
            return Err(refused(format!("its exponent is {exponent}; expected {range}")));
        }
    }
    Ok(())
}

/// Checks that the biases of all cases can belong to one layer.
fn biases(manifest: &Manifest, unit: &Unit<'_>, weight_zero_points: &[i32]) -> Result<(), Refused> {
    let Range { min, max } = unit.words;
    if min > 0 || max < 0 || !(unit.has_bias || unit.has_side) && (min, max) != (0, 0) {
        return Err(claim(
            "/arithmetic/bias/word_min",
            format!("{min} to {max} is not a valid range of biases, which must include 0"),
        ));
    }
    for (index, case) in manifest.cases.iter().enumerate() {
        let at = |key: &str| format!("/cases/{index}/{key}");
        let word = in_bias_unit(unit.datapath, case.bias.unwrap_or(0).into());
        if case.bias.is_some() != unit.has_bias || !(min..=max).contains(&word) {
            let problem = format!("{:?}: expected {min}..={max} (word_min, word_max)", case.bias);
            return Err(claim(&at("bias"), problem));
        }
        let mut factors = weight_zero_points.iter().map(|&z| if unit.has_side { -i64::from(z) } else { 0 });
        let of_channel = match case.place {
            Some([.., channel]) if factors.len() > 1 => factors.nth(channel) == Some(case.input_sum_factor),
            _ => factors.any(|factor| factor == case.input_sum_factor),
        };
        if !of_channel {
            return Err(claim(
                &at("input_sum_factor"),
                "expected the weight's zero point with opposite sign",
            ));
        }
    }
    Ok(())
}

/// Returns whether a text can be the identifier or class of a case.
pub(crate) fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    (1..=MAX_ID).contains(&text.len()) && text.chars().all(legal)
}

/// Checks that real cases come first, have the names of their order, and belong to outputs of the layer. For
/// the first ones the outputs are known.
fn places(manifest: &Manifest, window: &Window) -> Result<(), Refused> {
    let mut is_real = true;
    for (index, case) in manifest.cases.iter().enumerate() {
        let at = |key: &str| format!("/cases/{index}/{key}");
        is_real &= case.group == CaseGroup::Real;
        if let Some((key, _)) =
            [("id", &case.id), ("class", &case.class)].into_iter().find(|(_, text)| !is_name(text))
        {
            return Err(claim(&at(key), format!("expected at most {MAX_ID} letters, digits and _ - + .")));
        }
        let place = match (case.group == CaseGroup::Real, case.place) {
            (false, None) => continue,
            (true, Some(place)) if is_real => place,
            (true, _) if !is_real => return Err(claim(&at("group"), "real cases must come first")),
            _ => return Err(claim(&at("place"), "expected for real cases only")),
        };
        if case.id != real::id(&case.class, index) || !real::CLASSES.contains(&case.class.as_str()) {
            return Err(claim(&at("id"), format!("expected {}", real::id("CLASS", index))));
        }
        let [_, n, h, w, c] = place;
        let sizes = [window.batch, window.output[0], window.output[1], window.output[2]];
        let is_output = [n, h, w, c].into_iter().zip(sizes).all(|(at, size)| at < size);
        let first = window.output_position(index % window.dots());
        let expected = [index / window.dots(), first.n, first.h, first.w, first.c];
        if !is_output || case.class == real::FIRST && place != expected {
            return Err(claim(
                &at("place"),
                format!("{place:?} is not an output of the layer, or not the expected first output"),
            ));
        }
    }
    Ok(())
}

/// Returns the source, with the fields that can be derived.
fn source(manifest: &Manifest, accelerator: &Accelerator, window: &Window) -> Source {
    let real = manifest.cases.iter().filter(|case| case.group == CaseGroup::Real).count();
    let asked = manifest.source.cases;
    // All dot products of the samples, if more were requested.
    let is_all = real < asked && real % window.dots() == 0;
    Source {
        accelerator: accelerator.name.clone(),
        cases: if is_all { asked } else { real },
        ..manifest.source.clone()
    }
}

/// Returns the formats of the bundle's files, derived from their extensions.
pub(crate) fn formats<T: std::str::FromStr + PartialEq>(files: &[FileInfo], stem: &str) -> Vec<T> {
    let mut found = Vec::new();
    let extensions = files.iter().filter_map(|file| file.path.strip_prefix(stem));
    for format in extensions.filter_map(|extension| extension.parse().ok()) {
        if !found.contains(&format) {
            found.push(format);
        }
    }
    found
}

/// Returns the random numbers of the stimuli, which follow those that selected the cases.
fn noise(seed: u64, dots: &[Dot]) -> Pcg64Mcg {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for _ in dots.iter().filter(|dot| dot.group == CaseGroup::Real && dot.class == real::RANDOM) {
        random.next_u64();
    }
    random
}
