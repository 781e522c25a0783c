//! Target: labels in a `.npy` file.

use guardbit_study::InputSource;

use crate::{samples, scratch};

pub(crate) fn run(bytes: &[u8]) {
    let labels = scratch::file("y.npy", bytes);
    samples::read(InputSource::Random { count: 3, seed: 0 }, Some(labels));
}
