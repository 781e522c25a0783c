//! `guardbit quantize`.

use std::process::ExitCode;
use std::sync::Arc;

use guardbit_quantize::method::METHODS;
use guardbit_quantize::{CodeSetting, Config, LAYER_METHODS, LayerSetting, Scales, Symmetry};
use guardbit_reports::{Fraction, QuantizeRecord, layers_text, parts_text};
use guardbit_study::{
    InputSource, MOST_ACTIVATION_BITS, MOST_WEIGHT_BITS, Pick, QuantizeRequest, parse_codes, parse_rule,
};

use super::existing;
use crate::args::{Global, QuantizeArgs};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn quantize(args: &QuantizeArgs, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let pick = Pick::new(args.samples, args.seed).ok_or_else(|| {
        Failure::usage("--seed draws samples, but nothing says how many: add --samples N".into())
    })?;
    let request = QuantizeRequest {
        model: args.model.clone(),
        calibration: InputSource::File { path: args.calibration.clone(), pick },
        test: args.test.clone(),
        labels: args.labels.clone(),
        output: args.output_name.clone(),
        hw: args.hw.clone(),
        sets: args.set.clone(),
        config: config(args)?,
        mixed: args.mixed,
        dynamic: args.dynamic,
        report: args.report.clone(),
        statistics: Vec::new(),
    };
    let record = guardbit_study::quantize(&request, &args.output, existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        let layers = if args.hw.is_some() { layers_text(&record.layers)? + "\n" } else { String::new() };
        print(&format!("{}\n{layers}{}", parts_text(&record.parts)?, outcome(&record)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The checked form of what is said of codes and methods.
fn config(args: &QuantizeArgs) -> Result<Config, Failure> {
    let scales = if args.power_of_two { Scales::PowersOfTwo } else { Scales::Any };
    let symmetry = if args.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
    let activations = CodeSetting { scales, symmetry, ..CodeSetting::ACTIVATIONS };
    let activations = parse_codes(&args.activations, activations, MOST_ACTIVATION_BITS)?;
    let weight_symmetry = if args.asymmetric_weights { Symmetry::Asymmetric } else { Symmetry::Symmetric };
    let weights = CodeSetting {
        scales,
        symmetry: weight_symmetry,
        restricted: !args.full_range,
        ..CodeSetting::WEIGHTS
    };
    let weights = parse_codes(&args.weights, weights, MOST_WEIGHT_BITS)?;
    let rules: Result<Vec<_>, _> =
        args.layer.iter().map(|text| parse_rule(text, activations, weights)).collect();
    let mut config = Config {
        setting: LayerSetting { activations, weights, per_channel: !args.per_tensor, float: false },
        rules: rules?,
        propagate: args.mode != Some(guardbit_sim::Mode::Isolated),
        least_sqnr_db: args.least_sqnr,
        equalize: args.equalize,
        correct_bias: args.correct_bias,
        ..Config::default()
    };
    if let Some(&method) = METHODS.iter().find(|method| method.name() == args.method) {
        config.method = Arc::new(method);
    }
    if let Some(&method) = METHODS.iter().find(|method| method.name() == args.weight_method) {
        config.weight_method = Arc::new(method);
    }
    if let Some(&method) = LAYER_METHODS.iter().find(|method| method.name() == args.method) {
        config.layer_method = Some(Arc::new(method));
    }
    Ok(config)
}

fn outcome(record: &QuantizeRecord) -> String {
    let mut lines = vec![
        ("calibration samples", record.samples.to_string()),
        ("evaluated samples", record.evaluated.to_string()),
    ];
    let mut add = |name, share: Option<Fraction>| lines.extend(share.map(|share| (name, share.to_string())));
    add("accuracy, float", record.accuracy_float);
    add("accuracy, quantized", record.accuracy);
    add("accuracy, on hardware", record.accuracy_hw);
    add("accuracy, dynamic", record.accuracy_dynamic);
    lines.iter().map(|(name, value)| format!("{name:<21} {value}\n")).collect()
}
