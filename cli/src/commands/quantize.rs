//! `guardbit quantize`.

use std::process::ExitCode;

use guardbit_reports::{Fraction, QuantizeRecord, layers_text, parts_text, proofs_text};
use guardbit_sim::Mode;
use guardbit_study::{InputSource, Pick, QuantizeChoices, QuantizeRequest};

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
        cut: args.part.cut().map_err(Failure::usage)?,
        calibration: InputSource::File { path: args.calibration.clone(), pick },
        test: args.test.clone(),
        labels: args.labels.clone(),
        output: args.output_name.clone(),
        hw: args.hw.clone(),
        sets: args.set.clone(),
        config: choices(args).config()?,
        mixed: args.mixed,
        dynamic: args.dynamic,
        cache: args.cache.clone(),
        report: args.report.clone(),
        statistics: Vec::new(),
    };
    let record = guardbit_study::quantize(&request, &args.output, existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        let layers = if args.hw.is_some() || args.dynamic {
            format!("{}\n{}\n", layers_text(&record.layers)?, proofs_text(&record.proofs)?)
        } else {
            String::new()
        };
        // Parts are what is calibrated.
        let parts = if args.dynamic { String::new() } else { parts_text(&record.parts)? + "\n" };
        print(&format!("{parts}{layers}{}", outcome(&record)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said of codes and methods.
fn choices(args: &QuantizeArgs) -> QuantizeChoices {
    QuantizeChoices {
        method: args.method.clone(),
        weight_method: args.weight_method.clone(),
        weights: args.weights.clone(),
        activations: args.activations.clone(),
        per_tensor: args.per_tensor,
        symmetric: args.symmetric,
        asymmetric_weights: args.asymmetric_weights,
        full_range: args.full_range,
        power_of_two: args.power_of_two,
        layers: args.layer.clone(),
        mode: args.mode.unwrap_or(Mode::Propagated),
        equalize: args.equalize,
        inline_functions: args.inline_functions,
        correct_bias: args.correct_bias,
        least_sqnr: args.least_sqnr,
    }
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
    lines.iter().map(|(name, value)| format!("{name:<21} {value}\n")).collect()
}
