//! The activations of one sample as the multipliers see them, and where each window lies in them.

use guardbit_hwmodels::MacLayer;

use super::kernels::{LANES, Neighbours, Row};

/// Geometry of a layer over a padded image of 16-bit operands, `[image, row, column, channel]`.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    batch: usize,
    input: [usize; 3],
    /// Rows and columns, padding included.
    padded: [usize; 2],
    pad: [usize; 2],
    stride: [usize; 2],
    /// Rows and columns of the output.
    output: [usize; 2],
    /// Taken off every code.
    subtract: i32,
    /// The operand of a padding cell.
    padding: i16,
    /// Products of a dot product.
    terms: usize,
    /// Distance of each product's activation from that of the window's first cell, in the order of addition; some
    /// cell follows an odd number of them.
    offsets: Vec<usize>,
    /// The greatest distance.
    reach: usize,
    /// The same as stretches that lie one after the other: distance and length.
    stretches: Vec<(usize, usize)>,
}

/// One sample.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    operands: Vec<i16>,
}

impl Geometry {
    pub fn new(layer: &MacLayer) -> Self {
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
        let stretches = stretches(&offsets);
        if offsets.len() % 2 == 1 {
            offsets.push(0);
        }
        let activation = layer.activation_offset();
        Self {
            batch: window.batch,
            input: window.input,
            padded,
            pad: window.pad,
            stride: window.stride,
            output: [window.output[0], window.output[1]],
            subtract: activation.subtract,
            padding: activation.padding as i16,
            stretches,
            terms: layer.order.len(),
            reach: offsets.iter().copied().max().unwrap_or(0),
            offsets,
        }
    }

    /// Whether some window reads a cell outside the image.
    pub fn reads_padding(&self) -> bool {
        self.pad != [0, 0] || self.padded[0] > self.input[0] || self.padded[1] > self.input[1]
    }

    /// Number of output pixels.
    pub fn pixels(&self) -> usize {
        self.batch * self.output[0] * self.output[1]
    }

    /// Lays out the codes of a sample. They lie in the range that the layer was prepared for.
    pub fn image(&self, codes: &[i32]) -> Image {
        let [rows, cols, channels] = self.input;
        let [padded_rows, padded_cols] = self.padded;
        // Lanes without a channel read on beyond the end.
        let cells = self.batch * padded_rows * padded_cols * channels + LANES;
        let mut operands = Vec::with_capacity(cells);
        let first_col = self.pad[1].min(padded_cols);
        let width = cols.min(padded_cols - first_col) * channels;
        for n in 0..self.batch {
            for row in 0..rows.min(padded_rows.saturating_sub(self.pad[0])) {
                let from = (n * rows + row) * cols * channels;
                let to = ((n * padded_rows + row + self.pad[0]) * padded_cols + first_col) * channels;
                operands.resize(to, self.padding);
                operands.extend(codes[from..from + width].iter().map(|code| (code - self.subtract) as i16));
            }
        }
        operands.resize(cells, self.padding);
        Image { operands }
    }

    /// Index of the first cell of the window over an output pixel.
    pub fn corner(&self, pixel: usize) -> usize {
        let [rows, cols] = self.output;
        self.corner_at(pixel / (rows * cols), pixel / cols % rows, pixel % cols)
    }

    fn corner_at(&self, n: usize, row: usize, col: usize) -> usize {
        let row = n * self.padded[0] + row * self.stride[0];
        (row * self.padded[1] + col * self.stride[1]) * self.input[2]
    }

    /// The same for output pixel `first` and those that follow, without end and without divisions.
    pub fn corners(&self, first: usize) -> impl Iterator<Item = usize> {
        let [rows, cols] = self.output;
        let (mut n, mut row, mut col) = (first / (rows * cols), first / cols % rows, first % cols);
        std::iter::from_fn(move || {
            let corner = self.corner_at(n, row, col);
            col += 1;
            if col == cols {
                (row, col) = (row + 1, 0);
            }
            if row == rows {
                (n, row) = (n + 1, 0);
            }
            Some(corner)
        })
    }

    /// The activations of a window whose lanes all read the same ones, from cell `corner` on. A 0 follows where their
    /// number is odd.
    pub fn patch<'a>(&self, image: &'a Image, corner: usize, buffer: &'a mut Vec<i16>) -> &'a [i16] {
        if let [(distance, length)] = self.stretches[..]
            && length % 2 == 0
        {
            return &image.operands[corner + distance..][..length];
        }
        buffer.clear();
        for &(distance, length) in &self.stretches {
            buffer.extend_from_slice(&image.operands[corner + distance..][..length]);
        }
        if buffer.len() % 2 == 1 {
            buffer.push(0);
        }
        buffer
    }

    /// The activations of a window whose lanes read neighbouring channels, from cell `corner` on.
    pub fn neighbours<'a>(&'a self, image: &'a Image, corner: usize) -> Neighbours<'a> {
        Neighbours::new(&image.operands[corner..], &self.offsets, self.reach)
    }

    /// The activations of a window where lane `l` reads input channel `channels[l]`. A row of zeros follows where
    /// their number is odd.
    pub fn lane_patch<'a>(
        &self,
        image: &Image,
        corner: usize,
        channels: &[usize],
        rows: &'a mut Vec<Row>,
    ) -> &'a [Row] {
        rows.clear();
        rows.resize(self.offsets.len(), [0; LANES]);
        for (row, offset) in rows.iter_mut().zip(&self.offsets[..self.terms]) {
            let cell = &image.operands[corner + offset..];
            row.iter_mut().zip(channels).for_each(|(lane, &channel)| *lane = cell[channel]);
        }
        rows
    }
}

fn stretches(offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for &offset in offsets {
        match found.last_mut() {
            Some((distance, length)) if *distance + *length == offset => *length += 1,
            _ => found.push((offset, 1)),
        }
    }
    found
}
