//! Finished results side by side.

use serde::Serialize;

/// Results side by side. Every list of values has one value per folder, in their order; empty if a folder has none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Comparison {
    /// Command that wrote all of them.
    pub command: String,
    /// Folders as they were named.
    pub folders: Vec<String>,
    /// Settings, inputs and accelerator keys that differ.
    pub settings: Vec<Compared>,
    /// Overall figures that differ.
    pub totals: Vec<Compared>,
    /// Columns that identify rows: layer and level, or the axes that all folders name.
    pub axes: Vec<String>,
    /// Figures of layers, levels or points present in all folders, if they differ.
    pub rows: Vec<ComparedRow>,
    /// Number of figures that are equal in all folders.
    pub same: usize,
    /// Rows missing in some folders, by their identifying values.
    pub unmatched: Vec<String>,
    /// Shortest ends of the folders' paths that distinguish them, for pages.
    #[serde(skip)]
    pub names: Vec<String>,
    /// Overall figures that are equal in all folders, for pages.
    #[serde(skip)]
    pub equal_totals: Vec<Compared>,
    /// Columns of [`points`](Self::points).
    #[serde(skip)]
    pub columns: Vec<String>,
    /// All rows that all folders have, with equal figures too, for pages.
    #[serde(skip)]
    pub points: Vec<ComparedPoint>,
}

/// Setting or figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Its value in every folder.
    pub values: Vec<String>,
}

/// A figure of a row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedRow {
    /// Identifier of the row: the layer and its level, or the point.
    pub row: String,
    /// The column.
    pub column: String,
    /// Its value in every folder.
    pub values: Vec<String>,
}

/// Layer, level or point that all folders have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedPoint {
    /// Its identifier.
    pub name: String,
    /// Its values of [`Comparison::axes`].
    pub key: Vec<String>,
    /// Values of every folder, for each of [`Comparison::columns`].
    pub values: Vec<Vec<String>>,
}
