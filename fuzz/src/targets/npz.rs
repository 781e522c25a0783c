//! Target: samples in a `.npz` file.

use crate::{samples, scratch};

pub(crate) fn run(bytes: &[u8]) {
    samples::read(samples::file(scratch::file("x.npz", bytes)), None);
}
