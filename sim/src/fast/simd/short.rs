//! Registers of at most 16 bits, on lanes of 16 bits.

use guardbit_num::{Beyond, Overflow};

use super::super::kernels::Rails;

/// What a register of at most 16 bits does, on lanes of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortMode {
    /// Saturates where 15 bits hold its sums.
    Saturate,
    /// Saturates at the ends of 16 bits.
    Saturate16,
    /// Wraps where 15 bits hold its sums and one more.
    Wrap,
    /// Wraps as 15 bits do.
    Wrap15,
    /// Wraps as 16 bits do.
    Wrap16,
}

impl ShortMode {
    /// That of a register whose products fit 16 bits.
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

/// Saturating where 15 bits hold its sums.
pub(super) const SATURATE_IN_15: u8 = 0;
/// Saturating at the ends of the lanes.
pub(super) const SATURATE_16: u8 = 1;
/// Wrapping where 15 bits hold its sums and one more.
pub(super) const WRAP: u8 = 2;
/// Wrapping as 15 bits do.
pub(super) const WRAP_15: u8 = 3;
/// Wrapping as the lanes do.
pub(super) const WRAP_16: u8 = 4;

/// What sums are held less. Those that saturate end where the lanes do, so that the lanes clamp them from above; of
/// those that wrap the least one is held as 0, so that the sign says which are less.
pub(super) fn base<const MODE: u8>(rails: Rails) -> i32 {
    match MODE {
        SATURATE_IN_15 => rails.high - i32::from(i16::MAX),
        SATURATE_16 | WRAP_16 => 0,
        _ => rails.low,
    }
}

/// Runs a kernel under its mode, given as a constant.
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
