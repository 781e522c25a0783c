//! Bit-exact integers of any width: overflow modes, rounding, requantization schemes.
//!
//! ```
//! use guardbit::num::{Format, Overflow};
//!
//! let int14 = Format::signed(14)?;
//! assert_eq!(Overflow::Saturate.fit(9000, int14).value, 8191);
//! assert_eq!(Overflow::Wrap.fit(9000, int14).value, 9000 - (1 << 14));
//! # Ok::<(), guardbit::num::WidthError>(())
//! ```

pub use guardbit_num::*;
