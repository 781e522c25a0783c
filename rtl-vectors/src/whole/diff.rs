//! Compares the output image that a design wrote with the expected one, and explains the first differences.

use std::path::{Path, PathBuf};

use guardbit_files::is_sealed;
use guardbit_graph::{OutputPosition, Tap, Window};
use guardbit_hwmodels::{ActivationOffset, ZeroPoint};
use serde_json::{Value, json};

use super::image::{ImageOrder, Placement};
use super::layout::{LAYOUT, LayerLayout, Layout, SCHEMA, WeightLayout};
use super::text::Memory;
use crate::columns::sha256;
use crate::manifest::{FileInfo, WindowInfo};
use crate::{VectorError, read};

/// Greatest size of a file in bytes.
const MAX_FILE: u64 = 1 << 30;
/// Greatest number of differences that are described.
const MOST: usize = 10;
/// Greatest number of operands that are described of a difference.
const OPERANDS: usize = 8;

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerDiff {
    /// Folder of the layer.
    pub folder: String,
    /// Name of the layer.
    pub layer: String,
    /// Number of outputs.
    pub outputs: usize,
    /// Outputs whose code differs or is not known.
    pub codes: usize,
    /// Outputs whose code has bits that are not known, or that no word holds.
    pub unknown: usize,
    /// Outputs whose sum differs or is not known, if sums are compared.
    pub sums: Option<usize>,
    /// The first differences, in the order of the output tensor; at most 10.
    pub first: Vec<Difference>,
}

impl LayerDiff {
    /// Returns whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.codes == 0 && self.sums.unwrap_or(0) == 0
    }

    /// Returns the comparison as JSON.
    pub fn json(&self) -> Value {
        json!({
            "equal": self.is_equal(),
            "folder": self.folder,
            "layer": self.layer,
            "outputs": self.outputs,
            "codes_different": self.codes,
            "codes_unknown": self.unknown,
            "sums_different": self.sums,
            "first": self.first.iter().map(Difference::json).collect::<Vec<_>>(),
        })
    }
}

/// An output that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `[image, row, column, channel]` of the output.
    pub output: [usize; 4],
    /// Word of the output image.
    pub word: usize,
    /// Value of that word.
    pub lane: usize,
    /// Row and column of the input at the window's first cell; negative in the padding.
    pub window: [i64; 2],
    /// First operands at the multiplier, in the order of addition: activation and weight.
    pub operands: Vec<[i64; 2]>,
    /// Number of operands.
    pub terms: usize,
    /// The code.
    pub code: Mistake,
    /// The sum; without a design's sums, `got` is `None`.
    pub sum: Mistake,
    /// Bits of `overflow` of the output.
    pub overflow: i64,
}

impl Difference {
    fn json(&self) -> Value {
        let both = |mistake: &Mistake| json!({ "expected": mistake.expected, "got": mistake.got });
        json!({
            "output": self.output,
            "word": self.word,
            "lane": self.lane,
            "window": self.window,
            "operands": self.operands,
            "terms": self.terms,
            "code": both(&self.code),
            "sum": both(&self.sum),
            "overflow": self.overflow,
        })
    }
}

/// Expected value and that of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mistake {
    /// Expected value.
    pub expected: i64,
    /// Value of the design; `None` if it is not known.
    pub got: Option<i64>,
}

/// Compares the output image `dut` of a layer with that of the folder `dir`, and its sums if they are given. `layer` is the
/// folder, name or index of the layer; it may be left out if there is only one.
///
/// # Errors
/// [`VectorError`] if a file cannot be read or used, or the folder has no such layer.
pub fn diff_layer(
    dir: &Path,
    dut: &Path,
    layer: Option<&str>,
    sums: Option<&Path>,
) -> Result<LayerDiff, VectorError> {
    let layout = read_layout(dir)?;
    let of_dir = Images { dir, layout: &layout };
    let layer = of_dir.layer(layer)?;
    let output = &layout.images[layer.output];
    let place = &output.place;
    let code_info = of_dir.info(&output.file)?;
    let (codes, expected_sums) = (of_dir.memory(&output.file)?, of_dir.memory(&layer.sums)?);
    let sum_info = of_dir.info(&layer.sums)?;
    let overflow_info = of_dir.info(&layer.overflow)?;
    let overflow = of_dir.memory(&layer.overflow)?;
    let got = foreign(dut, code_info, place)?;
    let got_sums = sums.map(|path| foreign(path, sum_info, place)).transpose()?;
    let operands = Operands::new(&of_dir, layer)?;

    let lane = |info: &FileInfo| (info.lane_bits.unwrap_or(1), info.signed.unwrap_or(false));
    let mut diff = LayerDiff {
        folder: layer.folder.clone(),
        layer: layer.layer.name.clone(),
        outputs: place.values(),
        codes: 0,
        unknown: 0,
        sums: got_sums.is_some().then_some(0),
        first: Vec::new(),
    };
    for index in 0..place.values() {
        let at = place.position(index);
        let (word, lane_at) = (place.element(at) / place.lanes, place.element(at) % place.lanes);
        let read = |memory: &Memory, info: &FileInfo| {
            let (bits, signed) = lane(info);
            memory.value(word, lane_at, bits, signed)
        };
        let code = Mistake { expected: read(&codes, code_info).unwrap_or(0), got: read(&got, code_info) };
        let sum = Mistake {
            expected: read(&expected_sums, sum_info).unwrap_or(0),
            got: got_sums.as_ref().and_then(|memory| read(memory, sum_info)),
        };
        let differs = |mistake: Mistake| mistake.got != Some(mistake.expected);
        diff.codes += usize::from(differs(code));
        diff.unknown += usize::from(code.got.is_none());
        let sum_differs = got_sums.is_some() && differs(sum);
        if let Some(sums) = &mut diff.sums {
            *sums += usize::from(sum_differs);
        }
        if (differs(code) || sum_differs) && diff.first.len() < MOST {
            let overflow = read(&overflow, overflow_info).unwrap_or(0);
            diff.first.push(operands.difference(at, [word, lane_at], code, sum, overflow));
        }
    }
    Ok(diff)
}

/// Reads the layout of the folder `dir`.
fn read_layout(dir: &Path) -> Result<Layout, VectorError> {
    let path = dir.join(LAYOUT);
    let wrong = |problem: String| VectorError::Manifest { path: path.clone(), problem };
    let bytes = read::bytes(dir, LAYOUT, MAX_FILE);
    let bytes = bytes.map_err(|source| VectorError::Read { path: path.clone(), source })?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("is not a text".into()))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if let Some(schema) = json["schema"].as_u64().filter(|&schema| schema != u64::from(SCHEMA)) {
        return Err(wrong(format!("schema {schema} is not supported; this guardbit reads {SCHEMA}")));
    }
    let layout: Layout = serde_json::from_value(json).map_err(|error| wrong(error.to_string()))?;
    if !is_sealed(&text) {
        return Err(wrong("changed since guardbit wrote it".into()));
    }
    check(&layout).map_err(wrong)?;
    Ok(layout)
}

/// Checks the sizes that places are computed from.
fn check(layout: &Layout) -> Result<(), String> {
    let order: ImageOrder = layout.order.parse()?;
    let is_size = |shape: &[usize]| {
        let product = shape.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        shape.iter().all(|&size| size > 0) && product.is_some_and(|all| all as u64 <= MAX_FILE)
    };
    for image in &layout.images {
        let place = &image.place;
        if !is_size(&place.shape) || *place != Placement::activations(order, place.shape) {
            return Err(format!("the place of image `{}` is not that of its order", image.tensor));
        }
    }
    for layer in &layout.layers {
        let window = &layer.layer.window;
        let WindowInfo { batch, input, output, kernel, stride, dilation, groups, .. } = window;
        let sizes = [&input[..], output, kernel, stride, dilation, &[*batch, *groups]];
        let small =
            sizes.iter().all(|sizes| is_size(sizes)) && window.pad.iter().all(|&pad| pad as u64 <= MAX_FILE);
        let image = |index: usize| layout.images.get(index).map(|image| image.place.values());
        let inputs = batch * input.iter().product::<usize>();
        let outputs = batch * output.iter().product::<usize>();
        let weights = match &layer.weights {
            WeightLayout::Constant { place, .. } => {
                let shape = [output[2], kernel[0], kernel[1], kernel[2]];
                is_size(&shape) && *place == Placement::weights(order, shape)
            }
            WeightLayout::Activations { image: index, starts, strides } => {
                let ends = [output[2], kernel[0], kernel[1], kernel[2]].map(|size| size - 1);
                let last = |start: usize| {
                    let mut steps = ends.iter().zip(strides);
                    steps.try_fold(start, |at, (&end, stride)| at.checked_add(end.checked_mul(*stride)?))
                };
                let fits =
                    |&start: &usize| last(start).zip(image(*index)).is_some_and(|(at, size)| at < size);
                small && starts.len() >= *batch && starts.iter().all(fits)
            }
        };
        let groups_fit = small && output[2] % groups == 0 && kernel[2].saturating_mul(*groups) <= input[2];
        if !groups_fit
            || image(layer.input) != Some(inputs)
            || image(layer.output) != Some(outputs)
            || !weights
        {
            return Err(format!("layer `{}` does not fit its images", layer.folder));
        }
    }
    Ok(())
}

/// Reads a file of a design.
fn foreign(path: &Path, info: &FileInfo, place: &Placement) -> Result<Memory, VectorError> {
    let bytes = guardbit_files::read(path, MAX_FILE);
    let bytes = bytes.map_err(|source| VectorError::Read { path: path.into(), source })?;
    let words = place.elements() / place.lanes;
    let wrong = |problem: String| VectorError::Image { path: path.into(), problem };
    let memory = Memory::parse(&bytes, info.bits.unwrap_or(1), words).map_err(wrong)?;
    match memory.len() {
        0 => Err(wrong(format!("has no words; expected {words}"))),
        _ => Ok(memory),
    }
}

/// Files of a folder.
struct Images<'a> {
    dir: &'a Path,
    layout: &'a Layout,
}

impl Images<'_> {
    fn wrong(&self, problem: String) -> VectorError {
        VectorError::Manifest { path: self.dir.join(LAYOUT), problem }
    }

    fn layer(&self, name: Option<&str>) -> Result<&LayerLayout, VectorError> {
        let layers = &self.layout.layers;
        let names = || layers.iter().map(|layer| layer.folder.as_str()).collect::<Vec<_>>().join(", ");
        match (name, layers.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => Err(VectorError::WhichLayer {
                problem: "the folder has several layers".into(),
                layers: names(),
            }),
            (Some(name), _) => {
                let is = |layer: &&LayerLayout| {
                    layer.folder == name || layer.layer.name == name || layer.layer.index.to_string() == name
                };
                layers.iter().find(is).ok_or_else(|| VectorError::WhichLayer {
                    problem: format!("the folder has no layer `{name}`"),
                    layers: names(),
                })
            }
        }
    }

    fn info(&self, path: &str) -> Result<&FileInfo, VectorError> {
        let info = self.layout.files.iter().find(|info| info.path == path);
        let bits = |info: &&FileInfo| {
            let (bits, lane, lanes) =
                (info.bits.unwrap_or(0), info.lane_bits.unwrap_or(0), info.lanes.unwrap_or(0));
            (1..=64).contains(&lane)
                && (1..=64).contains(&lanes)
                && u64::from(bits) == u64::from(lane) * lanes as u64
        };
        info.filter(bits).ok_or_else(|| self.wrong(format!("does not describe the words of `{path}`")))
    }

    /// Reads a file of the folder.
    fn memory(&self, path: &str) -> Result<Memory, VectorError> {
        let info = self.info(path)?;
        let bytes = read::bytes(self.dir, path, MAX_FILE);
        let full: PathBuf = self.dir.join(path);
        let bytes = bytes.map_err(|source| VectorError::Read { path: full, source })?;
        let data = |problem: String| VectorError::Data { file: path.into(), problem };
        if sha256(&bytes) != info.sha256 {
            return Err(data("changed since guardbit wrote it".into()));
        }
        Memory::parse(&bytes, info.bits.unwrap_or(1), info.words.unwrap_or(0)).map_err(data)
    }
}

/// Operands of a layer.
struct Operands<'a> {
    layer: &'a LayerLayout,
    window: Window,
    input: (&'a Placement, &'a FileInfo, Memory),
    weights: (&'a Placement, &'a FileInfo, Memory),
    order: Vec<usize>,
    zero_points: Vec<i64>,
}

impl<'a> Operands<'a> {
    fn new(files: &'a Images<'_>, layer: &'a LayerLayout) -> Result<Self, VectorError> {
        let image = |place: &'a Placement, path: &'a str| {
            Ok::<_, VectorError>((place, files.info(path)?, files.memory(path)?))
        };
        let input = &files.layout.images[layer.input];
        let weights = match &layer.weights {
            WeightLayout::Constant { file, place } => image(place, file)?,
            WeightLayout::Activations { image: index, .. } => {
                let second = &files.layout.images[*index];
                image(&second.place, &second.file)?
            }
        };
        let column = |path: &str| -> Result<Vec<i64>, VectorError> {
            let (info, memory) = (files.info(path)?, files.memory(path)?);
            let value =
                |word| memory.value(word, 0, info.lane_bits.unwrap_or(1), info.signed.unwrap_or(false));
            Ok((0..memory.len()).filter_map(value).collect())
        };
        let WindowInfo { batch, input: inputs, output, kernel, stride, dilation, pad, groups } =
            layer.layer.window;
        let window = Window { batch, input: inputs, output, kernel, stride, dilation, pad, groups };
        let order: Vec<usize> =
            column(&layer.order)?.into_iter().filter_map(|cell| usize::try_from(cell).ok()).collect();
        let zero_points = column(&layer.zero_points)?;
        if order.iter().any(|&cell| cell >= window.terms()) || zero_points.len() < window.channels() {
            return Err(files.wrong(format!("layer `{}` does not fit its constants", layer.folder)));
        }
        Ok(Self { layer, window, input: image(&input.place, &input.file)?, weights, order, zero_points })
    }

    fn difference(
        &self,
        at: [usize; 4],
        [word, lane]: [usize; 2],
        code: Mistake,
        sum: Mistake,
        overflow: i64,
    ) -> Difference {
        let [n, h, w, c] = at;
        // A layer may see its output as another shape than the layer that has the image.
        let index = ((n * self.window.output[0] + h) * self.window.output[1] + w) * self.window.output[2] + c;
        let out = self.window.output_position(index.min(self.window.dots().saturating_sub(1)));
        let place =
            |axis: usize, out: usize| (out * self.window.stride[axis]) as i64 - self.window.pad[axis] as i64;
        let operands = self
            .order
            .iter()
            .take(OPERANDS)
            .map(|&cell| [self.activation(out, cell), self.weight(out, cell)]);
        Difference {
            output: at,
            word,
            lane,
            window: [place(0, out.h), place(1, out.w)],
            operands: operands.collect(),
            terms: self.order.len(),
            code,
            sum,
            overflow,
        }
    }

    fn activation(&self, out: OutputPosition, cell: usize) -> i64 {
        let (place, info, memory) = &self.input;
        let zero_point = self.layer.layer.input.zero_points.first().copied().unwrap_or(0) as i32;
        let offset = ActivationOffset::new(self.layer.arithmetic.zero_point, zero_point);
        match self.window.tap(out, self.window.kernel_position(cell)) {
            Tap::Padding => offset.padding.into(),
            Tap::Input(index) => {
                value(place, info, memory, place.position(index)) - i64::from(offset.subtract)
            }
        }
    }

    fn weight(&self, out: OutputPosition, cell: usize) -> i64 {
        let (place, info, memory) = &self.weights;
        let cell = self.window.kernel_position(cell);
        let at = match &self.layer.weights {
            WeightLayout::Constant { .. } => [out.c, cell.h, cell.w, cell.c],
            WeightLayout::Activations { starts, strides: [by_output, by_row, by_col, by_input], .. } => {
                let index =
                    starts[out.n] + out.c * by_output + cell.h * by_row + cell.w * by_col + cell.c * by_input;
                place.position(index)
            }
        };
        let zero_point = match self.layer.arithmetic.zero_point {
            ZeroPoint::Subtract => self.zero_points[out.c],
            ZeroPoint::Fold => 0,
        };
        value(place, info, memory, at) - zero_point
    }
}

/// Returns the code at a place; 0 if there is none.
fn value(place: &Placement, info: &FileInfo, memory: &Memory, at: [usize; 4]) -> i64 {
    let element = place.element(at);
    let (bits, signed) = (info.lane_bits.unwrap_or(1), info.signed.unwrap_or(false));
    memory.value(element / place.lanes, element % place.lanes, bits, signed).unwrap_or(0)
}
