//! `guardbit vectors --whole`.

use std::process::ExitCode;

use guardbit_files::Target;
use guardbit_reports::text_table;
use guardbit_rtl_vectors::whole::{Design, ImageOrder, ImageSource, Layout, WholeRequest, export_whole};
use guardbit_study::whole_input;
use serde_json::json;

use super::{existing, note_random};
use crate::args::{Given, Global, Vectors};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn whole(args: &Given<Vectors>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let target = Target::claim_for(args.out(), existing(global))?;
    let order = args.image_order.as_deref().unwrap_or("nhwc").parse::<ImageOrder>();
    let order = order.map_err(|error| {
        Failure::usage(format!("--image-order: {error}"), "e.g. --image-order blocked:16")
    })?;
    let run = args.vectors_request()?;
    note_random(args, &run.settings, &bar);
    let sample = args.sample.unwrap_or(0);
    let input = whole_input(&run, args.layer.as_deref().unwrap_or_default(), sample, &bar)?;
    let [model, model_sha256] = input.model;
    let [accelerator, accelerator_sha256] = input.accelerator;
    let source =
        ImageSource { model, model_sha256, accelerator, accelerator_sha256, input: input.origin, sample };
    let request = WholeRequest { source, settings: args.vectors_listed(&run), order };
    let whole = export_whole(&input.program, input.node, &input.tensors, &request)?;
    let mut staging = target.stage()?;
    staging.write_all(&whole.files)?;
    staging.publish(existing(global))?;
    drop(bar);
    let layout = &whole.layout;
    if global.json {
        let layers = layout.layers.iter().map(|layer| {
            json!({
                "folder": layer.folder,
                "layer": layer.layer.name,
                "op": layer.layer.op,
                "outputs": layer.layer.dots,
                "tiles": layer.tiles.len(),
                "design": layer.design,
                "cycles": layer.cycles.design,
                "model_compute": layer.cycles.compute,
                "model_layer": layer.cycles.layer,
            })
        });
        let others = layout.others.iter().map(|other| json!({ "layer": other.name, "reason": other.reason }));
        print_json(&json!({
            "layers": layers.collect::<Vec<_>>(),
            "others": others.collect::<Vec<_>>(),
            "files": layout.files.len(),
        }))?;
    } else {
        print(&summary(layout))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn summary(layout: &Layout) -> String {
    let rows: Vec<Vec<String>> = layout
        .layers
        .iter()
        .map(|layer| {
            let design = match layer.design {
                Design::OutputStationaryArray | Design::WeightStationaryArray => "array",
                Design::Unit => "unit",
            };
            let cycles = &layer.cycles;
            let numbers = [
                layer.layer.dots as u64,
                layer.tiles.len() as u64,
                cycles.design,
                cycles.compute,
                cycles.layer,
            ];
            let named = [&layer.folder, &layer.layer.op, design].map(String::from);
            named.into_iter().chain(numbers.map(|number| number.to_string())).collect()
        })
        .collect();
    let header = ["layer", "op", "design", "outputs", "tiles", "cycles", "model: compute", "model: layer"];
    let others = layout
        .others
        .iter()
        .map(|other| format!("no layer: {} ({}): {}\n", other.name, other.op, other.reason));
    format!("{}{}", text_table(&header, &rows), others.collect::<String>())
}
