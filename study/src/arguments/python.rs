//! Generates the Python functions of the commands: signatures, documentation, and checks of each argument.

use super::{Command, Kind, ROWS, Row, Shape, respelled};

/// First lines of both files.
const MADE: &str = "Generated from the table in study/src/arguments/table.rs: scripts/renew renews it.";

/// Description of a Python function.
struct Function {
    command: Command,
    /// Parameters that may be given by position, by their names in Python.
    positional: &'static [&'static str],
    /// Parameters that exist only in Python, with their types and defaults.
    own: &'static [(&'static str, &'static str)],
    returns: &'static str,
    about: &'static str,
}

/// Parameters of each function that are not arguments of its command.
const PLACED: [(&str, &str); 2] = [("force", "bool = False"), ("threads", "int | None = None")];
const STATISTIC: (&str, &str) = ("statistic", "Statistic | Mapping[str, Statistic] | None = None");

const FUNCTIONS: [Function; 7] = [
    Function {
        command: Command::Run,
        positional: &["model", "hw", "x", "y"],
        own: &[STATISTIC],
        returns: "Run",
        about: "Runs a network on an accelerator, as `guardbit run` does.\n\n`x` holds samples along the \
                first axis: codes in the input's dtype, or real values, which become float32; a mapping for \
                several inputs. `statistic` is called with the exact codes that every accelerated layer \
                produces for every sample, and with those of the hardware: `(exact, simulated)`, arrays of \
                the layer's output, and with `sums` and `events` if it has parameters with these names. It \
                returns a number, an array or several of these by name, which are stored in `.statistics`. \
                `plots=False, report=False` writes only tables, which is fastest.",
    },
    Function {
        command: Command::Sweep,
        positional: &["model", "hw", "x", "y"],
        own: &[STATISTIC],
        returns: "Sweep",
        about: "Runs a network at many settings, as `guardbit sweep` does.\n\n`axes` gives values by key, as \
                one value, a list, a range or a text ('12..=16'): keys of the accelerator, or arguments of a \
                run (model, hw, mode, seed, input, ...). An interrupted sweep with `out` continues when it \
                is called again. `shard` is (I, N): only part I of N, for `merge`. `statistic` is as for \
                `run`, and is called for every point: all points are then run, and the first column of \
                `.statistics` is the point, the row of the table.",
    },
    Function {
        command: Command::Size,
        positional: &["model", "hw", "x", "y"],
        own: &[],
        returns: "Size",
        about: "Finds the width that every accumulator requires, as `guardbit size` does.",
    },
    Function {
        command: Command::Explore,
        positional: &["model", "hw", "x", "y"],
        own: &[],
        returns: "Exploration",
        about: "Explores designs of an accelerator and finds their Pareto front, as `guardbit explore` \
                does.\n\nAn interrupted exploration with `out` continues when it is called again.",
    },
    Function {
        command: Command::Vectors,
        positional: &["model", "hw", "layer", "x"],
        own: &[],
        returns: "Bundle",
        about: "Exports a layer as test vectors for RTL, as `guardbit vectors` does. With `whole`, the result is \
                a `Whole`: memory images of whole layers, for `diff_layer`.",
    },
    Function {
        command: Command::Discriminate,
        positional: &["hw"],
        own: &[],
        returns: "Discrimination",
        about: "Finds short dot products whose sums differ between accelerators, as `guardbit discriminate` \
                does.\n\n`hw` is a list of accelerators, or one whose settings vary by `any` and `axes`. \
                `.matching(sums)` of the result returns the accelerators that a device may be.",
    },
    Function {
        command: Command::Quantize,
        positional: &["model", "calibration", "hw"],
        own: &[],
        returns: "Quantized",
        about: "Quantizes a float ONNX network, as `guardbit quantize` does. `out` is the ONNX file, \
                `report` the folder of its tables.\n\nA method is a name, or a function that receives what \
                was `Observed` of a tensor and returns the least and the greatest real value that its codes \
                cover.",
    },
];

/// Returns whether a function is generated for a command.
pub(super) fn has_function(command: Command) -> bool {
    FUNCTIONS.iter().any(|one| one.command == command)
}

/// Returns the generated files of the package, with their names.
pub fn python_text() -> [(&'static str, String); 2] {
    [("_commands.py", commands()), ("_table.py", table())]
}

/// Returns the arguments of a function; positional ones come first.
fn parameters(function: &Function) -> Vec<&'static Row> {
    let all: Vec<&Row> = Row::all(function.command).filter(|row| row.in_python).collect();
    let placed = |name: &&str| all.iter().find(|row| row.python_name() == *name).copied();
    let first: Vec<&Row> = function.positional.iter().filter_map(placed).collect();
    let is_first = |row: &&&Row| first.iter().any(|other| std::ptr::eq(*other, **row));
    first.iter().chain(all.iter().filter(|row| !is_first(row))).copied().collect()
}

fn commands() -> String {
    let mut text = format!(
        "\"\"\"The commands as functions. {MADE}\"\"\"\n\n\
         from __future__ import annotations\n\n\
         import os\n\
         from collections.abc import Mapping, Sequence\n\
         from typing import Any, Literal\n\n\
         from . import _calls\n\
         from ._arguments import taken\n\
         from ._calibration import Method\n\
         from ._inputs import Hw, Model, Samples, Sets\n\
         from ._progress import Progress\n\
         from ._results import Bundle, Discrimination, Exploration, Quantized, Run, Size, Sweep\n\
         from ._statistics import Statistic\n"
    );
    FUNCTIONS.iter().for_each(|one| text += &function(one));
    text
}

fn function(one: &Function) -> String {
    let (name, rows) = (one.command.name(), parameters(one));
    let mut text = format!("\n\n@taken\ndef {name}(\n");
    for (index, row) in rows.iter().enumerate() {
        if index == one.positional.len() {
            text += "    *,\n";
        }
        text += &format!("    {}: {},\n", row.python_name(), signature(one.command, row));
    }
    for (name, signature) in
        one.own.iter().chain(&PLACED).chain(&[("progress", "bool | Progress | None = None")])
    {
        text += &format!("    {name}: {signature},\n");
    }
    text += &format!(") -> {}:\n    \"\"\"{}\n\n    Args:\n", one.returns, wrapped(one.about, 4));
    for row in rows {
        let spelled = |name: &str| {
            let known = Row::find(one.command, name).or_else(|| ROWS.iter().find(|row| row.name == name));
            format!("`{}`", known.map_or_else(|| name.to_owned(), |row| row.python_name().to_owned()))
        };
        let help = respelled(&row.described(one.command), spelled);
        text += &format!("        {}\n", wrapped(&format!("{}: {help}", row.python_name()), 12));
    }
    text += "        force: Replace an output folder if guardbit wrote all of its files and none changed\n";
    text += "        threads: Number of threads; results do not depend on it\n";
    text += "        progress: Whether to show progress, or an object with start, advance and note\n";
    text + &format!("    \"\"\"\n    return _calls.{name}(locals())\n")
}

/// Wraps text into lines of at most 130 characters; all lines after the first are indented.
fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, blanks) = (Vec::new(), " ".repeat(indent));
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > 130 {
                lines.push(std::mem::take(&mut line));
            }
            line += if line.is_empty() { "" } else { " " };
            line += word;
        }
        lines.push(line);
    }
    let indented = |(at, line): (usize, &String)| match at == 0 || line.is_empty() {
        true => line.replace('\\', "\\\\"),
        false => format!("{blanks}{}", line.replace('\\', "\\\\")),
    };
    lines.iter().enumerate().map(indented).collect::<Vec<_>>().join("\n")
}

/// Returns type and default of a parameter.
fn signature(command: Command, row: &Row) -> String {
    let needed = row.needed.has(command) && row.name != "output" && row.name != "output_dir";
    let (_, ty) = taken(command, row);
    // A TFLite runtime as default would be wrong for other formats, and a mode may be None.
    let default = (row.default)(command).filter(|_| !["profile", "mode"].contains(&row.name));
    let default = match (row.shape, default) {
        (Shape::Flag, _) => "False".into(),
        (Shape::Many, Some(word)) => format!("(\"{word}\",)"),
        (Shape::One, Some(number)) if row.kind == Kind::Whole => number,
        (Shape::One, Some(word)) => format!("\"{word}\""),
        _ if row.kind == Kind::Flag => "True".into(),
        (Shape::Many, None) if !ty.ends_with("| None") => "()".into(),
        _ => "None".into(),
    };
    let optional = if default == "None" && !ty.ends_with("| None") { " | None" } else { "" };
    match needed || (command == Command::Sweep && row.name == "hw") {
        true => ty.trim_end_matches(" | None").into(),
        false => format!("{ty}{optional} = {default}"),
    }
}

/// Returns how an argument is checked and converted, and its type. `_calls.py` converts arrays and mappings
/// to files or texts.
fn taken(command: Command, row: &Row) -> (&'static str, String) {
    let several = command == Command::Sweep;
    let (kind, ty) = match row.name {
        "model" if command == Command::Quantize => ("path", "str | os.PathLike[str]"),
        "model" if several => ("networks", "Model | Sequence[Model]"),
        "model" => ("network", "Model"),
        "hw" if several || command == Command::Discriminate => ("accelerators", "Hw | Sequence[Hw]"),
        "hw" => ("accelerator", "Hw | None"),
        "input" | "test" | "calibration" => ("samples", "Samples | None"),
        "labels" => ("labels", "Samples | None"),
        "set" => ("overrides", "Sets | None"),
        "dim" => ("lengths", "Mapping[str, int] | None"),
        "axis" => ("by_key", "Mapping[str, Any] | None"),
        "zip" => ("groups", "Sequence[str] | Sequence[Sequence[str]]"),
        "bits" => ("widths", "str | int | Sequence[int] | None"),
        "shard" => ("shard", "str | tuple[int, int] | None"),
        "layer" if row.shape == Shape::One => ("text_or_index", "str | int"),
        "dump_sums" => ("texts_or_indices", "str | int | Sequence[str | int]"),
        "cost" => ("paths", "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"),
        "method" | "weight_method" => ("method", "str | Method"),
        _ => {
            let words = (row.words)();
            return match (row.kind, row.shape) {
                (_, Shape::Flag) | (Kind::Flag, _) => ("flag", "bool".into()),
                (Kind::Path, _) => ("path", "str | os.PathLike[str]".into()),
                (Kind::Whole, _) => ("whole", "int".into()),
                (Kind::Real, _) => ("real", "float".into()),
                (_, Shape::Many) => ("texts", "str | Sequence[str]".into()),
                (_, Shape::One) if (2..=4).contains(&words.len()) => {
                    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                    ("text", format!("Literal[{}]", words.join(", ")))
                }
                _ => ("text", "str".into()),
            };
        }
    };
    (kind, ty.into())
}

/// Returns the checks and conversions as Python data.
fn table() -> String {
    let mut text = format!(
        "\"\"\"How arguments are checked and taken. {MADE}\"\"\"\n\n\
         #: By command and name in Python: the name of the option, and a kind of `_arguments.py`.\n\
         TABLE: dict[str, dict[str, tuple[str, str]]] = {{\n"
    );
    for one in &FUNCTIONS {
        text += &format!("    \"{}\": {{\n", one.command.name());
        for row in parameters(one) {
            let (kind, _) = taken(one.command, row);
            text += &format!("        \"{}\": (\"{}\", \"{kind}\"),\n", row.python_name(), row.name);
        }
        text += "    },\n";
    }
    text += "}\n\n#: Options whose arguments have other names here.\nNAMES: dict[str, str] = {\n";
    let mut seen = Vec::new();
    for row in
        ROWS.iter().filter(|row| row.python_name() != row.name && row.name != "layer" && row.name != "output")
    {
        if !seen.contains(&row.name) {
            text += &format!("    \"{}\": \"{}\",\n", row.option(), row.python_name());
            seen.push(row.name);
        }
    }
    text + "}\n"
}
