//! Assembles a bundle from its dot products. Both the exporter and the checker use this code.

use guardbit_files::{ListedSettings, UNSEALED, seal_of, seal_text};
use guardbit_hwmodels::Accelerator;

use super::beats::{Beats, FloatDot, Noise};
use super::bins::unreachable;
use super::corners::{Reach, count};
use super::hdl;
use super::interface::interface;
use super::manifest::{
    FLOAT_KIND, FloatBin, FloatCase, FloatCompared, FloatLayerInfo, FloatManifest, float_manifest_schema,
};
use super::model::{BINS, has_bin};
use super::unit::Unit;
use crate::bundle::Format;
use crate::columns::{DataFile, plain_info};
use crate::manifest::{ACCELERATOR, MANIFEST, MANIFEST_SCHEMA, Packing, SCHEMA, Source, Tool};

/// Bundle of a floating-point layer, in memory.
#[derive(Debug, Clone)]
pub struct FloatBundle {
    /// The manifest.
    pub manifest: FloatManifest,
    /// All files by path, including the manifest.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Data from which a bundle is assembled.
pub(super) struct Parts<'a> {
    pub source: Source,
    pub settings: ListedSettings,
    pub packing: Packing,
    /// Formats in addition to `.mem`.
    pub formats: &'a [Format],
    pub layer: FloatLayerInfo,
    pub accelerator: &'a Accelerator,
    pub unit: &'a Unit,
    pub dots: &'a [FloatDot],
}

/// Returns the bundle.
pub(super) fn assemble(parts: Parts<'_>) -> FloatBundle {
    let unit = parts.unit;
    let mut noise = Noise::new(unit, parts.source.seed);
    let mut beats = Beats::default();
    let mut reach: Reach = [[0; 2]; BINS.len()];
    let mut cases = Vec::with_capacity(parts.dots.len());
    for dot in parts.dots {
        let (first_beat, out_word) = beats.send(dot, unit, &mut noise);
        let sent = first_beat..beats.stream.len();
        count(unit, &beats.stream[sent.clone()], dot.is_cut, &mut reach);
        let valid = || sent.clone().filter(|&at| beats.stream[at].valid).map(|at| &beats.states[at]);
        cases.push(FloatCase {
            id: dot.id.clone(),
            group: dot.group,
            class: dot.class.clone(),
            place: dot.place,
            first_beat,
            beats: sent.len(),
            terms: dot.products.len(),
            out_word,
            cut: valid().filter(|state| state.cut).count(),
            vanished: valid().filter(|state| state.vanished).count(),
            sum: out_word.map(|word| beats.sums[word]),
        });
    }
    let longest =
        parts.dots.iter().map(|dot| dot.products.len()).chain([parts.layer.terms]).max().unwrap_or(0);
    let acc = beats.stream.iter().filter(|beat| beat.valid).count() as u64;
    let total = if unit.promotion().is_some() { acc } else { 0 };
    let files = beats.files(unit, parts.packing, parts.formats);
    let manifest = FloatManifest {
        schema: SCHEMA,
        kind: FLOAT_KIND.into(),
        tool: Tool { name: "guardbit".into(), version: env!("CARGO_PKG_VERSION").into() },
        source: parts.source,
        settings: parts.settings,
        layer: parts.layer,
        arithmetic: unit.arithmetic(),
        interface: interface(unit, parts.packing),
        files: Vec::new(),
        cases,
        compared: FloatCompared { acc, total, sum: beats.sums.len() as u64 },
        coverage: BINS
            .iter()
            .zip(reach)
            .filter(|(name, _)| has_bin(unit, name))
            .map(|(name, cases)| FloatBin {
                name: (*name).into(),
                cases,
                unreachable: unreachable(unit, longest, name),
            })
            .collect(),
        sha256: UNSEALED.into(),
    };
    with_files(manifest, files, unit, &beats, parts.accelerator)
}

/// Returns the bundle with the files that follow from the manifest.
fn with_files(
    mut manifest: FloatManifest,
    mut files: Vec<DataFile>,
    unit: &Unit,
    beats: &Beats,
    accelerator: &Accelerator,
) -> FloatBundle {
    let plain = |path: &str, role: &str, text: String| {
        let info = plain_info(path, role, text.as_bytes());
        DataFile { info, bytes: text.into_bytes() }
    };
    let benches = hdl::files(&manifest, unit, beats);
    files.extend(benches.into_iter().map(|(path, text)| plain(&path, "bench", text)));
    files.push(plain(
        ACCELERATOR,
        "the accelerator, with the layer's own overrides",
        accelerator.resolved_yaml(),
    ));
    files.push(plain(MANIFEST_SCHEMA, "schema", float_manifest_schema()));
    manifest.files = files.iter().map(|file| file.info.clone()).collect();
    // All keys of maps in a manifest are strings, so serialization cannot fail.
    let json = seal_text(&(serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n"));
    manifest.sha256 = seal_of(&json).map(|seal| seal.to_string()).unwrap_or_default();
    let mut all: Vec<(String, Vec<u8>)> =
        files.into_iter().map(|file| (file.info.path, file.bytes)).collect();
    all.push((MANIFEST.into(), json.into_bytes()));
    FloatBundle { manifest, files: all }
}
