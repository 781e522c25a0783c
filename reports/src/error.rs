//! What can go wrong while results are made.

use guardbit_graph::DType;

/// Why a result could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A table could not be made.
    #[error("cannot make {table}: {source}")]
    Table {
        /// Name of the table.
        table: &'static str,
        /// Why.
        source: csv::Error,
    },
    /// A value that its column of a Parquet file cannot hold.
    #[error("cannot make {table} as Parquet: {source}")]
    Parquet {
        /// Name of the table.
        table: &'static str,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A plot could not be drawn.
    #[error("cannot draw plot `{plot}`: {problem}")]
    Plot {
        /// Name of the plot.
        plot: &'static str,
        /// Why.
        problem: String,
    },
    /// An array could not be put into an archive.
    #[error("cannot store array `{array}`: {source}")]
    Npz {
        /// Name of the array.
        array: String,
        /// Why.
        source: NpzError,
    },
}

/// Why an array could not be put into an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// The archive.
    #[error(transparent)]
    Zip(#[from] zip::result::ZipError),
    /// What the system says.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A code that its dtype cannot hold.
    #[error("code {code} at index {index} is outside {dtype}")]
    Code {
        /// The code.
        code: i32,
        /// Its flat index.
        index: usize,
        /// The dtype.
        dtype: DType,
    },
    /// A number of codes that is not that of the shape.
    #[error("shape {shape:?} needs {expected} codes, found {found}")]
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// Product of the shape.
        expected: usize,
        /// Number of codes given.
        found: usize,
    },
}

impl ReportError {
    /// A stable code for this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Table { .. } => "guardbit::reports::table",
            Self::Parquet { .. } => "guardbit::reports::parquet",
            Self::Plot { .. } => "guardbit::reports::plot",
            Self::Npz { .. } => "guardbit::reports::npz",
        }
    }
}
