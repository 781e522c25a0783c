//! Places of codes in memory images: the order of the axes, their strides, and the codes of a word.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::Packing;
use crate::words::Words;

/// Greatest number of codes in a word.
const MAX_BLOCK: usize = 64;

/// Order of the codes in the images of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageOrder {
    /// Channels fastest, one code per word.
    Nhwc,
    /// Columns fastest, one code per word.
    Nchw,
    /// A word holds this many channels of one pixel; columns, rows, then blocks of channels follow.
    Blocked(usize),
}

impl FromStr for ImageOrder {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let block = |text: &str| text.parse().ok().filter(|n| (1..=MAX_BLOCK).contains(n));
        match name {
            "nhwc" => Ok(Self::Nhwc),
            "nchw" => Ok(Self::Nchw),
            other => other.strip_prefix("blocked:").and_then(block).map(Self::Blocked).ok_or_else(|| {
                format!(
                    "unknown order `{name}`; expected nhwc, nchw, or blocked:N with N from 1 to {MAX_BLOCK}"
                )
            }),
        }
    }
}

impl fmt::Display for ImageOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nhwc => f.write_str("nhwc"),
            Self::Nchw => f.write_str("nchw"),
            Self::Blocked(block) => write!(f, "blocked:{block}"),
        }
    }
}

/// Places of the values of a tensor in a file of words.
///
/// The value at `[a, b, c, d]` is element `e = sum(index * stride)`, which is value `e mod lanes` of word `e / lanes`.
/// The blocked axis contributes `index / block * stride + index mod block` instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Names of the axes.
    pub axes: [String; 4],
    /// Size of each axis.
    pub shape: [usize; 4],
    /// Distance in elements between neighbours along each axis; between blocks along the blocked axis.
    pub strides: [usize; 4],
    /// Index of the blocked axis.
    #[schemars(range(max = 3))]
    pub blocked: usize,
    /// Neighbours of that axis in consecutive elements.
    #[schemars(range(min = 1))]
    pub block: usize,
    /// Elements of a word, element 0 in the least significant bits.
    #[schemars(range(min = 1))]
    pub lanes: usize,
}

impl Placement {
    /// Returns the place of activations of shape `[images, rows, columns, channels]`.
    pub(super) fn activations(order: ImageOrder, shape: [usize; 4]) -> Self {
        Self::new(order, ["image", "row", "column", "channel"], shape, 3)
    }

    /// Returns the place of weights of shape `[outputs, rows, columns, inputs]`. Blocks are of output channels, which the
    /// columns of an array take side by side.
    pub(super) fn weights(order: ImageOrder, shape: [usize; 4]) -> Self {
        Self::new(order, ["output", "row", "column", "input"], shape, 0)
    }

    fn new(order: ImageOrder, axes: [&str; 4], shape: [usize; 4], blocked: usize) -> Self {
        let block = if let ImageOrder::Blocked(block) = order { block } else { 1 };
        let sizes: [usize; 4] =
            std::array::from_fn(
                |axis| if axis == blocked { shape[axis].div_ceil(block) } else { shape[axis] },
            );
        // The axes, slowest first.
        let slowest = match (order, blocked) {
            (ImageOrder::Nhwc, _) => [0, 1, 2, 3],
            (ImageOrder::Blocked(_), 0) => [0, 1, 2, 3],
            _ => [0, 3, 1, 2],
        };
        let (mut strides, mut next) = ([0; 4], block);
        for axis in slowest.into_iter().rev() {
            strides[axis] = next;
            next *= sizes[axis];
        }
        Self { axes: axes.map(String::from), shape, strides, blocked, block, lanes: block }
    }

    /// Returns the number of elements, those without a value included.
    pub fn elements(&self) -> usize {
        let size = |axis: usize| match axis == self.blocked {
            true => self.shape[axis].div_ceil(self.block),
            false => self.shape[axis],
        };
        (0..4).map(size).product::<usize>() * self.block
    }

    /// Returns the element of the value at `at`.
    pub fn element(&self, at: [usize; 4]) -> usize {
        let of = |axis: usize| match axis == self.blocked {
            true => at[axis] / self.block * self.strides[axis] + at[axis] % self.block,
            false => at[axis] * self.strides[axis],
        };
        (0..4).map(of).sum()
    }

    /// Returns the word of the value at `at`.
    pub fn word(&self, at: [usize; 4]) -> usize {
        self.element(at) / self.lanes
    }

    /// Returns the place of the value with this index in the order of the axes, the last one fastest.
    pub fn position(&self, index: usize) -> [usize; 4] {
        let [_, b, c, d] = self.shape;
        [index / (b * c * d), index / (c * d) % b, index / d % c, index % d]
    }

    /// Returns the number of values.
    pub fn values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the words of values in the order of the axes. Elements without a value are 0.
    pub(super) fn words(&self, bits: u32, values: impl IntoIterator<Item = i64>) -> Words {
        let mut elements = vec![0; self.elements()];
        for (index, value) in values.into_iter().enumerate() {
            elements[self.element(self.position(index))] = value;
        }
        Words::lanes(self.lanes, bits, Packing::Dense, elements)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every value has an element of its own within the image, and a word of a block holds neighbours.
        #[test]
        fn every_value_has_a_place(shape in [1..4usize, 1..5usize, 1..5usize, 1..20usize], block in 1..9usize) {
            for order in [ImageOrder::Nhwc, ImageOrder::Nchw, ImageOrder::Blocked(block)] {
                prop_assert_eq!(order.to_string().parse::<ImageOrder>(), Ok(order));
                for place in [Placement::activations(order, shape), Placement::weights(order, shape)] {
                    let mut seen = vec![false; place.elements()];
                    for index in 0..place.values() {
                        let at = place.position(index);
                        prop_assert!(!std::mem::replace(&mut seen[place.element(at)], true));
                        let first = at[place.blocked] % place.block == 0;
                        prop_assert_eq!(place.element(at) % place.lanes == 0, first);
                    }
                }
            }
        }
    }

    #[test]
    fn orders_are_those_of_their_names() {
        let shape = [2, 3, 5, 7];
        let strides = |order| Placement::activations(order, shape).strides;
        assert_eq!(strides(ImageOrder::Nhwc), [105, 35, 7, 1]);
        assert_eq!(strides(ImageOrder::Nchw), [105, 5, 1, 15]);
        assert_eq!(strides(ImageOrder::Blocked(4)), [120, 20, 4, 60]);
        assert!("blocked:0".parse::<ImageOrder>().is_err());
    }
}
