//! Content of a cost model's file.

use std::fmt;

use guardbit_documents::List;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Greatest number of figures of a model, and of rows of a table.
pub(super) const MOST_FIGURES: usize = 64;
const MOST_ROWS: usize = 4096;
/// Greatest number of columns of a table.
const MOST_COLUMNS: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CostFile {
    pub schema: u32,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    pub source: String,
    #[serde(default)]
    pub area_unit: Option<String>,
    #[serde(default)]
    pub node_nm: Option<f64>,
    #[serde(default)]
    pub leaves_out: Option<String>,
    /// Built-in models whose figures follow the file's own.
    #[serde(default)]
    pub with: Option<List<String, 8>>,
    pub figures: Figures,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureFile {
    pub part: String,
    #[serde(default)]
    pub of: Option<String>,
    #[serde(default)]
    pub overflow: Option<List<String, 16>>,
    #[serde(default)]
    pub reduce: Option<List<String, 16>>,
    #[serde(default)]
    pub range: Option<List<RangeFile, 8>>,
    #[serde(default)]
    pub energy_pj: Option<FormulaFile>,
    #[serde(default)]
    pub area: Option<FormulaFile>,
    #[serde(default)]
    pub flip_flops: Option<FormulaFile>,
    #[serde(default)]
    pub scales: Option<bool>,
    pub source: String,
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RangeFile {
    pub of: String,
    #[serde(default)]
    pub from: Option<f64>,
    #[serde(default)]
    pub to: Option<f64>,
}

/// Number, formula or table.
#[derive(Debug)]
pub(super) enum FormulaFile {
    Text(String),
    Table(TableFile),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    /// Variables of the first columns.
    pub by: List<String, MOST_COLUMNS>,
    /// Values of the variables, followed by the result.
    pub rows: List<List<f64, MOST_COLUMNS>, MOST_ROWS>,
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
