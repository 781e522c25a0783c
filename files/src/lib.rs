//! Files of users: what is read is bounded, what is written is whole or not there.

mod nesting;
mod read;

pub use nesting::{NestingError, check_nesting};
pub use read::{open, read, read_text, regular_size};
