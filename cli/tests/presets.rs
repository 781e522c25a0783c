//! Every preset runs the published networks.

use crate::common::{shared_model, succeed};

const MODELS: [&str; 4] = [
    "anomaly_autoencoder_int8.tflite",
    "kws_dscnn_int8.tflite",
    "resnet8_cifar10_int8.tflite",
    "vww_mobilenet_v1_025_int8.tflite",
];

fn presets() -> Vec<String> {
    let list: serde_json::Value = serde_json::from_str(&succeed(&["hw", "list", "--json"])).unwrap();
    list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn every_preset_runs_every_model() {
    for model in MODELS {
        let Some(model) = shared_model(model) else { return };
        let dir = tempfile::tempdir().unwrap();
        for preset in presets() {
            let out = dir.path().join(&preset);
            let out = out.to_string_lossy();
            succeed(&[
                "run", &model, "--hw", &preset, "--random", "1", "--seed", "1", "--stats", "none", "-o", &out,
            ]);
        }
    }
}

#[test]
fn show_says_order_widths_and_checks() {
    for preset in presets() {
        let text = succeed(&["hw", "show", &preset]);
        let (start, codes) = match text.contains("\nfloat_accumulation:") {
            true => ("# Every layer of floating-point codes, stage by stage:\n#   ", " of integer codes"),
            false => ("# Every layer, stage by stage:\n#   order ", ""),
        };
        let order = format!("# Every layer{codes}, stage by stage:\n#   order ");
        assert!(text.starts_with(start) && text.contains(&order), "{text}");
        assert!(text.contains("schema: 1"), "{text}");
    }
}
