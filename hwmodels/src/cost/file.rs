//! Content of a cost model's file.

use std::borrow::Cow;
use std::fmt;

use guardbit_documents::List;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use super::parts::Part;

/// Greatest number of figures of a model, and of rows of a table.
pub(super) const MOST_FIGURES: usize = 64;
const MOST_ROWS: usize = 4096;
/// Greatest number of columns of a table.
const MOST_COLUMNS: usize = 4;

/// Figures for energy and area of the parts of an accelerator, for `--cost`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "guardbit cost model")]
pub(super) struct CostFile {
    /// Version of this file format: 1.
    #[schemars(extend("const" = 1))]
    pub schema: u32,
    /// Name in tables and reports. The file's name without extension by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Line in the list of models.
    #[serde(default)]
    pub description: Option<String>,
    /// Where the figures are from.
    pub source: String,
    /// Unit of all areas, e.g. um2 or LUT. Areas need it.
    #[serde(default)]
    pub area_unit: Option<String>,
    /// Technology of the figures in nm, which `@16nm` and `with` need.
    #[serde(default)]
    #[schemars(range(min = 7.0, max = 130.0))]
    pub node_nm: Option<f64>,
    /// What the figures do not include, in words.
    #[serde(default)]
    pub leaves_out: Option<String>,
    /// Built-in models of the same `node_nm` and `area_unit`, whose figures follow the file's own.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub with: Option<List<String, 8>>,
    /// The first figure that fits a part counts; for whole arrays all figures that fit.
    #[schemars(with = "Vec<FigureFile>", length(min = 1))]
    pub figures: Figures,
}

/// Energy, area or flip-flops of one kind of part; at least one of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["energy_pj"] }, { "required": ["area"] }, { "required": ["flip_flops"] }]))]
pub(super) struct FigureFile {
    /// Kind of the part.
    #[schemars(extend("enum" = Part::ALL.map(Part::name)))]
    pub part: String,
    /// Only the part with this name: a level or a memory. For arrays, what the figure describes.
    #[serde(default)]
    pub of: Option<String>,
    /// Only parts with one of these overflow modes.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub overflow: Option<List<String, 16>>,
    /// Only levels of one of these kinds.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub reduce: Option<List<String, 16>>,
    /// Only parts whose variables are within these bounds.
    #[serde(default)]
    #[schemars(with = "Option<Vec<RangeFile>>")]
    pub range: Option<List<RangeFile, 8>>,
    /// Energy of one access in pJ.
    #[serde(default)]
    pub energy_pj: Option<FormulaFile>,
    /// Area of one instance in `area_unit`.
    #[serde(default)]
    pub area: Option<FormulaFile>,
    /// Flip-flops of one instance.
    #[serde(default)]
    pub flip_flops: Option<FormulaFile>,
    /// Whether `@16nm` scales it. True by default, except for memories.
    #[serde(default)]
    pub scales: Option<bool>,
    /// Where the figure is from.
    pub source: String,
    /// Remark on the figure.
    #[serde(default)]
    pub note: Option<String>,
}

/// Bounds of a variable, both included.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RangeFile {
    /// The variable.
    pub of: String,
    /// Least value, 0 by default.
    #[serde(default)]
    pub from: Option<f64>,
    /// Greatest value, unlimited by default.
    #[serde(default)]
    pub to: Option<f64>,
}

/// Number, formula or table.
#[derive(Debug)]
pub(super) enum FormulaFile {
    Text(String),
    Table(TableFile),
}

impl JsonSchema for FormulaFile {
    fn schema_name() -> Cow<'static, str> {
        "FormulaFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<TableFile>();
        json_schema!({
            "description": "A number of at least 0, a formula of the part's variables, or a table.",
            "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string" }, table],
        })
    }
}

/// Values at measured points only.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    /// Variables of the first columns.
    #[schemars(with = "Vec<String>", length(max = 4))]
    pub by: List<String, MOST_COLUMNS>,
    /// Values of the variables, followed by the result.
    #[schemars(with = "Vec<Vec<f64>>", length(min = 1))]
    pub rows: List<List<f64, MOST_COLUMNS>, MOST_ROWS>,
}

/// Returns the schema of cost models (draft 2020-12) as text, which equals the committed `cost.schema.json`.
pub fn cost_schema() -> String {
    guardbit_files::schema_text::<CostFile>(|_| ())
}

pub(super) type Figures = List<FigureFile, MOST_FIGURES>;

impl<'de> Deserialize<'de> for FormulaFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Formula;

        impl<'de> Visitor<'de> for Formula {
            type Value = FormulaFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a formula in quotes, or a map with `by` and `rows`")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<FormulaFile, E> {
                Ok(FormulaFile::Text(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<FormulaFile, E> {
                Ok(FormulaFile::Text(number.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<FormulaFile, E> {
                Ok(FormulaFile::Text(number.to_string()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<FormulaFile, E> {
                Ok(FormulaFile::Text(text.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<FormulaFile, A::Error> {
                let table = TableFile::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(FormulaFile::Table(table))
            }
        }

        deserializer.deserialize_any(Formula)
    }
}
