//! Target: a study in YAML.

use guardbit_study::load_study;

use crate::{message, scratch};

pub(crate) fn run(bytes: &[u8]) {
    let path = scratch::file("study.yaml", bytes);
    if let Err(error) = load_study(&path) {
        message::check(error);
    }
}
