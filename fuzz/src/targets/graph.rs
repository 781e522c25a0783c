//! Target: a network in graph YAML.

use guardbit_frontends::read_yaml;

use crate::{message, scratch};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Err(error) = read_yaml(text, &scratch::folder(), "fuzz") {
        message::check(error);
    }
}
