//! Output of `--nodes`: everything that determines the codes of each operation.

use std::fmt::Write;

use guardbit_graph::{Graph, NodeForm, OperandForm, RequantizeForm};

use super::{printable, sizes};

/// Maximum number of scales and multipliers printed as a list; of more, the minimum and the maximum are
/// printed.
const WRITTEN: usize = 4;

pub fn text(graph: &Graph) -> String {
    let mut out = String::new();
    for (id, node) in graph.nodes_with_ids() {
        let name = graph.short_name(id);
        // Writing to a string does not fail.
        let _ = writeln!(out, "{} {name}: {}", id.index(), node.op.name());
        out += &of_node(&graph.form(id));
    }
    out
}

fn of_node(form: &NodeForm<'_>) -> String {
    let mut out: String = form.operands.iter().chain([&form.output]).map(operand).collect();
    let mut add = |key: &str, value: String| {
        let _ = writeln!(out, "    {key:<11} {value}");
    };
    if let Some(accumulator) = form.accumulator {
        add("accumulator", accumulator.into());
    }
    if let Some(place) = form.bias {
        add("bias in", place.into());
    }
    if let Some(requantize) = &form.requantize {
        add("requantize", requantization(requantize));
    }
    if let Some([low, high]) = form.clamp {
        add("clamp", format!("[{low}, {high}]"));
    }
    out
}

fn operand(operand: &OperandForm<'_>) -> String {
    let [low, high] = operand.range;
    let step = operand.step.map_or(String::new(), |step| format!(" in steps of {step}"));
    let constant = if operand.constant { ", constant" } else { "" };
    let axis = operand.axis.map_or(String::new(), |axis| format!(" along axis {axis}"));
    let quantization = match operand.scales {
        [] => "no scale of its own".to_owned(),
        scales => format!("scale {}, zero point {}{axis}", few(scales), few(operand.zero_points)),
    };
    format!(
        "    {:<11} {} {} [{low}, {high}]{step}, {quantization}{constant}: {}\n",
        operand.role,
        operand.dtype,
        sizes(operand.shape),
        printable(operand.name)
    )
}

fn requantization(form: &RequantizeForm) -> String {
    let multiplier =
        |m: &guardbit_graph::MultiplierForm| format!("{} * 2^{}", m.significand, m.exponent - 31);
    let all: Vec<String> = form.multipliers.iter().take(WRITTEN).map(multiplier).collect();
    let more = form.multipliers.len().saturating_sub(WRITTEN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let multipliers = if all.is_empty() { String::new() } else { format!(": {}{more}", all.join(", ")) };
    format!("{}, multiplier in {}{multipliers}", form.scheme, form.rule)
}

/// Formats a single value if all are equal, a few as a list, and many as minimum and maximum.
fn few<T: PartialOrd + Copy + std::fmt::Display>(values: &[T]) -> String {
    let Some((&first, rest)) = values.split_first() else { return String::new() };
    if rest.iter().all(|value| *value == first) {
        return first.to_string();
    }
    if values.len() <= WRITTEN {
        return values.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    }
    let least = rest.iter().fold(first, |a, &b| if b < a { b } else { a });
    let greatest = rest.iter().fold(first, |a, &b| if b > a { b } else { a });
    format!("{least} to {greatest} ({} values)", values.len())
}
