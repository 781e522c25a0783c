//! Files of users: what is read is bounded, what is written is whole or not there.

mod read;

pub use read::{open, read, read_text, regular_size};
