//! Memory images of whole layers: what the hardware reads and has to write for one sample, in an order of its own, with
//! the schedule of the time model.
//!
//! Codes are those of the simulation of the sample; sums, overflows and spilled sums are those of the reference engine.

mod diff;
mod dram;
mod image;
mod layout;
mod memory;
mod text;
mod tiles;
mod values;

use std::collections::HashMap;

use guardbit_files::{ListedSettings, UNSEALED, seal_of, seal_text};
use guardbit_graph::{NodeId, TensorId, WeightCodes};
use guardbit_hwmodels::{Dataflow, MacLayer, Program, Step};
use guardbit_sim::Reads;

use crate::arithmetic::{self, multiplier_words};
use crate::array;
use crate::beats;
use crate::columns::plain_info;
use crate::hdl;
use crate::manifest::{Arithmetic, FileInfo, LayerInfo, Packing, Tool};
use crate::sizes::MAX_LANES;
use crate::words::{Words, digits};
use crate::{VectorError, describe, text as names};
use tiles::{MAX_TILES, Places};

pub use diff::{Difference, LayerDiff, Mistake, diff_layer};
pub use image::{ImageOrder, Placement};
pub use layout::{
    Design, Dram, DramRegion, Image, ImageSource, LAYOUT, LAYOUT_SCHEMA, LayerCycles, LayerLayout, Layout,
    MemoryPlan, OtherInfo, ResidentInfo, SCHEMA as WHOLE_SCHEMA, Tile, WeightLayout, layout_schema,
};

/// Greatest number of products of all layers.
const MAX_PRODUCTS: usize = 1 << 30;

/// Settings of an export of whole layers.
#[derive(Debug, Clone)]
pub struct WholeRequest {
    /// Source, written to the layout unchanged.
    pub source: ImageSource,
    /// Settings that the layout lists.
    pub settings: ListedSettings,
    /// Order of codes in images.
    pub order: ImageOrder,
}

/// Whole layers in memory.
#[derive(Debug, Clone)]
pub struct Whole {
    /// The layout.
    pub layout: Layout,
    /// All files by path, including the layout.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Exports the layer `layer`, or all layers of the program that can be exported if it is `None`. `tensors` holds the codes of
/// the sample's tensors on this accelerator, by tensor index.
///
/// Equal arguments give equal bytes.
///
/// # Errors
/// [`VectorError`] if the layer cannot be exported, or none can.
pub fn export_whole(
    program: &Program,
    layer: Option<NodeId>,
    tensors: &[Option<Vec<i32>>],
    request: &WholeRequest,
) -> Result<Whole, VectorError> {
    let mut export = Export {
        program,
        tensors,
        order: request.order,
        images: Vec::new(),
        by_tensor: HashMap::new(),
        files: Vec::new(),
    };
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for (node, _) in
        program.graph.nodes_with_ids().filter(|(node, _)| layer.is_none_or(|layer| layer == *node))
    {
        match export.arithmetic(node) {
            Ok((layer, arithmetic)) => chosen.push((layer, arithmetic)),
            Err(error) if layer.is_some() => return Err(error),
            Err(error) => others.push(OtherInfo {
                index: node.index(),
                name: program.graph.node_name(node).to_owned(),
                op: program.graph.node(node).op.name().into(),
                reason: reason(&error),
            }),
        }
    }
    let name = layer.map_or(request.source.model.clone(), |node| program.graph.node_name(node).to_owned());
    if chosen.is_empty() {
        let reason =
            others.first().map_or(String::new(), |other| format!("`{}`: {}", other.name, other.reason));
        return Err(VectorError::NoLayer { network: name, reason });
    }
    let products = chosen.iter().map(|(layer, _)| layer.dots.window.dots().saturating_mul(layer.order.len()));
    let products = products.fold(0, usize::saturating_add);
    if products > MAX_PRODUCTS {
        return Err(VectorError::TooLarge {
            layer: name,
            what: "products",
            count: products as u64,
            most: MAX_PRODUCTS as u64,
        });
    }
    for (layer, _) in &chosen {
        export.claim(layer);
    }
    let layers = chosen
        .into_iter()
        .map(|(layer, arithmetic)| export.layer(layer, arithmetic))
        .collect::<Result<Vec<_>, _>>()?;
    let Export { images, mut files, .. } = export;
    let memory = memory::plan(program);
    let (dram, words) = dram::dram(&images, &layers, &memory, &files);
    let info = FileInfo {
        words: Some(dram.bytes as usize / dram.word_bytes),
        bits: Some(8 * dram.word_bytes as u32),
        ..plain_info(&dram.file, "stimulus: memory outside of the accelerator", &words)
    };
    files.push((info, words));
    files.extend(hdl::whole_files().into_iter().map(|(path, text)| plain(path, "bench", text.into_bytes())));
    files.push(plain(LAYOUT_SCHEMA.into(), "schema", layout_schema().into_bytes()));
    let layout = Layout {
        schema: WHOLE_SCHEMA,
        tool: Tool { name: "guardbit".into(), version: env!("CARGO_PKG_VERSION").into() },
        source: request.source.clone(),
        settings: request.settings.clone(),
        order: request.order.to_string(),
        images,
        layers,
        others,
        memory,
        dram: Some(dram),
        files: files.iter().map(|(info, _)| info.clone()).collect(),
        sha256: UNSEALED.into(),
    };
    // All keys of maps in a layout are strings, so serialization cannot fail.
    let json = seal_text(&(serde_json::to_string_pretty(&layout).unwrap_or_default() + "\n"));
    let sha256 = seal_of(&json).map(|seal| seal.to_string()).unwrap_or_default();
    let mut files: Vec<(String, Vec<u8>)> =
        files.into_iter().map(|(info, bytes)| (info.path, bytes)).collect();
    files.push((LAYOUT.into(), json.into_bytes()));
    Ok(Whole { layout: Layout { sha256, ..layout }, files })
}

/// Returns why an operation has no layer, without its name.
fn reason(error: &VectorError) -> String {
    match error {
        VectorError::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}

fn plain(path: String, role: &str, bytes: Vec<u8>) -> (FileInfo, Vec<u8>) {
    (plain_info(&path, role, &bytes), bytes)
}

struct Export<'a> {
    program: &'a Program,
    tensors: &'a [Option<Vec<i32>>],
    order: ImageOrder,
    images: Vec<Image>,
    by_tensor: HashMap<TensorId, usize>,
    files: Vec<(FileInfo, Vec<u8>)>,
}

impl<'a> Export<'a> {
    /// Returns a layer with its arithmetic.
    fn arithmetic(&self, node: NodeId) -> Result<(&'a MacLayer, Arithmetic), VectorError> {
        let unsupported = |what: &str| VectorError::Unsupported {
            layer: self.program.graph.node_name(node).into(),
            what: what.into(),
        };
        let Step::Mac(layer) = &self.program.steps[node.index()] else {
            return Err(unsupported("an operation that runs on the host"));
        };
        let arithmetic = arithmetic::arithmetic(&self.program.graph, layer)?;
        if layer.datapath.order.walk.depends_on_data() {
            return Err(unsupported("an order of addition that depends on the data"));
        }
        if beats::lanes(&layer.datapath, layer.order.len()) > MAX_LANES {
            return Err(unsupported(&format!("a tree over more than {MAX_LANES} products")));
        }
        Ok((layer, arithmetic))
    }

    fn folder(layer: &MacLayer) -> String {
        format!("{:02}_{}", layer.node.index(), names::file_part(&layer.short_name))
    }

    /// Gives the output of a layer, and the activations that it reads, an image.
    fn claim(&mut self, layer: &MacLayer) {
        let (program, window) = (self.program, &layer.dots.window);
        let folder = Self::folder(layer);
        let [input, second] = program.reads(layer);
        let [rows, cols, channels] = window.input;
        let mut read = |tensor: TensorId, name: &str, shape: [usize; 4]| {
            let index = self.image(tensor, format!("{folder}/{name}.mem"), shape, None);
            if !self.images[index].readers.contains(&folder) {
                self.images[index].readers.push(folder.clone());
            }
        };
        if let Some(tensor) = input {
            read(tensor, "ifm", [window.batch, rows, cols, channels]);
        }
        if let Some(tensor) = second {
            // The tensor as matrices of terms by channels, whichever of them is the faster axis.
            let per_image = window.terms() * window.channels();
            let len = program.graph.tensor(tensor).ty.len();
            let fast = if layer.dots.weights.as_ref().is_some_and(|w| w.strides[0] == 1) {
                window.channels()
            } else {
                window.terms()
            };
            let shape = [len / per_image.max(1), 1, per_image / fast.max(1), fast];
            read(tensor, "weights", shape);
        }
        let [rows, cols, channels] = window.output;
        let output = program.graph.node(layer.node).output;
        self.image(
            output,
            format!("{folder}/ofm.mem"),
            [window.batch, rows, cols, channels],
            Some(folder.clone()),
        );
    }

    /// Returns the index of a tensor's image, which is created if it is new.
    fn image(&mut self, tensor: TensorId, file: String, shape: [usize; 4], writer: Option<String>) -> usize {
        if let Some(&index) = self.by_tensor.get(&tensor) {
            return index;
        }
        let info = self.program.graph.tensor(tensor);
        let place = Placement::activations(self.order, shape);
        let codes = self.tensors[tensor.index()].as_deref().unwrap_or_default();
        let range = info.ty.code_range();
        let words = place.words(range.bits(), codes.iter().map(|&code| i64::from(code)));
        let role = if writer.is_some() { "expected: output codes" } else { "stimulus: activations" };
        self.put(file.clone(), role, if range.min() < 0 { words } else { words.unsigned() });
        self.images.push(Image { tensor: info.name.clone(), file, place, writer, readers: Vec::new() });
        self.by_tensor.insert(tensor, self.images.len() - 1);
        self.images.len() - 1
    }

    fn put(&mut self, path: String, role: &str, words: Words) -> String {
        let bytes = words.mem();
        let info = FileInfo {
            words: Some(words.len()),
            bits: Some(words.bits),
            lanes: Some(words.per_word()),
            lane_bits: Some(words.lane_bits()),
            slot_bits: Some(words.slot_bits()),
            digits: Some(digits(words.bits)),
            signed: Some(words.signed),
            ..plain_info(&path, role, &bytes)
        };
        self.files.push((info, bytes));
        path
    }

    fn layer(&mut self, layer: &MacLayer, arithmetic: Arithmetic) -> Result<LayerLayout, VectorError> {
        let (program, window) = (self.program, &layer.dots.window);
        let folder = Self::folder(layer);
        let [input, second] = program.reads(layer);
        let held = |tensor: Option<TensorId>| tensor.and_then(|id| self.tensors[id.index()].as_deref());
        let reads = Reads { activations: held(input).unwrap_or_default(), weights: held(second) };
        let index = |tensor: Option<TensorId>| {
            tensor.and_then(|id| self.by_tensor.get(&id).copied()).unwrap_or_default()
        };
        let (input, output) = (index(input), index(Some(program.graph.node(layer.node).output)));
        let weights = self.weights(layer, &folder, second.map(|id| index(Some(id))));

        let accelerator = program.accelerator_of(layer.node);
        let shared = array::shared(window, layer.dots.streams_weights());
        let folds = match layer.timing.fold_count() {
            0..=MAX_TILES => layer.timing.walk(layer.datapath.levels.len()),
            count => {
                let (layer, most) = (layer.name.clone(), MAX_TILES);
                return Err(VectorError::TooLarge { layer, what: "tiles", count, most });
            }
        };
        let cycles = layer.timing.array_cycles(accelerator.timing.convention);
        let places = Places {
            input: &self.images[input].place,
            output: &self.images[output].place,
            weight: &|n, c, cell| weight_word(layer, &weights, &self.images, n, c, cell),
        };
        let tiles_absent = folds
            .is_none()
            .then(|| "the lanes hold outputs in the order of the tensor, which form no blocks".to_owned());
        let (mut tiles, ends) =
            tiles::tiles(layer, folds.as_deref().unwrap_or_default(), &places, cycles.period as u64);
        let broken = tiles.windows(2).any(|pair| pair[1].pass > 0 && pair[1].pass != pair[0].pass + 1);
        let array_absent = match array::covered(accelerator, &layer.datapath, &shared) {
            Ok(()) if broken => Some("sums of several tiles are unfinished at a time".into()),
            covered => covered.err(),
        };
        let design = match (&array_absent, accelerator.dataflow) {
            (Some(_), _) => Design::Unit,
            (None, Dataflow::OutputStationary) => Design::OutputStationaryArray,
            (None, _) => Design::WeightStationaryArray,
        };
        if design == Design::Unit {
            tiles.iter_mut().for_each(|tile| tile.start = None);
        }
        let values = values::values(layer, reads, &arithmetic, &ends);
        debug_assert_eq!(held(Some(program.graph.node(layer.node).output)), Some(&values.codes[..]));

        let place = self.images[output].place.clone();
        let sum_bits = array::sum_bits(&arithmetic);
        let sums = self.put(
            format!("{folder}/sum.mem"),
            "expected: delivered sums",
            place.words(sum_bits, values.sums.iter().copied()),
        );
        let overflow =
            place.words(values::overflow_bits(&arithmetic), values.overflow.iter().copied()).unsigned();
        let overflow = self.put(format!("{folder}/overflow.mem"), "expected: overflows", overflow);
        let spill = spilled(layer, &tiles, &ends, &values.partial);
        if spill.is_none() {
            tiles.iter_mut().for_each(|tile| tile.spill = None);
        }
        let acc_bits = arithmetic.levels.last().map_or(1, |level| level.acc_bits);
        let spill = spill.filter(|words| !words.is_empty()).map(|words| {
            self.put(
                format!("{folder}/spill.mem"),
                "expected: unfinished sums",
                Words::values(acc_bits + 1, false, words),
            )
        });
        let [order, bias, mult, exp, zero_points] = self.constants(layer, &arithmetic, &folder);
        let lanes = beats::lanes(&layer.datapath, layer.order.len());
        let beats_per_dot = layer.order.len().div_ceil(lanes).max(1);
        let [of_input, of_weight, of_output] = describe::tensors(&program.graph, layer);
        let layout = LayerLayout {
            layer: LayerInfo {
                index: layer.node.index(),
                name: layer.name.clone(),
                op: layer.op.into(),
                terms: layer.order.len(),
                dots: window.dots(),
                channels: window.channels(),
                input: of_input,
                weight: of_weight,
                two_activations: layer.dots.streams_weights(),
                output: of_output,
                window: describe::window(window),
                constant_bits: layer.widths.constants,
            },
            arithmetic,
            input,
            weights,
            order,
            bias,
            mult,
            exp,
            zero_points,
            output,
            sums,
            overflow,
            design,
            array_absent,
            cycles: LayerCycles {
                dataflow: accelerator.dataflow,
                rows: layer.timing.array.rows,
                cols: layer.timing.array.cols,
                design: match design {
                    Design::Unit => (window.dots() * beats_per_dot) as u64,
                    _ => cycles.cycles,
                },
                compute: cycles.counted,
                layer: layer.timing.cycles,
            },
            tiles,
            tiles_absent,
            spill,
            folder,
        };
        self.bench(layer, &layout);
        Ok(layout)
    }

    /// Writes the weights of a layer, if they are constants.
    fn weights(&mut self, layer: &MacLayer, folder: &str, image: Option<usize>) -> WeightLayout {
        let weights = layer.dots.weights.as_ref();
        match (weights.map(|weights| (weights, &weights.codes)), image) {
            (Some((weights, WeightCodes::Activations { starts })), Some(image)) => {
                WeightLayout::Activations { image, starts: starts.to_vec(), strides: weights.strides }
            }
            (weights, _) => {
                let window = &layer.dots.window;
                let [rows, cols, inputs] = window.kernel;
                let place = Placement::weights(self.order, [window.channels(), rows, cols, inputs]);
                let constant = weights.and_then(|(weights, _)| Some((weights, weights.constant()?)));
                let code = |index: usize| {
                    let (channel, cell) = (index / window.terms(), index % window.terms());
                    constant.map_or(0, |(of, codes)| {
                        codes.at(of.index(0, channel, window.kernel_position(cell))).into()
                    })
                };
                let range = self.program.graph.node(layer.node).inputs.get(1).copied().flatten();
                let range = range.map(|id| self.program.graph.tensor(id).ty.code_range());
                let words = place.words(range.map_or(8, |range| range.bits()), (0..place.values()).map(code));
                let words = if range.is_none_or(|range| range.min() < 0) { words } else { words.unsigned() };
                WeightLayout::Constant {
                    file: self.put(format!("{folder}/weights.mem"), "stimulus: weights", words),
                    place,
                }
            }
        }
    }

    /// Writes what a layer needs apart from its tensors.
    fn constants(&mut self, layer: &MacLayer, arithmetic: &Arithmetic, folder: &str) -> [String; 5] {
        let channels = 0..layer.dots.window.channels();
        let words = |c: usize| multiplier_words(layer.requantizers[c]);
        let zero_points = layer.dots.weights.as_ref().map_or(&[][..], |weights| &weights.zero_points);
        let bias: Vec<i64> =
            channels.clone().map(|c| layer.bias.as_ref().map_or(0, |bias| bias[c] as i64)).collect();
        let all = [
            (
                "order",
                "window cell of every product",
                32,
                false,
                layer.order.iter().map(|&cell| cell as i64).collect(),
            ),
            ("bias", "stimulus per channel: bias at unit 1", 64, true, bias),
            (
                "mult",
                "stimulus per channel: multiplier",
                arithmetic.requantize.mult_bits,
                true,
                channels.clone().map(|c| words(c)[0]).collect(),
            ),
            (
                "exp",
                "stimulus per channel: exponent",
                8,
                true,
                channels.clone().map(|c| words(c)[1]).collect(),
            ),
            (
                "zero_points",
                "zero point of the weights per channel",
                32,
                true,
                channels.map(|c| zero_points.get(c).map_or(0, |&z| z.into())).collect::<Vec<i64>>(),
            ),
        ];
        all.map(|(name, role, bits, signed, values)| {
            self.put(format!("{folder}/{name}.mem"), role, Words::values(bits, signed, values))
        })
    }

    /// Writes what the bench of a layer reads: its parameters, tiles or ends of runs, and the design.
    fn bench(&mut self, layer: &MacLayer, layout: &LayerLayout) {
        let folder = &layout.folder;
        let name = |path: &str| format!("{folder}/{path}");
        if let Some((path, words)) = match layout.design {
            Design::Unit => {
                let lanes = beats::lanes(&layer.datapath, layer.order.len());
                let ends = beats::run_ends(&layer.datapath, layer.order.len(), lanes);
                let beat =
                    |beat: usize| ends.iter().zip(0..).map(|(of, level)| i64::from(of[beat]) << level).sum();
                let words = (0..ends[0].len()).map(beat).collect();
                Some(("run_last.mem", Words::values(ends.len() as u32, false, words)))
            }
            _ => {
                let fields = layout.tiles.iter().flat_map(|tile| {
                    let Tile { pixels: [p, p_end], channels: [c, c_end], terms: [k, k_end], .. } = *tile;
                    let start = tile.start.unwrap_or(0) as usize;
                    let done = usize::from(k_end == layout.layer.terms);
                    [p, p_end - p, c, c_end - c, k, k_end - k, start, done, tile.spill.unwrap_or(0)]
                });
                let words = Words::lanes(9, 32, Packing::Dense, fields.map(|field| field as i64).collect());
                Some(("tiles.mem", words.unsigned()))
            }
        } {
            self.put(name(path), "bench", words);
        }
        if let WeightLayout::Activations { starts, .. } = &layout.weights {
            let starts = starts.iter().map(|&start| start as i64).collect();
            self.put(name("starts.mem"), "bench", Words::values(32, false, starts));
        }
        for (path, text) in hdl::whole_layer(layout, &self.images, &self.files, layer) {
            self.files.push(plain(name(&path), "bench", text.into_bytes()));
        }
    }
}

/// Returns the word of the weight that an output channel of an image reads at a window cell.
fn weight_word(
    layer: &MacLayer,
    weights: &WeightLayout,
    images: &[Image],
    n: usize,
    c: usize,
    cell: usize,
) -> usize {
    let cell = layer.dots.window.kernel_position(cell);
    match weights {
        WeightLayout::Constant { place, .. } => place.word([c, cell.h, cell.w, cell.c]),
        WeightLayout::Activations { image, .. } => {
            let place = &images[*image].place;
            let index = layer.dots.weights.as_ref().map_or(0, |weights| weights.index(n, c, cell));
            place.word(place.position(index))
        }
    }
}

/// Returns the words of unfinished sums, tile by tile; `None` if some are not in the last level.
fn spilled(
    layer: &MacLayer,
    tiles: &[Tile],
    ends: &[usize],
    partial: &[Option<Vec<i64>>],
) -> Option<Vec<i64>> {
    let [rows, cols, channels] = layer.dots.window.output;
    let mut words = Vec::new();
    for tile in tiles.iter().filter(|tile| tile.spill.is_some()) {
        let values = partial[ends.binary_search(&tile.terms[1]).ok()?].as_ref()?;
        for pixel in tile.pixels[0]..tile.pixels[1] {
            for channel in tile.channels[0]..tile.channels[1] {
                let out = layer.timing.output(pixel, channel);
                words.push(values[((out.n * rows + out.h) * cols + out.w) * channels + out.c]);
            }
        }
    }
    Some(words)
}
