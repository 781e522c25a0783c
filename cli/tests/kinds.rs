//! Every kind of extension needs one file and one line of registration, or one row. All registered names are
//! in their folder, all files in the folder are registered, and every list and page that follows from them
//! names each.

use std::collections::BTreeSet;
use std::fs;

use crate::common::root;
use guardbit_frontends::FRONTENDS;
use guardbit_graph::Op;
use guardbit_graph::passes::PASSES;
use guardbit_hwmodels::cost::{COST_MODELS, Part};
use guardbit_hwmodels::timing::Bound;
use guardbit_hwmodels::{PRESETS, Reduce, keys_text, schema};
use guardbit_num::{Overflow, Scheme};
use guardbit_quantize::LAYER_METHODS;
use guardbit_quantize::method::METHODS;
use guardbit_reports::plots::{
    FLOAT_PLOTS, OVERFLOW_PLOTS, QUANTIZE_PLOTS, RUN_PLOTS, SIZE_FLOAT_PLOTS, SIZE_PLOTS, SUM_PLOTS,
    SWEEP_PLOTS,
};
use guardbit_reports::{
    BottleneckRow, ChannelRow, CostRow, EventRow, HistogramRow, LayerRow, PartRow, PointRow, Row,
    SizeChannelRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow, SummaryRow, SweepRow, TensorRow,
};
use serde_json::Value;

/// Kind of extension.
struct Kind {
    what: &'static str,
    /// Registered names.
    names: Vec<String>,
    /// Folder with a file per name, and its other files; `None` for rows of tables.
    folder: Option<(&'static str, &'static [&'static str])>,
    /// Lists and pages that must name each.
    pages: &'static [&'static str],
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(String::from).collect()
}

/// Returns the names that the schema allows for a key.
fn choices(pointer: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let choices = schema.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}"));
    choices.iter().map(|choice| choice.as_str().unwrap().to_owned()).collect()
}

/// Returns every key of the schema, below its section.
fn keys() -> Vec<String> {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let of = |value: &Value| {
        value["properties"].as_object().into_iter().flat_map(|keys| keys.keys().cloned()).collect::<Vec<_>>()
    };
    let sections = schema["$defs"].as_object().unwrap().values().flat_map(of);
    of(&schema).into_iter().chain(sections).collect()
}

fn columns<R: Row>() -> Vec<String> {
    R::COLUMNS.iter().map(|column| column.name.to_owned()).collect()
}

/// Returns the entries of a list in a private source file, between `begin` and the next closing bracket: the
/// first part of each line's path.
fn listed(file: &str, begin: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let (_, list) = text.split_once(begin).unwrap_or_else(|| panic!("{file} has no `{begin}`"));
    let list = list.split([']', '}']).next().unwrap();
    let first = |line: &str| {
        let name = line.trim().trim_start_matches('&').split([':', ',']).next().unwrap_or_default();
        Some(name.to_owned()).filter(|name| !name.is_empty())
    };
    // Several patterns may share a file.
    list.lines().filter_map(first).collect::<BTreeSet<_>>().into_iter().collect()
}

const HELPERS_OF_OPS: &[&str] = &[
    "mod",
    "additive",
    "axes",
    // Made by patterns, without a file.
    "composite",
    "convolution",
    "elementwise",
    "float",
    "lut",
    "moved",
    "operands",
    "pool",
    "quarter",
    "reduce",
    "rescale",
    "scaled",
    "strides",
    "weighted",
    "window",
];
const HELPERS_OF_TIMING: &[&str] = &[
    "mod",
    "array",
    "bound",
    "chain",
    "cost",
    "feed",
    "fit",
    "gemm",
    "groups",
    "host",
    "layer",
    "mapping",
    "moving_sums",
    "place",
    "rate",
    "schedule",
    "search",
    "sizes",
    "spans",
    "tiling",
    "traffic",
    "walk",
];

fn is_float(op: &str) -> bool {
    op.starts_with("float_")
}

/// Returns all kinds.
fn kinds() -> Vec<Kind> {
    let dataflows = choices("/properties/dataflow/enum");
    let conventions = choices("/$defs/TimingFile/properties/convention/enum");
    let methods = METHODS.iter().map(|method| method.name());
    let methods = methods.chain(LAYER_METHODS.iter().map(|method| method.name()));
    let extensions = FRONTENDS.iter().filter_map(|frontend| frontend.extensions().first().copied());
    let tables = [
        columns::<LayerRow>(),
        columns::<ChannelRow>(),
        columns::<EventRow>(),
        columns::<BottleneckRow>(),
        columns::<CostRow>(),
        columns::<PointRow>(),
        columns::<SummaryRow>(),
        columns::<SweepRow>(),
        columns::<SizeRow>(),
        columns::<SizeChannelRow>(),
        columns::<SizeLevelRow>(),
        columns::<SizeGridRow>(),
        columns::<SizeRateRow>(),
        columns::<PartRow>(),
        columns::<TensorRow>(),
        columns::<HistogramRow>(),
    ];
    const KEYS: &str = "docs/reference/accelerator_keys.md";
    const SCHEMA: &str = "hwmodels/accelerator.schema.json";
    vec![
        Kind {
            what: "operation",
            names: names(Op::KINDS.iter().map(|kind| kind.name).filter(|name| !is_float(name))),
            folder: Some(("graph/src/ops", HELPERS_OF_OPS)),
            pages: &["frontends/src/yaml/operations.rs"],
        },
        Kind {
            what: "operation on real values",
            names: names(Op::KINDS.iter().map(|kind| kind.name).filter(|name| is_float(name))),
            folder: Some(("graph/src/ops/float", &["mod", "elements"])),
            pages: &["frontends/src/yaml/operations.rs"],
        },
        Kind {
            what: "operation that an accelerator can run",
            names: names(Op::KINDS.iter().filter(|kind| kind.mac.is_some()).map(|kind| kind.name)),
            folder: None,
            pages: &[KEYS, SCHEMA],
        },
        Kind {
            what: "pass",
            names: names(PASSES.iter().map(|pass| pass.name())),
            folder: Some(("graph/src/passes", &["mod"])),
            pages: &[],
        },
        Kind { what: "frontend", names: names(extensions), folder: None, pages: &["README.md"] },
        Kind {
            what: "overflow mode",
            names: names(Overflow::ALL.iter().map(|mode| mode.name())),
            folder: Some(("num/src/overflow", &["mod"])),
            pages: &[KEYS, SCHEMA, "docs/reference/arithmetic.md"],
        },
        Kind {
            what: "kind of level",
            names: names(Reduce::ALL.iter().map(|kind| kind.name())),
            folder: Some(("hwmodels/src/reduction", &["mod"])),
            pages: &[KEYS, SCHEMA, "docs/reference/arithmetic.md"],
        },
        Kind {
            what: "requantization scheme",
            names: names(Scheme::ALL.iter().map(|scheme| scheme.name())),
            folder: Some(("num/src/requantize", &["mod", "scale32"])),
            pages: &[KEYS, SCHEMA, "docs/reference/arithmetic.md", "docs/reference/bundle-format.md"],
        },
        Kind {
            what: "walk of the products",
            names: choices("/$defs/OrderMap/properties/walk/enum"),
            folder: None,
            pages: &[KEYS, "docs/reference/arithmetic.md"],
        },
        Kind {
            what: "pattern of the quantizer",
            names: listed("quantize/src/patterns/mod.rs", "PATTERNS: &[&dyn UnitPattern] = &["),
            folder: Some(("quantize/src/patterns", &["mod", "clipped", "layer", "on_reals"])),
            pages: &[],
        },
        Kind {
            what: "calibration method",
            names: names(methods.clone()),
            folder: None,
            pages: &["docs/reference/quantize.md"],
        },
        Kind {
            what: "file of a calibration method",
            // Uses the file of `kl` with other parameters.
            names: names(methods.filter(|name| *name != "kl-tensorrt")),
            folder: Some(("quantize/src/method", &["mod", "fitting", "inputs", "smoothing"])),
            pages: &[],
        },
        Kind {
            what: "fuzz target",
            names: listed("fuzz/src/main.rs", "\ntargets! {"),
            folder: Some(("fuzz/src/targets", &["mod"])),
            pages: &[],
        },
        Kind {
            what: "inputs of a fuzz target",
            names: listed("fuzz/src/main.rs", "\ntargets! {"),
            folder: Some(("fuzz/corpus", &[])),
            pages: &[],
        },
        Kind {
            what: "cost model: dataflows and conventions of counting cycles",
            names: [dataflows, conventions].concat(),
            folder: Some(("hwmodels/src/timing", HELPERS_OF_TIMING)),
            pages: &[KEYS],
        },
        Kind {
            what: "cost model: energy and area",
            names: names(COST_MODELS.iter().map(|model| model.name)),
            folder: Some(("hwmodels/costs", &[])),
            pages: &["docs/how-to/explore.md"],
        },
        Kind {
            what: "part of hardware",
            names: names(Part::ALL.map(Part::name)),
            folder: None,
            pages: &["docs/how-to/explore.md"],
        },
        Kind {
            what: "what binds a layer",
            names: names(Bound::ALL.map(Bound::name)),
            folder: None,
            pages: &["docs/how-to/explore.md"],
        },
        Kind {
            what: "preset",
            names: names(PRESETS.iter().map(|preset| preset.name)),
            folder: Some(("hwmodels/presets", &[])),
            pages: &[SCHEMA],
        },
        Kind {
            what: "plot of a run",
            names: names(
                RUN_PLOTS
                    .iter()
                    .chain(OVERFLOW_PLOTS)
                    .chain(FLOAT_PLOTS)
                    .chain(SUM_PLOTS)
                    .map(|plot| plot.name),
            ),
            folder: Some(("reports/src/plots/run", &["mod"])),
            pages: &[],
        },
        Kind {
            what: "plot of a sweep",
            names: names(SWEEP_PLOTS.iter().map(|plot| plot.name)),
            folder: Some(("reports/src/plots/sweep", &["mod", "dimensions", "group", "layer_curves"])),
            pages: &[],
        },
        Kind {
            what: "plot of a sizing",
            names: names(SIZE_PLOTS.iter().chain(SIZE_FLOAT_PLOTS).map(|plot| plot.name)),
            folder: Some(("reports/src/plots/size", &["mod"])),
            pages: &[],
        },
        Kind {
            what: "plot of a quantization",
            names: names(QUANTIZE_PLOTS.iter().map(|plot| plot.name)),
            folder: Some(("reports/src/plots/quantize", &["mod"])),
            pages: &[],
        },
        Kind { what: "accelerator key", names: keys(), folder: None, pages: &[KEYS] },
        Kind { what: "column", names: tables.concat(), folder: None, pages: &["docs/reference/columns.md"] },
    ]
}

/// Returns the names of the files of a folder, without extension.
fn files(folder: &str, beside: &[&str]) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let stem = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()
    };
    entries.map(stem).filter(|name| !beside.contains(&name.as_str())).collect()
}

/// Returns whether a page contains a name as a separate word.
fn has_word(page: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    page.match_indices(name)
        .any(|(at, _)| !page[..at].ends_with(part) && !page[at + name.len()..].starts_with(part))
}

#[test]
fn every_kind_stands_in_one_place_and_wherever_it_follows() {
    for Kind { what, names, folder, pages } in kinds() {
        assert!(names.len() > 1, "{what}: {names:?}");
        if let Some((folder, beside)) = folder {
            let registered: BTreeSet<String> = names.iter().cloned().collect();
            let with_underscores = |name: &String| name.replace('-', "_");
            let same = |set: &BTreeSet<String>| set.iter().map(with_underscores).collect::<BTreeSet<_>>();
            assert_eq!(same(&registered), same(&files(folder, beside)), "{what}: {folder}");
        }
        for page in pages {
            let text = fs::read_to_string(root().join(page)).unwrap();
            for name in &names {
                assert!(has_word(&text, name), "{what} `{name}` does not stand in {page}");
            }
        }
    }
}

/// Returns the generated parts of pages: page, name and text. They are between `<!-- made: NAME -->` and
/// `<!-- end -->`.
fn made_parts() -> Vec<(&'static str, &'static str, String)> {
    let kinds = Reduce::ALL.map(|kind| format!("- `reduce: {kind}`: {}\n", kind.meaning()));
    let rows = |of: fn(Overflow) -> String| {
        Overflow::ALL.map(|mode| format!("| `{mode}` | {} |\n", of(mode))).concat()
    };
    let meanings = rows(|mode| mode.meaning().into());
    let values = rows(|mode| format!("`{}`", mode.hdl()));
    let formats = FRONTENDS.iter().map(|frontend| {
        let endings: Vec<String> =
            frontend.extensions().iter().map(|ending| format!("`.{ending}`")).collect();
        (frontend.name(), endings.join(", "))
    });
    let format_rows = formats.clone().map(|(name, endings)| format!("| {name} | {endings} |\n"));
    let format_items = formats.map(|(name, endings)| format!("- {name}: {endings}\n"));
    let modes = Overflow::ALL.map(|mode| format!("- `{mode}`: {}\n", mode.meaning())).concat();
    vec![
        ("docs/reference/arithmetic.md", "kinds of levels", kinds.concat()),
        (
            "docs/reference/arithmetic.md",
            "overflow modes",
            format!("| mode | what the register holds |\n|---|---|\n{meanings}"),
        ),
        (
            "docs/reference/bundle-format.md",
            "overflow modes",
            format!("| `overflow` | value |\n|---|---|\n{values}"),
        ),
        (
            "README.md",
            "formats",
            format!("| networks | files |\n|---|---|\n{}", format_rows.collect::<String>()),
        ),
        ("docs/topics.md", "kinds of levels", kinds.concat()),
        ("docs/topics.md", "overflow modes", modes),
        ("docs/topics.md", "formats", format_items.collect()),
    ]
}

/// `scripts/renew` renews the generated parts.
#[test]
fn made_parts_of_pages_are_current() {
    for (page, name, made) in made_parts() {
        let path = root().join(page);
        let text = fs::read_to_string(&path).unwrap();
        let begin = format!("<!-- made: {name} -->\n");
        let start = text.find(&begin).unwrap_or_else(|| panic!("{page} has no `{name}`")) + begin.len();
        let end = start + text[start..].find("<!-- end -->").unwrap();
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            fs::write(&path, [&text[..start], &made, &text[end..]].concat()).unwrap();
        } else {
            assert_eq!(text[start..end], made, "{page}, {name}: scripts/renew renews it");
        }
    }
    crate::explain::check_copies();
}

/// `hw show` prints exactly the keys that have a value.
#[test]
fn a_shown_accelerator_has_the_keys_of_the_page() {
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    paths(value, &path, found);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                items.iter().for_each(|item| paths(item, &format!("{path}.*"), found));
            }
            _ => found.push(path.to_owned()),
        }
    }
    let page = keys_text();
    for preset in PRESETS {
        let mut found = Vec::new();
        paths(&guardbit_hwmodels::load(preset.name, &[]).unwrap().resolved_json(), "", &mut found);
        assert!(found.len() > 30, "{found:?}");
        for path in found.iter().filter(|path| !path.starts_with("layers.")) {
            assert!(page.contains(&format!("| `{path}` |")), "{}: {path}", preset.name);
        }
    }
}
