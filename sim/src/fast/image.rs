//! Activations of one sample as operands of the multipliers, and the positions of windows in them.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use guardbit_graph::KernelPosition;
use guardbit_hwmodels::MacLayer;

use super::kernels::{LANES, Neighbours, Row};
use super::norms::Norms;
use super::simd::Kernels;
use crate::codes::{Codes, Packed, SLACK};

/// Geometry of a layer over a padded image, `[image, row, column, channel]`.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    batch: usize,
    input: [usize; 3],
    /// Rows and columns, including padding.
    padded: [usize; 2],
    pad: [usize; 2],
    stride: [usize; 2],
    /// Rows and columns of the output.
    output: [usize; 2],
    /// Value that is subtracted from every code.
    subtract: i32,
    /// Operand of a padding cell.
    padding: i32,
    /// Least code of the activations' dtype. Bytes are relative to it if the dtype has at most 8 bits.
    least: i32,
    bits: u32,
    /// Number of products of a dot product.
    terms: usize,
    /// Distance of each product's activation from that of the window's first cell, in the order of addition.
    /// A further entry follows an odd number of them.
    offsets: Vec<usize>,
    /// Greatest distance.
    reach: usize,
    /// Distances as runs of adjacent cells: first distance and length.
    runs: Vec<(usize, usize)>,
}

/// One sample in the padded geometry of a layer. Data derived from the codes is computed on first use.
#[derive(Debug)]
pub(crate) struct Image<'c> {
    codes: &'c Codes,
    /// Codes of at most 8 bits minus the least code; empty for wider codes.
    bytes: Cells<'c>,
    /// Difference from a byte to its operand.
    origin: i32,
    magnitudes: OnceLock<Vec<u8>>,
    /// Squared norms of all windows.
    norms: OnceLock<Vec<u32>>,
    operands: OnceLock<Vec<i16>>,
    /// Operands on 32 bits.
    wide: OnceLock<Vec<i32>>,
    pairs: OnceLock<Vec<u32>>,
    /// Distance between the two cells of a pair: one output pixel.
    pair_distance: usize,
}

/// Cells in the memory of a tensor, or copied to a new layout.
#[derive(Debug)]
enum Cells<'c> {
    InPlace(&'c [u8]),
    LaidOut(Vec<u8>),
}

impl Geometry {
    /// Returns the geometry for activations whose codes lie in `codes`.
    pub fn new(layer: &MacLayer, codes: &RangeInclusive<i32>) -> Self {
        let window = &layer.dots.window;
        let [kernel_rows, kernel_cols, _] = window.kernel;
        let reach = |out: usize, stride: usize, kernel: usize, dilation: usize| {
            out.saturating_sub(1) * stride + kernel.saturating_sub(1) * dilation + 1
        };
        let padded = [
            reach(window.output[0], window.stride[0], kernel_rows, window.dilation[0]),
            reach(window.output[1], window.stride[1], kernel_cols, window.dilation[1]),
        ];
        let channels = window.input[2];
        let offset = |&cell: &usize| {
            let at = window.kernel_position(cell);
            (at.h * window.dilation[0] * padded[1] + at.w * window.dilation[1]) * channels + at.c
        };
        let mut offsets: Vec<usize> = layer.order.iter().map(offset).collect();
        let runs = runs(offsets.iter().copied());
        if offsets.len() % 2 == 1 {
            offsets.push(0);
        }
        let activation = layer.activation_offset();
        let span = i64::from(*codes.end()) - i64::from(*codes.start());
        Self {
            batch: window.batch,
            input: window.input,
            padded,
            pad: window.pad,
            stride: window.stride,
            output: [window.output[0], window.output[1]],
            subtract: activation.subtract,
            padding: activation.padding,
            least: *codes.start(),
            bits: 64 - span.leading_zeros(),
            terms: layer.order.len(),
            reach: offsets.iter().copied().max().unwrap_or(0),
            offsets,
            runs,
        }
    }

    /// Returns the operands of a sample on 32 bits, which must hold them.
    pub fn wide<'i>(&self, image: &'i Image<'_>) -> &'i [i32] {
        let cell = |code: i32| code.wrapping_sub(self.subtract);
        image.wide.get_or_init(|| match image.codes.packed() {
            Packed::Bytes(codes) => {
                self.lay_out(codes.get(), self.padding, |byte| cell(i32::from(byte) + self.least))
            }
            Packed::I16(codes) => self.lay_out(codes, self.padding, |code| cell(code.into())),
            Packed::I32(codes) => self.lay_out(codes, self.padding, cell),
        })
    }

    /// Returns whether the window over an output pixel reads the image, not padding, at its cell `at`.
    pub fn reads_image(&self, pixel: usize, at: KernelPosition, dilation: [usize; 2]) -> bool {
        let [rows, cols] = self.output;
        let (row, col) = (pixel / cols % rows, pixel % cols);
        let inside = |axis: usize, out: usize, k: usize| {
            let cell = (out * self.stride[axis] + k * dilation[axis]).checked_sub(self.pad[axis]);
            cell.is_some_and(|cell| cell < self.input[axis])
        };
        inside(0, row, at.h) && inside(1, col, at.w)
    }

    /// Returns whether some window reads a cell outside the image.
    pub fn reads_padding(&self) -> bool {
        self.pad != [0, 0] || self.padded[0] > self.input[0] || self.padded[1] > self.input[1]
    }

    /// Returns the number of output pixels.
    pub fn pixels(&self) -> usize {
        self.batch * self.output[0] * self.output[1]
    }

    /// Returns the distances of each product's activation from the window's first cell, in the order of
    /// addition.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets[..self.terms]
    }

    /// Returns the greatest distance.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Returns the number of cells from one row to the next.
    pub fn row_distance(&self) -> usize {
        self.padded[1] * self.input[2]
    }

    /// Returns the number of cells from one position to the next.
    pub fn channels(&self) -> usize {
        self.input[2]
    }

    /// Returns the number of positions from one window to the next in its row.
    pub fn col_stride(&self) -> usize {
        self.stride[1]
    }

    /// Returns the distances as runs of adjacent cells: first distance and length.
    pub fn runs(&self) -> &[(usize, usize)] {
        &self.runs
    }

    /// Returns whether operands may be negative, if activations are read as bytes.
    pub fn has_negative_operands(&self) -> bool {
        self.origin() < 0
    }

    /// Returns whether activations are read as bytes: codes have at most 8 bits, and a padding cell is a
    /// valid byte.
    pub fn has_bytes(&self) -> bool {
        self.bits <= 8 && (0..=255).contains(&(self.padding - self.origin()))
    }

    /// Returns the difference from a byte to its operand.
    pub fn origin(&self) -> i32 {
        self.least - self.subtract
    }

    /// Returns how the norms of `layer`'s windows are computed, if activations are read as bytes.
    pub fn norms(&self, layer: &MacLayer) -> Option<Norms> {
        self.has_bytes().then(|| Norms::new(layer, self.padded[1], self.origin())).flatten()
    }

    /// Lays out the codes of a sample, which lie in the range for which the layer was prepared.
    pub fn image<'c>(&self, codes: &'c Codes) -> Image<'c> {
        let mut image = Image {
            codes,
            bytes: Cells::InPlace(&[]),
            origin: self.origin(),
            magnitudes: OnceLock::new(),
            norms: OnceLock::new(),
            operands: OnceLock::new(),
            wide: OnceLock::new(),
            pairs: OnceLock::new(),
            pair_distance: self.stride[1] * self.input[2],
        };
        let operand = |code: i32| code.wrapping_sub(self.subtract) as i16;
        let padding = self.padding as i16;
        match codes.packed() {
            Packed::Bytes(codes) if self.has_bytes() => {
                image.bytes = match self.padded == [self.input[0], self.input[1]] && self.pad == [0, 0] {
                    true => Cells::InPlace(codes.with_slack()),
                    false => Cells::LaidOut(self.lay_out(codes.get(), self.padding_byte(), |byte| byte)),
                };
            }
            Packed::Bytes(codes) => {
                let cell = |byte: u8| operand(i32::from(byte) + self.least);
                image.operands = OnceLock::from(self.lay_out(codes.get(), padding, cell));
            }
            Packed::I16(codes) => {
                image.operands = OnceLock::from(self.lay_out(codes, padding, |code| operand(code.into())));
            }
            Packed::I32(codes) => image.operands = OnceLock::from(self.lay_out(codes, padding, operand)),
        }
        image
    }

    fn padding_byte(&self) -> u8 {
        (self.padding - self.origin()) as u8
    }

    fn lay_out<C: Copy, T: Copy>(&self, codes: &[C], padding: T, cell: impl Fn(C) -> T) -> Vec<T> {
        let [rows, cols, channels] = self.input;
        let [padded_rows, padded_cols] = self.padded;
        let cells = self.batch * padded_rows * padded_cols * channels;
        let mut image = Vec::with_capacity(cells + SLACK);
        let first_col = self.pad[1].min(padded_cols);
        let width = cols.min(padded_cols - first_col) * channels;
        for n in 0..self.batch {
            for row in 0..rows.min(padded_rows.saturating_sub(self.pad[0])) {
                let from = (n * rows + row) * cols * channels;
                let to = ((n * padded_rows + row + self.pad[0]) * padded_cols + first_col) * channels;
                image.resize(to, padding);
                image.extend(codes[from..from + width].iter().map(|&code| cell(code)));
            }
        }
        image.resize(cells + SLACK, padding);
        image
    }

    /// Returns the index of the first cell of the window over an output pixel.
    pub fn corner(&self, pixel: usize) -> usize {
        let [rows, cols] = self.output;
        self.corner_at(pixel / (rows * cols), pixel / cols % rows, pixel % cols)
    }

    fn corner_at(&self, n: usize, row: usize, col: usize) -> usize {
        let row = n * self.padded[0] + row * self.stride[0];
        (row * self.padded[1] + col * self.stride[1]) * self.input[2]
    }

    /// Returns the first cells of the windows over output pixel `first` and the following ones.
    pub fn corners(&self, first: usize) -> Corners<'_> {
        let [rows, cols] = self.output;
        Corners { geometry: self, n: first / (rows * cols), row: first / cols % rows, col: first % cols }
    }

    /// Returns the activations of a window that all lanes share, from cell `corner` on. A 0 follows an odd
    /// number of them.
    pub fn window<'a>(&self, image: &'a Image<'_>, corner: usize, buffer: &'a mut Vec<i16>) -> &'a [i16] {
        if self.in_place().is_none() {
            let operands = image.operands();
            buffer.clear();
            for &(distance, length) in &self.runs {
                buffer.extend_from_slice(&operands[corner + distance..][..length]);
            }
            if buffer.len() % 2 == 1 {
                buffer.push(0);
            }
        }
        self.held_window(image, corner, buffer)
    }

    /// Returns the activations of a window whose `buffer` has already been filled by
    /// [`window`](Self::window).
    pub fn held_window<'a>(&self, image: &'a Image<'_>, corner: usize, buffer: &'a [i16]) -> &'a [i16] {
        match self.in_place() {
            Some((distance, length)) => &image.operands()[corner + distance..][..length],
            None => buffer,
        }
    }

    /// Returns distance and length of windows that need not be gathered.
    fn in_place(&self) -> Option<(usize, usize)> {
        match self.runs[..] {
            [run] if run.1 % 2 == 0 => Some(run),
            _ => None,
        }
    }

    /// Returns the activations of a window whose lanes read adjacent channels, from cell `corner` on.
    pub fn neighbours<'a>(&'a self, image: &'a Image<'_>, corner: usize) -> Neighbours<'a> {
        Neighbours::new(&image.operands()[corner..], &self.offsets, self.reach)
    }

    /// Returns the activations of a window in which lane `l` reads input channel `channels[l]`. A row of
    /// zeros follows an odd number of them.
    pub fn lane_window<'a>(
        &self,
        image: &Image<'_>,
        corner: usize,
        channels: &[usize],
        rows: &'a mut Vec<Row>,
    ) -> &'a [Row] {
        rows.clear();
        rows.resize(self.offsets.len(), [0; LANES]);
        let operands = image.operands();
        for (row, offset) in rows.iter_mut().zip(self.offsets()) {
            let cell = &operands[corner + offset..];
            row.iter_mut().zip(channels).for_each(|(lane, &channel)| *lane = cell[channel]);
        }
        rows
    }
}

/// Iterator over the first cells of the windows over consecutive output pixels.
pub(super) struct Corners<'g> {
    geometry: &'g Geometry,
    n: usize,
    row: usize,
    col: usize,
}

impl Corners<'_> {
    /// Fills `out` with the next first cells, row by row.
    pub fn fill(&mut self, mut out: &mut [usize]) {
        let Self { geometry, .. } = *self;
        let [rows, cols] = geometry.output;
        let step = geometry.stride[1] * geometry.input[2];
        while !out.is_empty() {
            let count = out.len().min(cols - self.col);
            let (here, rest) = out.split_at_mut(count);
            let first = geometry.corner_at(self.n, self.row, self.col);
            here.iter_mut().zip(0..).for_each(|(corner, i)| *corner = first + i * step);
            out = rest;
            self.col += count;
            if self.col == cols {
                (self.row, self.col) = (self.row + 1, 0);
            }
            if self.row == rows {
                (self.n, self.row) = (self.n + 1, 0);
            }
        }
    }
}

impl Image<'_> {
    /// Returns the codes that were laid out.
    pub fn codes(&self) -> &Codes {
        self.codes
    }

    /// Returns codes minus the least code of their dtype; empty if they have more than 8 bits.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Cells::InPlace(bytes) => bytes,
            Cells::LaidOut(bytes) => bytes,
        }
    }

    /// Returns the magnitudes of the operands of a sample that has [`Self::bytes`]; `None` if they equal the
    /// bytes.
    pub fn magnitudes(&self, kernels: Kernels) -> Option<&[u8]> {
        let make = || {
            let mut magnitudes = Vec::with_capacity(self.bytes().len());
            kernels.magnitudes(self.bytes(), self.origin, &mut magnitudes);
            magnitudes
        };
        (self.origin != 0).then(|| self.magnitudes.get_or_init(make).as_slice())
    }

    /// Returns the difference from a byte to its operand.
    pub fn origin(&self) -> i32 {
        self.origin
    }

    /// Returns the squared norms of all windows of a layer, for a sample that has [`Self::bytes`].
    pub(super) fn norms(&self, norms: &Norms, geometry: &Geometry, kernels: Kernels) -> &[u32] {
        self.norms.get_or_init(|| {
            let mut corners = vec![0; geometry.pixels()];
            geometry.corners(0).fill(&mut corners);
            norms.of_windows(self, kernels, &corners)
        })
    }

    /// Returns the operands of the multipliers.
    pub fn operands(&self) -> &[i16] {
        self.operands.get_or_init(|| {
            let mut operands = Vec::with_capacity(self.bytes().len());
            Kernels::choose(None).operands(self.bytes(), self.origin, &mut operands);
            operands
        })
    }

    /// Returns the number of cells from one output pixel to the next.
    pub fn pair_distance(&self) -> usize {
        self.pair_distance
    }

    /// Returns, for a sample that has [`Self::bytes`], every operand in the low half of a word, with the
    /// operand of the corresponding window cell one output pixel further in the high half.
    pub fn pairs(&self, kernels: Kernels) -> &[u32] {
        self.pairs.get_or_init(|| {
            let bytes = self.bytes();
            let mut pairs = Vec::with_capacity(bytes.len());
            kernels.pairs(bytes, self.pair_distance, self.origin, &mut pairs);
            pairs
        })
    }
}

/// Groups offsets into runs of adjacent cells.
pub(super) fn runs(offsets: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for offset in offsets {
        match found.last_mut() {
            Some((distance, length)) if *distance + *length == offset => *length += 1,
            _ => found.push((offset, 1)),
        }
    }
    found
}
