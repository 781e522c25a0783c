//! The nearest pixel, as ONNX's Resize rounds places to it (`nearest_mode`).

use guardbit_graph::ops::Places;

/// How the place of a pixel is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NearestMode {
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil,
}

impl NearestMode {
    /// Every mode, that of ONNX where none is said first.
    pub const ALL: [Self; 4] = [Self::RoundPreferFloor, Self::RoundPreferCeil, Self::Floor, Self::Ceil];

    /// Its name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundPreferFloor => "round_prefer_floor",
            Self::RoundPreferCeil => "round_prefer_ceil",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
        }
    }

    fn round(self, place: f32) -> f32 {
        match self {
            Self::RoundPreferFloor if place.fract().abs() == 0.5 => place.floor(),
            Self::RoundPreferFloor | Self::RoundPreferCeil => place.round(),
            Self::Floor => place.floor(),
            Self::Ceil => place.ceil(),
        }
    }

    /// The pixel, of `from` that become `to`, that pixel `x` of the result shows.
    pub fn source(self, places: Places, x: usize, scale: f32, [from, to]: [usize; 2]) -> usize {
        // Where nothing changes nothing moves.
        if from == to {
            return x;
        }
        let place = self.round(places.source(x, scale, from, to));
        (place.max(0.0) as usize).min(from - 1)
    }
}
