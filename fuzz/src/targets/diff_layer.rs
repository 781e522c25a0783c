//! Target: the images of a whole layer and the output of a design, from any text, or from a valid layout with changed values.

use std::cell::OnceCell;
use std::path::PathBuf;

use guardbit_files::{UNSEALED, seal_text};
use guardbit_rtl_vectors::whole::{
    ImageOrder, ImageSource, LAYOUT, LayerDiff, WholeRequest, diff_layer, export_whole,
};
use guardbit_study::{InputSource, RunRequest, Settings, Silent, whole_input};
use serde_json::Value;

use crate::samples::NETWORK;
use crate::targets::manifest::{changed, write};
use crate::{Choices, message, scratch};

/// First byte of an input whose further bytes choose changes of the layout.
const CHOICES: u8 = b'L';

/// Folder of a layer, its layout, and the file of its codes.
struct Layer {
    folder: PathBuf,
    layout: Value,
    codes: PathBuf,
}

pub(crate) fn run(bytes: &[u8]) {
    thread_local! {
        static LAYER: OnceCell<Layer> = const { OnceCell::new() };
    }
    LAYER.with(|layer| {
        let Layer { folder, layout, codes } = layer.get_or_init(a_layer);
        let put = |text: &[u8]| std::fs::write(folder.join(LAYOUT), text).expect("room for a layout");
        let check = |found: Result<LayerDiff, _>| match found {
            Ok(diff) => assert!(diff.json().is_object() && diff.codes <= diff.outputs),
            Err(error) => message::check(error),
        };
        match bytes.split_first() {
            Some((b'{', _)) => put(bytes),
            Some((&CHOICES, rest)) => {
                let mut layout = changed(layout.clone(), &mut Choices::new(rest));
                if let Some(seal) = layout.get_mut("sha256") {
                    *seal = UNSEALED.into();
                }
                put(seal_text(&layout.to_string()).as_bytes());
            }
            _ => {
                // The output of a design, whose words may be those of its sums.
                put(seal_text(&layout.to_string()).as_bytes());
                let dut = scratch::file("dut.mem", bytes);
                check(diff_layer(folder, &dut, None, None));
                return check(diff_layer(folder, codes, Some("0"), Some(&dut)));
            }
        }
        check(diff_layer(folder, codes, None, None));
    });
}

/// Writes the images of a layer.
fn a_layer() -> Layer {
    let settings = Settings::new(InputSource::Random { count: 1, seed: 0 });
    let network = scratch::file("whole.yaml", NETWORK.as_bytes());
    let request = RunRequest::new(network, "fpga-int14-os", settings);
    let input = whole_input(&request, "scores", 0, &Silent).expect("a layer");
    let source = ImageSource {
        model: "fuzz".into(),
        model_sha256: "1".repeat(64),
        accelerator: "fuzz".into(),
        accelerator_sha256: "1".repeat(64),
        input: "fuzz".into(),
        sample: 0,
    };
    let request = WholeRequest { source, settings: Default::default(), order: ImageOrder::Blocked(2) };
    let whole = export_whole(&input.program, input.node, &input.tensors, &request).expect("images");
    let folder = scratch::folder().join("whole");
    write(&folder, &whole.files);
    let mut layout = serde_json::to_value(&whole.layout).expect("JSON");
    layout["sha256"] = UNSEALED.into();
    let output = &whole.layout.images[whole.layout.layers[0].output];
    Layer { codes: folder.join(&output.file), folder, layout }
}
