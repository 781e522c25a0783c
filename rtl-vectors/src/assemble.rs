//! Assembles a bundle from its dot products: files by name, in memory. Both the exporter and the checker of
//! bundles use this code.

use guardbit_files::{ListedSettings, UNSEALED, seal_of, seal_text};
use guardbit_hwmodels::Accelerator;
use guardbit_hwmodels::timing::LayerTiming;
use rand_pcg::Pcg64Mcg;

use crate::array::ArrayOfBundle;
use crate::beats::{self, Beats, Dot};
use crate::bundle::{Bundle, Format, Sizes};
use crate::columns::{DataFile, array_files, data_files, plain_info};
use crate::coverage::{Counter, Seen};
use crate::interface::interface;
use crate::manifest::{
    ACCELERATOR, Arithmetic, Case, Compared, FileInfo, LayerInfo, MANIFEST, MANIFEST_SCHEMA, Manifest, Need,
    Packing, SCHEMA, Source, Timing, Tool, manifest_schema,
};
use crate::waves::{WaveFormat, waves};
use crate::{VectorError, hdl};

/// Data from which a bundle is assembled.
pub(crate) struct Parts<'a> {
    pub source: Source,
    pub settings: ListedSettings,
    pub packing: Packing,
    /// Formats in addition to `.mem`.
    pub formats: &'a [Format],
    pub waves: &'a [WaveFormat],
    pub layer: LayerInfo,
    /// Accelerator with the layer's own overrides.
    pub accelerator: &'a Accelerator,
    pub timing: &'a LayerTiming,
    pub arithmetic: Arithmetic,
    pub lanes: usize,
    pub dots: &'a [Dot],
    /// Random values for unused inputs, which must not affect results.
    pub noise: Pcg64Mcg,
    pub array: ArrayOfBundle,
}

impl Beats {
    fn sizes(&self) -> Sizes {
        Sizes { beats: self.len(), dots: self.bias.len(), outputs: self.sums.len() }
    }
}

/// Returns the bundle.
pub(crate) fn assemble(parts: Parts<'_>) -> Result<Bundle, VectorError> {
    let Parts { arithmetic, lanes, mut noise, .. } = parts;
    let mut beats = Beats::new(lanes, arithmetic.levels.len());
    let mut counter = Counter::default();
    let mut cases = Vec::with_capacity(parts.dots.len());
    for dot in parts.dots {
        let mut seen = Seen::new(&arithmetic, dot, lanes);
        let sent = beats.send(dot, &arithmetic, &mut noise, &mut |step| seen.step(step));
        if sent.out_word.is_some() {
            counter.add(seen.end(&arithmetic, &sent.trace, dot));
        }
        cases.push(case(dot, sent, lanes, parts.layer.terms));
    }
    let sums = beats.sums.len() as u64;
    let mut compared = Compared {
        acc: beats.states.iter().map(|states| states.iter().filter(|s| s.updated).count() as u64).collect(),
        sum: sums,
        out: if arithmetic.requantize.in_rtl { sums } else { 0 },
        array_sum: 0,
    };
    let mut files = data_files(&beats, &arithmetic, parts.packing, parts.formats);
    for &format in parts.waves {
        let bytes = waves(&beats, &arithmetic, &cases, format)?;
        let role = "waves: accumulators beside exact sums, flags";
        let info = plain_info(&format!("waves/vectors.{}", format.name()), role, &bytes);
        files.push(DataFile { info, bytes });
    }
    let (array, array_absent) = match parts.array {
        ArrayOfBundle::Present(part) => {
            compared.array_sum = part.mask.iter().sum::<i64>() as u64;
            files.extend(array_files(&part, &arithmetic, parts.formats));
            (Some(part.info), None)
        }
        ArrayOfBundle::Absent(reason) => (None, Some(reason.to_string())),
    };
    let manifest = Manifest {
        schema: SCHEMA,
        tool: Tool { name: "guardbit".into(), version: env!("CARGO_PKG_VERSION").into() },
        source: parts.source,
        settings: parts.settings,
        timing: timing(parts.accelerator, parts.timing, parts.layer.terms, lanes),
        coverage: counter.table(&arithmetic, parts.layer.terms, lanes),
        layer: parts.layer,
        interface: interface(&arithmetic, lanes, parts.packing),
        arithmetic,
        files: Vec::new(),
        cases,
        compared,
        array,
        array_absent,
        sha256: UNSEALED.into(),
    };
    let sizes = beats.sizes();
    let benches = hdl::files(&manifest, &sizes);
    let plain = |path: &str, role: &str, text: String| {
        let info = plain_info(path, role, text.as_bytes());
        DataFile { info, bytes: text.into_bytes() }
    };
    files.extend(benches.into_iter().map(|(path, text)| plain(&path, "bench", text)));
    files.push(plain(
        ACCELERATOR,
        "the accelerator, with the layer's own overrides",
        parts.accelerator.resolved_yaml(),
    ));
    files.push(plain(MANIFEST_SCHEMA, "schema", manifest_schema()));
    let infos: Vec<FileInfo> = files.iter().map(|f| f.info.clone()).collect();
    let mut manifest = Manifest { files: infos, ..manifest };
    // All keys of maps in a manifest are strings, so serialization cannot fail.
    let json = seal_text(&(serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n"));
    manifest.sha256 = seal_of(&json).map(|seal| seal.to_string()).unwrap_or_default();
    let mut all: Vec<(String, Vec<u8>)> = files.into_iter().map(|f| (f.info.path, f.bytes)).collect();
    all.push((MANIFEST.into(), json.into_bytes()));
    Ok(Bundle { manifest, files: all })
}

fn case(dot: &Dot, sent: beats::Sent, lanes: usize, terms: usize) -> Case {
    let layer = &dot.layer;
    let sent_operands = &dot.operands[..sent.products];
    let [_, exponent] = beats::multiplier_words(layer);
    let overflows = |of_beats: &[u64]| of_beats.iter().any(|&beats| beats > 0);
    // Of a case that is cut off, the trace holds products that are not sent.
    let is_cut = sent.out_word.is_none();
    let has = |need: &Need| match need {
        Need::ClearMid => is_cut,
        Need::Bubble => sent.beats > sent.products.div_ceil(lanes),
        Need::Short => sent.products < terms,
        Need::Keep => !sent.products.is_multiple_of(lanes),
        Need::Overflow => overflows(&sent.expected.high) || overflows(&sent.expected.low),
        Need::ProductOverflow => !is_cut && sent.trace.product_events > 0,
        Need::BiasOverflow => !is_cut && sent.trace.bias_events > 0,
        Need::PositiveExp => exponent > 0,
    };
    Case {
        id: dot.id.clone(),
        group: dot.group,
        class: dot.class.clone(),
        place: dot.place,
        bias: layer.bias.as_ref().map(|b| (b[0] + beats::weight_side(layer, sent_operands)) as i64),
        input_sum_factor: layer.input_sum_factor[0],
        multiplier: layer.exact_requantizers[0].multiplier().real(),
        first_beat: sent.first_beat,
        beats: sent.beats,
        terms: sent.products,
        needs: Need::ALL.into_iter().filter(has).collect(),
        out_word: sent.out_word,
        expected: sent.expected,
    }
}

fn timing(accelerator: &Accelerator, timing: &LayerTiming, terms: usize, lanes: usize) -> Timing {
    Timing {
        dataflow: accelerator.dataflow,
        rows: timing.array.rows,
        cols: timing.array.cols,
        cycles: timing.cycles,
        beats_per_dot: terms.div_ceil(lanes),
    }
}
