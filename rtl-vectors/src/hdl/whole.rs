//! Benches of whole layers: the parameters of `tb_layer.sv`, and the design of each layer.

use std::fmt::Write;

use guardbit_hwmodels::{MacLayer, TimingConvention};

use super::parameters::{Parameters, SHOWN, mode};
use super::{ARRAY_RTL, UNIT_RTL, array_design, unit_design};
use crate::array::sum_bits;
use crate::beats;
use crate::interface::{ACC_LATENCY, interface};
use crate::manifest::{
    ArrayCycleInfo, ArrayInfo, BiasAt, Compared, Coverage, FileInfo, Manifest, Packing, SCHEMA, Source,
    TileInfo, Timing, Tool, WordOrder,
};
use crate::text::comment;
use crate::whole::{Design, Image, LayerLayout, Placement, WeightLayout};

/// Returns the files that the benches of all layers share, by path.
pub(crate) fn whole_files() -> Vec<(String, String)> {
    let rtl =
        UNIT_RTL.iter().chain(&ARRAY_RTL).map(|(name, text)| (format!("rtl/{name}"), (*text).to_owned()));
    let bench = [
        ("tb_layer.sv", include_str!("../../bench/tb_layer.sv")),
        ("tb_clock.sv", include_str!("../../bench/tb_clock.sv")),
        ("Makefile", include_str!("../../bench/layer.mk")),
    ];
    rtl.chain(bench.map(|(name, text)| (name.into(), text.to_owned()))).collect()
}

/// Returns the files of the bench of one layer, by path in its folder. `files` describes the files of images.
pub(crate) fn whole_layer(
    layout: &LayerLayout,
    images: &[Image],
    files: &[(FileInfo, Vec<u8>)],
    layer: &MacLayer,
) -> Vec<(String, String)> {
    let manifest = manifest(layout, layer);
    let design = match &manifest.array {
        Some(info) => ("gb_array.sv", array_design(&manifest, info)),
        None => ("gb_dut.sv", unit_design(&manifest)),
    };
    let parameters = parameters(layout, images, files, &manifest, layer);
    [design, ("tb_layer_params.sv", parameters)].map(|(name, text)| (name.to_owned(), text)).into()
}

/// Returns a manifest of the layer without cases, from which its design follows.
fn manifest(layout: &LayerLayout, layer: &MacLayer) -> Manifest {
    let lanes = beats::lanes(&layer.datapath, layer.order.len());
    let cycles = &layout.cycles;
    let array = (layout.design != Design::Unit).then(|| ArrayInfo {
        dataflow: cycles.dataflow,
        rows: cycles.rows,
        cols: cycles.cols,
        sample: 0,
        first_pixel: 0,
        pixels: 0,
        channels: 0,
        groups: 0,
        tiles: vec![TileInfo {
            group: 0,
            first_pixel: 0,
            pixels: layout.tiles.iter().map(|tile| tile.pixels[1] - tile.pixels[0]).max().unwrap_or(1),
            first_channel: 0,
            channels: 0,
            first_term: 0,
            terms: 0,
            first_beat: 0,
            first_word: None,
            words: 0,
            class: String::new(),
        }],
        beats: 0,
        words: 0,
        word_order: WordOrder::Pixels,
        real_beats: 0,
        real_words: 0,
        ctrl: Vec::new(),
        cycles: ArrayCycleInfo {
            convention: TimingConvention::Overlapped,
            preload: 0,
            fill: 0,
            steps: 0,
            period: 0,
            drain: 0,
            cycles: cycles.design,
            model: cycles.compute,
            difference: None,
        },
    });
    Manifest {
        schema: SCHEMA,
        tool: Tool { name: String::new(), version: String::new() },
        source: Source {
            model: String::new(),
            model_sha256: String::new(),
            accelerator: comment(&layout.folder),
            accelerator_sha256: String::new(),
            input: String::new(),
            seed: 0,
            cases: 0,
        },
        settings: Default::default(),
        layer: layout.layer.clone(),
        interface: interface(&layout.arithmetic, lanes, Packing::Dense),
        arithmetic: layout.arithmetic.clone(),
        timing: Timing {
            dataflow: cycles.dataflow,
            rows: cycles.rows,
            cols: cycles.cols,
            cycles: cycles.layer,
            beats_per_dot: layer.order.len().div_ceil(lanes),
        },
        files: Vec::new(),
        cases: Vec::new(),
        compared: Compared::default(),
        coverage: Coverage::default(),
        array,
        array_absent: None,
        sha256: String::new(),
    }
}

/// Returns `tb_layer_params.sv`.
fn parameters(
    layout: &LayerLayout,
    images: &[Image],
    files: &[(FileInfo, Vec<u8>)],
    manifest: &Manifest,
    layer: &MacLayer,
) -> String {
    let (input, output) = (&images[layout.input], &images[layout.output]);
    let file = |path: &str| files.iter().map(|(info, _)| info).find(|info| info.path == path);
    let (arithmetic, requantize) = (&layout.arithmetic, &layout.arithmetic.requantize);
    let mut text = String::new();
    let mut define = |name: &str, value: &str| {
        let _ = writeln!(text, "`define {name} {value}");
    };
    let quoted = |path: &str| format!("\"{path}\"");
    let written = |image: &Image| image.writer.as_ref().map(|folder| quoted(&format!("dut/{folder}.mem")));
    define("GB_FOLDER", &quoted(&layout.folder));
    define("GB_IFM", &quoted(&input.file));
    define("GB_OFM", &quoted(&output.file));
    if let Some(path) = written(input) {
        define("GB_IFM_WRITTEN", &path);
    }
    let (weights, weight_place) = match &layout.weights {
        WeightLayout::Constant { file, place } => (file, place),
        WeightLayout::Activations { image, .. } => {
            define("GB_TWO_ACTIVATIONS", "");
            if let Some(path) = written(&images[*image]) {
                define("GB_WEIGHTS_WRITTEN", &path);
            }
            (&images[*image].file, &images[*image].place)
        }
    };
    define("GB_WEIGHTS", &quoted(weights));
    match layout.design {
        Design::Unit => define("GB_UNIT", ""),
        Design::WeightStationaryArray if layout.spill.is_some() => define("GB_SPILL", ""),
        _ => {}
    }

    let mut all = Parameters::default();
    let window = &layout.layer.window;
    let is_unit = layout.design == Design::Unit;
    let sums_stay = layout.design == Design::OutputStationaryArray;
    all.number("ROWS", layout.cycles.rows)
        .number("COLS", layout.cycles.cols)
        .number("TILES", layout.tiles.len())
        .flag("SUMS_STAY", sums_stay)
        .number("PRELOAD", if sums_stay { 0 } else { layout.cycles.rows })
        .number("LANES", manifest.interface.lanes)
        .number("LEVELS", arithmetic.levels.len())
        .number("TERMS", layout.layer.terms)
        .number("IMAGES", window.batch);
    for (name, [h, w, c]) in [("IN", window.input), ("OUT", window.output), ("KERNEL", window.kernel)] {
        all.number(&format!("{name}_H"), h).number(&format!("{name}_W"), w).number(&format!("{name}_C"), c);
    }
    for (name, [h, w]) in [("STRIDE", window.stride), ("DILATION", window.dilation), ("PAD", window.pad)] {
        all.number(&format!("{name}_H"), h).number(&format!("{name}_W"), w);
    }
    all.number("GROUPS", window.groups)
        .number("CHANNELS", layout.layer.channels)
        .number("DOTS", layout.layer.dots);
    for (name, path, place) in [
        ("IFM", &input.file, &input.place),
        ("OFM", &output.file, &output.place),
        ("WEIGHT", weights, weight_place),
    ] {
        placement(&mut all, name, place, file(path));
    }
    let offset = layer.activation_offset();
    let factor = layer.weight_sum_factor;
    let (starts, strides) = match &layout.weights {
        WeightLayout::Activations { strides, .. } => (true, *strides),
        WeightLayout::Constant { .. } => (false, [0; 4]),
    };
    let [by_output, by_row, by_col, by_input] = strides;
    let acc_bits = arithmetic.levels.last().map_or(1, |level| level.acc_bits);
    let spill_words = layout.spill.as_deref().and_then(file).and_then(|info| info.words).unwrap_or(0);
    let per_dot = 1 + usize::from(requantize.in_rtl) + usize::from(is_unit);
    let compared = layout.layer.dots * per_dot;
    all.flag("TWO_ACTIVATIONS", starts)
        .number("BY_OUTPUT", by_output)
        .number("BY_ROW", by_row)
        .number("BY_COL", by_col)
        .number("BY_INPUT", by_input)
        .number("SUBTRACTED", offset.subtract)
        .number("PADDING", offset.padding)
        .flag("FOLDED", arithmetic.zero_point == guardbit_hwmodels::ZeroPoint::Fold)
        .number("WEIGHT_SUM_FACTOR", factor)
        .number("A_W", arithmetic.activation.bits)
        .number("W_W", arithmetic.weight.bits)
        .number("SUM_W", sum_bits(arithmetic))
        .number("FLAGS_W", 2 * arithmetic.levels.len() + 2)
        .number("ACC_BITS", acc_bits)
        .number("ACC_MODE", arithmetic.levels.last().map_or(0, |level| mode(&level.register)))
        .number("SPILL_WORDS", spill_words)
        .flag("POST", arithmetic.bias.at == BiasAt::POST)
        .number("BIAS_SHIFT", arithmetic.bias.unit_shift)
        .number("BIAS_ROUND", arithmetic.bias.unit_round.code())
        .number("BIAS_W", arithmetic.bias.input_bits)
        .register("BIAS_", &arithmetic.bias.register)
        .number("BIASED_W", arithmetic.bias.register.port_bits)
        .number("MULT_W", requantize.mult_bits)
        .number("SCHEME", requantize.scheme.code())
        .number("ZERO_POINT", requantize.zero_point)
        .number("CLAMP_MIN", requantize.clamp_min)
        .number("CLAMP_MAX", requantize.clamp_max)
        .number("CODE_W", requantize.out_bits)
        .flag("HAS_CODES", requantize.in_rtl)
        .number("COMPARED", compared)
        .number("LATENCY", if is_unit { ACC_LATENCY } else { 0 })
        .number("CYCLES", layout.cycles.design)
        .number("MODEL_COMPUTE", layout.cycles.compute)
        .number("MODEL_LAYER", layout.cycles.layer)
        .number("SHOWN", SHOWN);
    format!(
        "// What the bench knows of layer {}; made by guardbit from the layout.
{text}package tb_layer_params;
{}endpackage
",
        comment(&layout.layer.name),
        all.of_package()
    )
}

/// Adds sizes, strides and words of an image.
fn placement(all: &mut Parameters, name: &str, place: &Placement, file: Option<&FileInfo>) {
    let [_, h, w, c] = place.shape;
    let lanes = place.lanes;
    let value = |name: &str, part: &str| format!("{name}_{part}");
    all.number(&value(name, "LANES"), lanes)
        .number(&value(name, "BITS"), file.and_then(|info| info.lane_bits).unwrap_or(8))
        .flag(&value(name, "SIGNED"), file.and_then(|info| info.signed).unwrap_or(true))
        .number(&value(name, "WORDS"), file.and_then(|info| info.words).unwrap_or(1))
        .number(&value(name, "H"), h)
        .number(&value(name, "W"), w)
        .number(&value(name, "C"), c)
        .number(&value(name, "BLOCK"), place.block);
    for (part, stride) in ["BY_IMAGE", "BY_ROW", "BY_COL", "BY_CHANNEL"].into_iter().zip(place.strides) {
        all.number(&value(name, part), stride);
    }
}
