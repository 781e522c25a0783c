//! Loads a checked cost model by name or from a file.

use std::io;
use std::path::Path;

use guardbit_documents::{Document, Fault, Form};
use guardbit_num::Overflow;

use super::COST_MODELS;
use super::file::{CostFile, FigureFile, FormulaFile, RangeFile, TableFile};
use super::model::{CostModel, Figure, Formula, whole};
use super::parts::{Part, Variable};
use super::scale::{self, RANGE};
use crate::expression::{Expression, Quantity};
use crate::load::{HwError, KeyPath, Origin, Problem, description_of, name_of};
use crate::{Preset, Reduce};

/// Greatest size of a file in bytes.
const MOST_BYTES: u64 = 1 << 18;
/// Greatest length of a text in characters.
const MOST_TEXT: usize = 1000;
const UNIT: usize = 32;

const FORM: Form = Form { name: "a cost model", most_bytes: MOST_BYTES };
const CONTENT: &str = "docs/how-to/explore.md describes files of cost models; `guardbit cost schema` prints their schema for editors";

const YAML: &str = "guardbit::cost::yaml";
const VALUE: &str = "guardbit::cost::value";
const FORMULA: &str = "guardbit::cost::formula";

/// Loads the cost model with a built-in name, or from a file. A suffix such as `@16nm` scales the figures to
/// that technology.
///
/// # Errors
/// [`HwError`] with the place of the problem.
pub fn load_cost(name: &str) -> Result<CostModel, HwError> {
    if let Some(text) = text_of(name)? {
        return from_text(&text, name);
    }
    let node = |node: &str| node.strip_suffix("nm")?.parse::<f64>().ok();
    let scaled = name.rsplit_once('@').and_then(|(base, to)| Some((base, node(to)?)));
    let Some((base, to)) = scaled else { return Err(unknown(name).into()) };
    let model = from_text(&text_of(base)?.ok_or_else(|| HwError::from(unknown(base)))?, base)?;
    scaled_to(model, to)
}

/// Loads the cost model from a file's text. `file` is used in messages, and names the model if it has no
/// name.
///
/// # Errors
/// [`HwError`] with the place of the problem.
pub fn cost_from_yaml(text: &str, file: &str) -> Result<CostModel, HwError> {
    from_text(text, file)
}

/// Returns the text of a built-in model, or of a file; `None` if there is neither.
fn text_of(name: &str) -> Result<Option<String>, HwError> {
    if let Some(Preset { text, .. }) = COST_MODELS.iter().find(|model| model.name == name) {
        return Ok(Some((*text).to_owned()));
    }
    match guardbit_files::read_text(Path::new(name), MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("`{name}` cannot be read: {error}");
            Err(Problem::new("guardbit::cost::read", None, message, names(), Origin::Nowhere).into())
        }
    }
}

fn names() -> String {
    let names: Vec<&str> = COST_MODELS.iter().map(|model| model.name).collect();
    format!(
        "name a YAML file or a cost model; append @16nm to scale it to 16 nm. Cost models: {}",
        names.join(", ")
    )
}

fn unknown(name: &str) -> Problem {
    let message = format!("`{name}` is neither a cost model nor a file");
    Problem::new("guardbit::cost::unknown", None, message, names(), Origin::Nowhere)
}

fn scaled_to(model: CostModel, to: f64) -> Result<CostModel, HwError> {
    let problem = |message: String, help: &str| {
        HwError::from(Problem::new("guardbit::cost::node", None, message, help.to_owned(), Origin::Nowhere))
    };
    let Some(from) = model.node_nm else {
        let message = format!("cannot scale `{}`: its figures belong to no technology node", model.name);
        return Err(problem(message, "leave out the @ and the node after it"));
    };
    let Some(scale) = scale::factors(from, to) else {
        let message = format!("cannot scale to {to} nm: expected {} to {} nm", RANGE[0], RANGE[1]);
        return Err(problem(message, "scaling factors exist only for nodes in this range"));
    };
    let name = format!("{}@{to}nm", model.name);
    let source = format!(
        "{}; scaled from {from} to {to} nm by Stillmaker and Baas (2017), doi:10.1016/j.vlsi.2017.02.002, \
         at {} V: energies x {:.4}, areas x {:.4}, memories unscaled",
        model.source,
        scale::SUPPLY,
        scale[0],
        scale[1]
    );
    Ok(CostModel { name, source, scale: Some(scale), ..model })
}

/// Document of a cost model.
struct Source<'a> {
    document: Document<'a>,
    file: &'a str,
}

impl Source<'_> {
    /// Returns an error at a key.
    fn wrong(&self, code: &'static str, key: &str, message: &str, help: &str) -> HwError {
        Problem::of_fault(code, self.document.fault(KeyPath::indexed(key), message), help).into()
    }
}

fn from_text(text: &str, file: &str) -> Result<CostModel, HwError> {
    let yaml = |fault: Fault| HwError::from(Problem::of_fault(YAML, fault, CONTENT));
    let document = Document::new(FORM, file, text).map_err(yaml)?;
    checked(document.read().map_err(yaml)?, &Source { document, file })
}

fn checked(file: CostFile, source: &Source<'_>) -> Result<CostModel, HwError> {
    let wrong = |code, key: &str, message: &str, help: &str| source.wrong(code, key, message, help);
    if file.schema != 1 {
        return Err(wrong(VALUE, "schema", "must be 1", "the version of the file format: write `schema: 1`"));
    }
    let text = |key: &str, text: Option<String>| {
        let text = text.unwrap_or_default();
        if text.chars().count() > MOST_TEXT {
            return Err(wrong(VALUE, key, &format!("has more than {MOST_TEXT} characters"), "shorten it"));
        }
        Ok(description_of(&text))
    };
    let area_unit = text("area_unit", file.area_unit)?;
    if area_unit.chars().count() > UNIT {
        return Err(wrong(
            VALUE,
            "area_unit",
            &format!("has more than {UNIT} characters"),
            "a unit, e.g. um2 or LUT",
        ));
    }
    let in_range = |node: &f64| RANGE[0] <= *node && *node <= RANGE[1];
    if file.node_nm.is_some_and(|node| !in_range(&node)) {
        let message = format!("must be a number from {} to {}", RANGE[0], RANGE[1]);
        return Err(wrong(VALUE, "node_nm", &message, "leave it out if the figures cannot be scaled"));
    }
    let stem = Path::new(source.file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let figures = file.figures.0.into_iter().enumerate();
    let figures = figures.map(|(index, figure)| checked_figure(figure, index, &area_unit, source));
    let mut figures: Vec<Figure> = figures.collect::<Result<_, _>>()?;
    if figures.is_empty() {
        return Err(wrong(VALUE, "figures", "is empty", "a cost model needs at least one figure"));
    }
    let with = file.with.map_or(Vec::new(), |list| list.0);
    for (index, name) in with.iter().enumerate() {
        if with[..index].contains(name) {
            return Err(wrong(VALUE, &format!("with[{index}]"), "is listed twice", "name every model once"));
        }
        figures.extend(figures_with(name, index, &area_unit, file.node_nm, source)?);
    }
    Ok(CostModel {
        name: name_of(&file.name.unwrap_or(stem)),
        description: text("description", file.description)?,
        source: text("source", Some(file.source))?,
        leaves_out: text("leaves_out", file.leaves_out)?,
        area_unit,
        node_nm: file.node_nm,
        figures,
        scale: None,
    })
}

/// Returns the figures of a built-in model that a file names under `with`. They must be of the file's own
/// technology and unit, because the totals add them.
fn figures_with(
    name: &str,
    index: usize,
    area_unit: &str,
    node_nm: Option<f64>,
    source: &Source<'_>,
) -> Result<Vec<Figure>, HwError> {
    let wrong =
        |message: String, help: String| source.wrong(VALUE, &format!("with[{index}]"), &message, &help);
    let Some(&Preset { name, text, .. }) = COST_MODELS.iter().find(|model| model.name == name) else {
        let known: Vec<&str> = COST_MODELS.iter().map(|model| model.name).collect();
        let message = format!("is `{name}`; expected a built-in cost model");
        return Err(wrong(message, format!("the built-in models are {}", known.join(", "))));
    };
    let model = from_text(text, name)?;
    if model.node_nm != node_nm {
        let node =
            |node: Option<f64>| node.map_or("no technology node".to_owned(), |node| format!("{node} nm"));
        let message = format!(
            "is `{name}` with figures for {}, but the figures of this file are for {}",
            node(model.node_nm),
            node(node_nm)
        );
        return Err(wrong(
            message,
            "figures of different technology nodes cannot be added: set `node_nm` to the same node".into(),
        ));
    }
    if model.area_unit != area_unit {
        let unit = |unit: &str| if unit.is_empty() { "no unit".to_owned() } else { format!("`{unit}`") };
        let message = format!(
            "is `{name}` with areas in {}, but the areas of this file are in {}",
            unit(&model.area_unit),
            unit(area_unit)
        );
        return Err(wrong(
            message,
            "areas in different units cannot be added: set `area_unit` to the same unit".into(),
        ));
    }
    Ok(model.figures)
}

fn checked_figure(
    file: FigureFile,
    index: usize,
    unit: &str,
    source: &Source<'_>,
) -> Result<Figure, HwError> {
    let key = |key: &str| format!("figures[{index}].{key}");
    let wrong = |at: &str, message: &str, help: &str| source.wrong(VALUE, &key(at), message, help);
    let parts = Part::ALL.map(Part::name).join(", ");
    let Some(part) = Part::ALL.into_iter().find(|part| part.name() == file.part) else {
        return Err(wrong(
            "part",
            &format!("is `{}`; it must be one of {parts}", file.part),
            "the part of the hardware that the figure describes",
        ));
    };
    let text = |at: &str, text: Option<String>| {
        let text = text.unwrap_or_default();
        if text.chars().count() > MOST_TEXT {
            return Err(wrong(at, &format!("has more than {MOST_TEXT} characters"), "shorten it"));
        }
        Ok(description_of(&text))
    };
    let modes = file.overflow.map_or(Vec::new(), |list| list.0).into_iter().map(|name| {
        let found = Overflow::ALL.into_iter().find(|mode| mode.name() == name);
        let modes = Overflow::ALL.map(|mode| mode.name()).join(", ");
        found.ok_or_else(|| {
            wrong(
                "overflow",
                &format!("has the unknown name `{name}`; expected {modes}"),
                "a list of overflow modes",
            )
        })
    });
    let kinds = file.reduce.map_or(Vec::new(), |list| list.0).into_iter().map(|name| {
        let kinds = Reduce::ALL.map(Reduce::name).join(", ");
        name.parse::<Reduce>().map_err(|_| {
            wrong(
                "reduce",
                &format!("has the unknown name `{name}`; expected {kinds}"),
                "a list of kinds of levels",
            )
        })
    });
    let ranges = file.range.map_or(Vec::new(), |list| list.0).into_iter();
    let ranges = ranges.map(|range| {
        checked_range(&range, part, |m| wrong("range", m, "e.g. `{of: bits, from: 8, to: 32}`"))
    });
    let formula = |at: &str, formula: Option<FormulaFile>| {
        let check = |formula| checked_formula(formula, part);
        let error = |message: String| source.wrong(FORMULA, &key(at), &message, HELP);
        formula.map(|formula| check(formula).map_err(error)).transpose()
    };
    let figure = Figure {
        part,
        of: text("of", file.of)?,
        overflow: modes.collect::<Result<_, _>>()?,
        reduce: kinds.collect::<Result<_, _>>()?,
        ranges: ranges.collect::<Result<_, _>>()?,
        energy: formula("energy_pj", file.energy_pj)?,
        area: formula("area", file.area)?,
        flip_flops: formula("flip_flops", file.flip_flops)?,
        scales: file.scales.unwrap_or(!matches!(part, Part::Sram | Part::Dram)),
        source: text("source", Some(file.source))?,
        note: text("note", file.note)?,
    };
    if [&figure.energy, &figure.area, &figure.flip_flops].iter().all(|formula| formula.is_none()) {
        return Err(source.wrong(
            VALUE,
            &format!("figures[{index}]"),
            "has no figure",
            "give at least one of `energy_pj`, `area` and `flip_flops`",
        ));
    }
    if figure.area.is_some() && unit.is_empty() {
        return Err(wrong(
            "area",
            "has no unit",
            "set `area_unit` at the top of the file, e.g. to um2 or LUT",
        ));
    }
    Ok(figure)
}

const HELP: &str = "a number, a formula, e.g. \"0.21 / 32 * bits\", with + - * / ( ) ceil floor log2 sqrt \
                    min max linear, or a table: {by: [bits], rows: [[8, 10], [9, 11]]}";

fn variable(name: &str, part: Part) -> Result<Variable, String> {
    let known = part.variables();
    known.iter().copied().find(|variable| variable.name() == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|variable| variable.name()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("uses the unknown variable `{name}`; the variables here are: {names}")
    })
}

fn checked_range(
    file: &RangeFile,
    part: Part,
    wrong: impl Fn(&str) -> HwError,
) -> Result<(Variable, [f64; 2]), HwError> {
    let of = variable(&file.of, part).map_err(|message| wrong(&message))?;
    let bounds = [file.from.unwrap_or(0.0), file.to.unwrap_or(f64::MAX)];
    if bounds.iter().all(|bound| bound.is_finite()) && bounds[0] <= bounds[1] {
        Ok((of, bounds))
    } else {
        Err(wrong("is not a valid range: both bounds must be numbers, and `from` must not exceed `to`"))
    }
}

fn checked_formula(file: FormulaFile, part: Part) -> Result<Formula, String> {
    let TableFile { by, rows } = match file {
        FormulaFile::Text(text) => {
            let parsed = Expression::parse(&text, part.variables()).map_err(|error| error.to_string())?;
            // A formula of variables that is negative somewhere has no value there.
            return match parsed.value(&|_| None) {
                Some(value) if value < 0.0 => Err(format!("is {value}, but no cost is negative")),
                _ => Ok(Formula::Expression(parsed)),
            };
        }
        FormulaFile::Table(table) => table,
    };
    let by = by.0.iter().map(|name| variable(name, part)).collect::<Result<Vec<_>, _>>()?;
    let count = rows.0.len();
    let row = |row: Vec<f64>| {
        let (value, point) = row.split_last().filter(|(_, point)| point.len() == by.len())?;
        let point = point.iter().map(|&place| whole(place)).collect::<Option<Vec<u64>>>()?;
        (value.is_finite() && *value >= 0.0).then_some((point, *value))
    };
    let rows: Option<std::collections::BTreeMap<Vec<u64>, f64>> =
        rows.0.into_iter().map(|list| row(list.0)).collect();
    match rows {
        Some(rows) if rows.len() == count && count > 0 => Ok(Formula::Table { by, rows }),
        _ => Err(format!(
            "is not a valid table: expected one or more rows of {} whole numbers and a value of at least 0, \
             without duplicate points",
            by.len()
        )),
    }
}
