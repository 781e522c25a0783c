//! Errors that occur while results are written.

use guardbit_graph::DType;

use crate::tables::ParquetError;

/// Reason why a result could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A table could not be written.
    #[error("cannot write {table}: {source}")]
    Table {
        /// Name of the table.
        table: &'static str,
        /// Underlying error.
        source: csv::Error,
    },
    /// A Parquet column cannot hold a value.
    #[error("cannot write {table} as Parquet: {source}")]
    Parquet {
        /// Name of the table.
        table: &'static str,
        /// Underlying error.
        source: ParquetError,
    },
    /// A plot could not be drawn.
    #[error("cannot draw plot `{plot}`: {problem}")]
    Plot {
        /// Name of the plot.
        plot: &'static str,
        /// Description of the problem.
        problem: String,
    },
    /// An array could not be added to an archive.
    #[error("cannot store array `{array}`: {source}")]
    Npz {
        /// Name of the array.
        array: String,
        /// Underlying error.
        source: NpzError,
    },
}

/// Reason why an array could not be added to an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// The archive could not be written.
    #[error(transparent)]
    Zip(#[from] zip::result::ZipError),
    /// An input or output operation failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A code lies outside the range of its dtype.
    #[error("code {code} at index {index} is outside {dtype}")]
    Code {
        /// The code.
        code: i32,
        /// Its flat index.
        index: usize,
        /// The dtype.
        dtype: DType,
    },
    /// The number of codes does not match the shape.
    #[error("shape {shape:?} needs {expected} codes, but there are {found}")]
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
    /// Returns a stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Table { .. } => "guardbit::reports::table",
            Self::Parquet { .. } => "guardbit::reports::parquet",
            Self::Plot { .. } => "guardbit::reports::plot",
            Self::Npz { .. } => "guardbit::reports::npz",
        }
    }

    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Parquet { .. } => "leave out --format parquet: the CSV tables hold all values",
            Self::Table { .. } | Self::Plot { .. } | Self::Npz { .. } => {
                "this is a fault of guardbit: please report it with the command and its files"
            }
        }
    }
}
