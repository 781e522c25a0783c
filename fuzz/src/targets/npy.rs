//! Target: samples in a `.npy` file.

use crate::{samples, scratch};

pub(crate) fn run(bytes: &[u8]) {
    samples::read(samples::file(scratch::file("x.npy", bytes)), None);
}
