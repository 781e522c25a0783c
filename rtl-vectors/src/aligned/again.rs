//! Generates a bundle again from the data that only the bundle defines: the accelerator, the layer and the operands.

use std::ops::Range;
use std::path::Path;

use guardbit_files::Violation;
use guardbit_graph::DType;
use guardbit_hwmodels::{BlockScaling, FloatAccumulation};
use guardbit_num::FloatFormat;

use super::assemble::{FloatBundle, Parts, assemble};
use super::beats::{CLEAR, FloatDot, KEEP, LAST, VALID};
use super::interface::interface;
use super::manifest::{FLOAT_KIND, FloatCase, FloatLayerInfo, FloatManifest, float_manifest_schema};
use super::unit::{Block, Unit};
use crate::VectorError;
use crate::check::again::{accelerator, formats, is_name, window};
use crate::check::files;
use crate::check::refused::{Refused, claim};
use crate::manifest::{CaseGroup, Source};
use crate::sizes::{MAX_PRODUCTS, MAX_TERMS};
use crate::words::{Mem, field};
use crate::{read, real};

/// Returns the manifest of the bundle in `dir`, or its violations of the schema; `None` for an integer layer.
///
/// # Errors
/// [`VectorError`] if it is missing, not JSON, or of another version.
pub(super) fn manifest(dir: &Path) -> Result<Option<Result<FloatManifest, Vec<Violation>>>, VectorError> {
    let json = read::json(dir)?;
    if json["kind"] != FLOAT_KIND {
        return Ok(None);
    }
    let files = |manifest: &FloatManifest| manifest.files.clone();
    read::validated(dir, json, &float_manifest_schema(), files).map(Some)
}

/// Returns the bundle in `dir`, generated again.
pub(super) fn bundle(dir: &Path, manifest: &FloatManifest) -> Result<FloatBundle, Refused> {
    let accelerator = accelerator(dir)?;
    let Some(accumulation) = accelerator.float else {
        return Err(claim("accelerator.yaml", "has no `float_accumulation`"));
    };
    let layer = &manifest.layer;
    let geometry = window(&layer.window).map_err(|problem| claim("/layer/window", problem))?;
    if geometry.terms() > MAX_TERMS {
        return Err(claim("/layer/window/kernel", format!("expected at most {MAX_TERMS} products")));
    }
    if !["float_conv2d", "float_matmul"].contains(&layer.op.as_str()) {
        return Err(claim("/layer/op", "expected float_conv2d or float_matmul"));
    }
    let unit = unit(manifest, &accumulation)?;
    let dots = Stimuli::read(dir, manifest, &unit)?.dots(manifest)?;
    places(manifest, &geometry)?;
    let real = manifest.cases.iter().filter(|case| case.group == CaseGroup::Real).count();
    let asked = manifest.source.cases;
    // All dot products of the samples, if more were requested.
    let is_all = real < asked && real % geometry.dots().max(1) == 0;
    Ok(assemble(Parts {
        source: Source {
            accelerator: accelerator.name.clone(),
            cases: if is_all { asked } else { real },
            ..manifest.source.clone()
        },
        settings: manifest.settings.clone(),
        packing: manifest.interface.packing,
        formats: &formats(&manifest.files, "stim_a."),
        layer: FloatLayerInfo { terms: geometry.terms(), dots: geometry.dots(), ..layer.clone() },
        accelerator: &accelerator,
        unit: &unit,
        dots: &dots,
    }))
}

/// Returns the unit of the bundle in `dir`.
pub(super) fn unit_of(dir: &Path, manifest: &FloatManifest) -> Result<Unit, Refused> {
    match accelerator(dir)?.float {
        Some(accumulation) => unit(manifest, &accumulation),
        None => Err(claim("accelerator.yaml", "has no `float_accumulation`")),
    }
}

fn unit(manifest: &FloatManifest, accumulation: &FloatAccumulation) -> Result<Unit, Refused> {
    let layer = &manifest.layer;
    let dtype = |at: &str, name: &str| {
        let dtype: Result<DType, _> = name.parse();
        dtype.map_err(|_| claim(at, "unknown type"))
    };
    let dtypes = [dtype("/layer/input", &layer.input)?, dtype("/layer/weight", &layer.weight)?];
    if !dtypes.iter().all(|dtype| dtype.is_short_float()) {
        return Err(claim("/layer/input", "expected floating-point codes of at most 16 bits"));
    }
    let scales = match &manifest.arithmetic.scales {
        None if accumulation.group().is_some() => {
            return Err(claim("/arithmetic/scales", "expected the scales of groups"));
        }
        Some(_) if accumulation.block_scales == BlockScaling::None => {
            return Err(claim("/arithmetic/scales", "the accelerator has no `block_scales`"));
        }
        None => None,
        Some(scales) => Some([
            scale_format(accumulation, "/arithmetic/scales/activation/name", &scales.activation.name)?,
            scale_format(accumulation, "/arithmetic/scales/weight/name", &scales.weight.name)?,
        ]),
    };
    Unit::new(&layer.name, dtypes, scales, accumulation).map_err(Refused::from)
}

fn scale_format(accumulation: &FloatAccumulation, at: &str, name: &str) -> Result<FloatFormat, Refused> {
    let accepted =
        |format: &FloatFormat| format.name() == name && accumulation.scale_format.includes(*format);
    let found = FloatFormat::ALL.into_iter().filter(|format| !format.is_signed()).find(accepted);
    found.ok_or_else(|| claim(at, "not a `scale_format` of the accelerator"))
}

/// Checks that real cases come first, have the names of their order, and belong to outputs of the layer.
fn places(manifest: &FloatManifest, window: &guardbit_graph::Window) -> Result<(), Refused> {
    let mut is_real = true;
    for (index, case) in manifest.cases.iter().enumerate() {
        let at = |key: &str| format!("/cases/{index}/{key}");
        is_real &= case.group == CaseGroup::Real;
        if let Some((key, _)) =
            [("id", &case.id), ("class", &case.class)].into_iter().find(|(_, text)| !is_name(text))
        {
            return Err(claim(&at(key), "expected at most 100 letters, digits and _ - + ."));
        }
        let [sample, n, h, w, c] = match (case.group, case.place) {
            (CaseGroup::Corner, None) => continue,
            (CaseGroup::Real, Some(place)) if is_real => place,
            (CaseGroup::Real, _) if !is_real => {
                return Err(claim(&at("group"), "real cases must come first"));
            }
            _ => return Err(claim(&at("place"), "expected for real cases only")),
        };
        if case.id != real::id(&case.class, index) || !real::CLASSES.contains(&case.class.as_str()) {
            return Err(claim(&at("id"), format!("expected {}", real::id("CLASS", index))));
        }
        let sizes = [window.batch, window.output[0], window.output[1], window.output[2]];
        let is_output = [n, h, w, c].into_iter().zip(sizes).all(|(at, size)| at < size);
        let first = window.output_position(index % window.dots());
        let expected = [index / window.dots(), first.n, first.h, first.w, first.c];
        if !is_output || case.class == real::FIRST && [sample, n, h, w, c] != expected {
            return Err(claim(&at("place"), "not an output of the layer, or not the expected first output"));
        }
        if case.terms != window.terms() {
            return Err(claim(&at("terms"), format!("expected {}, as the layer has", window.terms())));
        }
    }
    Ok(())
}

/// The stimuli of a bundle.
struct Stimuli<'u> {
    unit: &'u Unit,
    ctrl: Mem,
    sides: [Mem; 2],
    slots: [u32; 2],
    /// Codes of scales, if there are any, and the bits from one to the next.
    scales: Option<([Mem; 2], [u32; 2])>,
}

impl<'u> Stimuli<'u> {
    fn read(dir: &Path, manifest: &FloatManifest, unit: &'u Unit) -> Result<Self, Refused> {
        let ports = interface(unit, manifest.interface.packing);
        let lanes = ports.lanes as u32;
        let slots = [ports.activation_slot, ports.weight_slot];
        let terms = unit.terms() as u32;
        let scales = match ports.scale_slots {
            None => None,
            Some(slots) => {
                let [a, w] = slots;
                let activations = files::mem(dir, "stim_sa.mem", terms * a)?;
                Some(([activations, files::mem(dir, "stim_sw.mem", terms * w)?], slots))
            }
        };
        let stimuli = Self {
            unit,
            ctrl: files::mem(dir, "ctrl.mem", KEEP + lanes)?,
            sides: [
                files::mem(dir, "stim_a.mem", lanes * slots[0])?,
                files::mem(dir, "stim_w.mem", lanes * slots[1])?,
            ],
            slots,
            scales,
        };
        let scales = stimuli.scales.iter().flat_map(|(sides, _)| sides);
        let lengths: Vec<usize> =
            [&stimuli.ctrl].into_iter().chain(&stimuli.sides).chain(scales).map(Mem::len).collect();
        if lengths.iter().any(|&length| length != lengths[0]) {
            let problem = format!("different numbers of beats: {lengths:?}");
            return Err(claim("ctrl.mem, stim_*.mem", problem));
        }
        // Corner cases are in addition to the requested products.
        if lengths[0].saturating_mul(ports.lanes) > 4 * MAX_PRODUCTS {
            return Err(claim("ctrl.mem", format!("too many beats: {}", lengths[0])));
        }
        Ok(stimuli)
    }

    fn bit(&self, beat: usize, bit: u32) -> bool {
        field(self.ctrl.word(beat), bit, 1) == 1
    }

    /// Returns the beats of every dot product. A bubble belongs to the following beat.
    fn spans(&self) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        for beat in (0..self.ctrl.len()).filter(|&beat| self.bit(beat, VALID)) {
            match spans.last_mut() {
                Some(last) if !self.bit(beat, CLEAR) => last.end = beat + 1,
                _ => spans.push(from..beat + 1),
            }
            from = beat + 1;
        }
        spans
    }

    fn dots(&self, manifest: &FloatManifest) -> Result<Vec<FloatDot>, Refused> {
        let spans = self.spans();
        let (found, said) = (spans.len(), manifest.cases.len());
        if found != said || found == 0 {
            return Err(claim("/cases", format!("{said} cases, but ctrl.mem starts {found} dot products")));
        }
        let dot = |(case, span): (&FloatCase, Range<usize>)| {
            let valid: Vec<usize> = span.clone().filter(|&beat| self.bit(beat, VALID)).collect();
            let products: Vec<[u32; 2]> = valid.iter().flat_map(|&beat| self.products(beat)).collect();
            let blocks = valid.iter().flat_map(|&beat| self.blocks(beat)).collect();
            if products.is_empty() {
                return Err(claim("ctrl.mem", format!("case {} has no products", case.id)));
            }
            let is_cut = !valid.last().is_some_and(|&beat| self.bit(beat, LAST));
            let bubble = span.zip(&valid).position(|(beat, &valid)| beat != valid);
            let FloatCase { id, group, class, place, .. } = case.clone();
            Ok(FloatDot { id, group, class, place, products, blocks, bubble, is_cut })
        };
        manifest.cases.iter().zip(spans).map(dot).collect()
    }

    /// Returns the terms of a beat, if they are scaled.
    fn blocks(&self, beat: usize) -> Vec<Block> {
        let Some((sides, slots)) = &self.scales else { return Vec::new() };
        let (formats, group) =
            (self.unit.scales.map_or([FloatFormat::FLOAT32; 2], |own| own.formats), self.unit.group());
        let block = |term: usize| {
            let lanes = (term * group..(term + 1) * group).map(|lane| KEEP + lane as u32);
            let count = lanes.filter(|&bit| self.bit(beat, bit)).count();
            let code = |side: usize| {
                field(sides[side].word(beat), term as u32 * slots[side], formats[side].bits()) as u32
            };
            (count > 0).then(|| Block { count, scales: [code(0), code(1)] })
        };
        (0..self.unit.terms()).filter_map(block).collect()
    }

    /// Returns the products of a beat.
    fn products(&self, beat: usize) -> Vec<[u32; 2]> {
        let lanes = (0..self.unit.lanes() as u32).filter(|lane| self.bit(beat, KEEP + lane));
        let bits = [self.unit.activation.bits(), self.unit.weight.bits()];
        let code = |lane: u32, side: usize| {
            field(self.sides[side].word(beat), lane * self.slots[side], bits[side]) as u32
        };
        lanes.map(|lane| [code(lane, 0), code(lane, 1)]).collect()
    }
}
