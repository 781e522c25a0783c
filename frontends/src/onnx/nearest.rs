//! Selection of the nearest pixel in ONNX's Resize (`nearest_mode`).

use guardbit_graph::ops::Places;

/// The rounding of the position of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NearestMode {
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil,
}

impl NearestMode {
    /// Every mode, ONNX's default first.
    pub const ALL: [Self; 4] = [Self::RoundPreferFloor, Self::RoundPreferCeil, Self::Floor, Self::Ceil];

    /// Returns its name in a file.
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

    /// Returns the input pixel for pixel `x` of the output, when `from` pixels become `to`.
    pub fn source(self, places: Places, x: usize, scale: f32, [from, to]: [usize; 2]) -> usize {
        // Without a change of size, pixels keep their positions.
        if from == to {
            return x;
        }
        let place = self.round(places.source(x, scale, from, to));
        (place.max(0.0) as usize).min(from - 1)
    }
}
