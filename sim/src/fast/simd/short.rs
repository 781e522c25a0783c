//! Registers of at most 16 bits, on lanes of 16 bits.

use guardbit_num::{Beyond, Overflow};

use super::super::kernels::Rails;

/// Behaviour of a register of at most 16 bits, on lanes of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortMode {
    /// Saturates; 15 bits hold its sums.
    Saturate,
    /// Saturates at the limits of 16 bits.
    Saturate16,
    /// Wraps; 15 bits hold its sums and one further value.
    Wrap,
    /// Wraps like 15 bits.
    Wrap15,
    /// Wraps like 16 bits.
    Wrap16,
}

impl ShortMode {
    /// Returns the mode of a register whose products fit 16 bits.
    pub fn of(overflow: Overflow, rails: &Rails) -> Option<Self> {
        let saturates = match overflow.beyond() {
            Beyond::Rail => true,
            Beyond::Wrapped => false,
            Beyond::Exact | Beyond::Latched | Beyond::Chosen { .. } => return None,
        };
        let by = |saturate, wrap| Some(if saturates { saturate } else { wrap });
        match (rails.low, rails.high.abs_diff(rails.low)) {
            (_, 0..0x7fff) => by(Self::Saturate, Self::Wrap),
            (_, 0x7fff) => by(Self::Saturate, Self::Wrap15),
            (-0x8000, 0xffff) => by(Self::Saturate16, Self::Wrap16),
            _ => None,
        }
    }
}

/// Saturating; 15 bits hold the sums.
pub(super) const SATURATE_IN_15: u8 = 0;
/// Saturating at the limits of the lanes.
pub(super) const SATURATE_16: u8 = 1;
/// Wrapping; 15 bits hold the sums and one further value.
pub(super) const WRAP: u8 = 2;
/// Wrapping like 15 bits.
pub(super) const WRAP_15: u8 = 3;
/// Wrapping like the lanes.
pub(super) const WRAP_16: u8 = 4;

/// Returns the value that is subtracted from stored sums. Saturating sums end where the lanes do, so that the
/// lanes clamp them from above. For wrapping sums, the least one is stored as 0, so that the sign shows which
/// are less.
pub(super) fn base<const MODE: u8>(rails: Rails) -> i32 {
    match MODE {
        SATURATE_IN_15 => rails.high - i32::from(i16::MAX),
        SATURATE_16 | WRAP_16 => 0,
        _ => rails.low,
    }
}

/// Runs a kernel with the mode as a constant.
#[cfg(target_arch = "x86_64")]
macro_rules! with_mode {
    ($mode:ident, |$const_mode:ident| $work:expr) => {{
        macro_rules! under {
            ($of_mode:expr) => {{
                const $const_mode: u8 = $of_mode;
                $work
            }};
        }
        match $mode {
            short::ShortMode::Saturate => under!(short::SATURATE_IN_15),
            short::ShortMode::Saturate16 => under!(short::SATURATE_16),
            short::ShortMode::Wrap => under!(short::WRAP),
            short::ShortMode::Wrap15 => under!(short::WRAP_15),
            short::ShortMode::Wrap16 => under!(short::WRAP_16),
        }
    }};
}
