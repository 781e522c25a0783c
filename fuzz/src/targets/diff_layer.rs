//! Target: an output image of a design, or the layout of a folder of images (any text, or a valid layout with changed values).

use std::cell::OnceCell;
use std::path::PathBuf;

use guardbit_files::{UNSEALED, seal_text};
use guardbit_rtl_vectors::whole::{ImageOrder, ImageSource, WholeRequest, diff_layer, export_whole};
use guardbit_study::{InputSource, RunRequest, Settings, Silent, whole_input};
use serde_json::Value;

use super::manifest::{changed, write};
use crate::samples::NETWORK;
use crate::{Choices, message, scratch};

const LAYOUT: &str = "layout.json";

pub(crate) fn run(bytes: &[u8]) {
    thread_local! {
        static IMAGES: OnceCell<(PathBuf, String)> = const { OnceCell::new() };
    }
    IMAGES.with(|images| {
        let (folder, valid) = images.get_or_init(some_images);
        let (layout, output) = match bytes.split_first() {
            Some((b'{', _)) => (bytes.to_vec(), None),
            Some((0..128, rest)) => (resealed(valid, rest).into_bytes(), None),
            Some((_, rest)) => (valid.clone().into_bytes(), Some(rest)),
            None => (valid.clone().into_bytes(), None),
        };
        std::fs::write(folder.join(LAYOUT), layout).expect("room for a layout");
        // Without an output image, the comparison ends when it reads the layout as one.
        let output = match output {
            Some(bytes) => scratch::file("ofm.mem", bytes),
            None => folder.join(LAYOUT),
        };
        for sums in [None, Some(output.as_path())] {
            if let Err(error) = diff_layer(folder, &output, None, sums) {
                message::check(error);
            }
        }
    });
}

/// Writes the images of a layer and returns their folder and its layout.
fn some_images() -> (PathBuf, String) {
    let settings = Settings::new(InputSource::Random { count: 1, seed: 0 });
    let network = scratch::file("network.yaml", NETWORK.as_bytes());
    let request = RunRequest::new(network, "fpga-int14-os", settings);
    let input = whole_input(&request, "scores", 0, &Silent).expect("a layer");
    let [model, model_sha256] = input.model;
    let [accelerator, accelerator_sha256] = input.accelerator;
    let source =
        ImageSource { model, model_sha256, accelerator, accelerator_sha256, input: input.origin, sample: 0 };
    let order = "nhwc".parse::<ImageOrder>().expect("an order");
    let request = WholeRequest { source, settings: Default::default(), order };
    let whole = export_whole(&input.program, input.node, &input.tensors, &request).expect("images");
    let folder = scratch::folder().join("images");
    write(&folder, &whole.files);
    let layout = std::fs::read_to_string(folder.join(LAYOUT)).expect("a layout");
    (folder, layout)
}

/// Returns a layout with some values changed, and a valid seal.
fn resealed(layout: &str, bytes: &[u8]) -> String {
    let layout: Value = serde_json::from_str(layout).expect("JSON");
    let mut layout = changed(layout, &mut Choices::new(bytes));
    if let Some(seal) = layout.get_mut("sha256") {
        *seal = UNSEALED.into();
    }
    seal_text(&layout.to_string())
}
