//! Arguments of `guardbit quantize`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use guardbit_quantize::LAYER_METHODS;
use guardbit_quantize::method::METHODS;
use guardbit_sim::Mode;
use guardbit_study::{MixedBudget, QuantizeChoices, activation_codes, weight_codes};

use super::Part;

#[derive(Debug, clap::Args)]
pub struct QuantizeArgs {
    /// The float network, an .onnx file
    pub model: PathBuf,
    #[command(flatten)]
    pub part: Part,
    /// Calibration samples: .npy (or .npz by input name) of float32 real values, or a folder of PNG files with a
    /// pictures.yaml, e.g. {layout: nchw, scale: 1/255}; no labels are needed
    #[arg(long, value_name = "X.npy")]
    pub calibration: PathBuf,
    /// So many samples of --calibration: the first ones, or with --seed different ones that it draws [default: all]
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Seed of the draw of --samples
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Other samples that the networks are run on for accuracy and overflows [default: those of --calibration]
    #[arg(long, value_name = "X.npy")]
    pub test: Option<PathBuf>,
    /// One class per sample of --test, or of --calibration without it
    #[arg(long, value_name = "Y.npy")]
    pub labels: Option<PathBuf>,
    /// The output that is scored, of a network that has several
    #[arg(long, value_name = "NAME")]
    pub output_name: Option<String>,
    /// The accelerator that the network is for: a preset's name or a YAML file
    #[arg(long)]
    pub hw: Option<String>,
    /// Override a key of the accelerator, as accumulation.acc.bits=14
    #[arg(long, value_name = "KEY=VALUE", requires = "hw")]
    pub set: Vec<String>,
    /// How ranges are chosen
    #[arg(long, value_name = "NAME", default_value = QuantizeChoices::METHOD, value_parser = methods())]
    pub method: String,
    /// How ranges of weights are chosen
    #[arg(long, value_name = "NAME", default_value = QuantizeChoices::METHOD, value_parser = tensor_methods())]
    pub weight_method: String,
    #[arg(long, value_name = "CODES", default_value = QuantizeChoices::WEIGHTS, help = format!("Codes of weights: {}", weight_codes()))]
    pub weights: String,
    #[arg(long, value_name = "CODES", default_value = QuantizeChoices::ACTIVATIONS, help = format!("Codes of activations: {}", activation_codes()))]
    pub activations: String,
    /// One scale for all weights of a layer
    #[arg(long, conflicts_with = "per_channel")]
    pub per_tensor: bool,
    /// One weight scale per output channel: the default
    #[arg(long)]
    pub per_channel: bool,
    /// Activations with real 0 in the middle of the codes
    #[arg(long, conflicts_with = "asymmetric")]
    pub symmetric: bool,
    /// Activations with any zero point: the default
    #[arg(long)]
    pub asymmetric: bool,
    /// Weights with any zero point
    #[arg(long)]
    pub asymmetric_weights: bool,
    /// Weights from -128 on, not from -127
    #[arg(long)]
    pub full_range: bool,
    /// Scales that are powers of two
    #[arg(long)]
    pub power_of_two: bool,
    /// Other settings for a layer, or for conv, pointwise, depthwise, grouped, dense or matmul layers: depthwise:weights=int6,
    /// NAME:float, NAME:per-tensor,activations=uint8
    #[arg(long, value_name = "LAYER:SETTINGS")]
    pub layer: Vec<String>,
    /// Where activations are observed: behind the quantized layers before them (propagated), or in the float network
    /// (isolated) [default: propagated]
    #[arg(long)]
    pub mode: Option<Mode>,
    /// Choose the widths of weights and activations layer by layer, from 8x16 down to 4x4 bits, within a budget:
    /// agreement=1% (calibration samples that may get another class), sqnr=30 (dB), bytes=20000 or bits=16 (accumulator
    /// that cannot overflow)
    #[arg(long, value_name = "BUDGET", requires = "hw")]
    pub mixed: Option<MixedBudget>,
    /// Balance the ranges of weights between convolutions that follow each other (cross-layer equalization)
    #[arg(long)]
    pub equalize: bool,
    /// Make hard-swish a hard-sigmoid and a product, each with codes of its own, as ONNX Runtime's quantizer does, and not
    /// one table
    #[arg(long)]
    pub inline_functions: bool,
    /// Take the mean error of every layer's sums over the calibration samples into its bias
    #[arg(long)]
    pub correct_bias: bool,
    /// Leave a layer in float whose own quantization has a lower signal to noise ratio
    #[arg(long, value_name = "DB")]
    pub least_sqnr: Option<f64>,
    /// Quantize dynamically: weights get codes now, activations get a scale and a zero point from each input as it runs.
    /// --calibration chooses nothing then: it holds the samples that the network is run on
    #[arg(long, conflicts_with = "mixed")]
    pub dynamic: bool,
    /// Take finished layers and networks of a search from this folder, and add those that are found: a search that was
    /// interrupted goes on. Any number of commands may use it at once
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Folder for tables, plots and a page; it appears when it is complete
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// The quantized network; an existing file is refused without --force
    #[arg(short, long, value_name = "OUT.onnx")]
    pub output: PathBuf,
}

/// The names of the methods that choose ranges of tensors.
fn tensor_methods() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|method| PossibleValue::new(method.name())))
}

/// The names of all methods.
fn methods() -> PossibleValuesParser {
    let tensors = METHODS.iter().map(|method| PossibleValue::new(method.name()));
    let layers = LAYER_METHODS
        .iter()
        .map(|method| PossibleValue::new(method.name()).help("for layers on the accelerator of --hw"));
    PossibleValuesParser::new(tensors.chain(layers))
}
