//! Stands in for Parquet files in builds without the feature `parquet`.

use super::Row;
use crate::ReportError;

/// Error: this build does not write Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this build does not write Parquet: build it with the feature `parquet`")]
pub struct ParquetError;

/// Returns an error instead of the Parquet file of `rows`.
///
/// # Errors
/// [`ReportError::Parquet`], always.
pub(crate) fn write_parquet<R: Row>(_rows: &[R], _more: &[Vec<String>]) -> Result<Vec<u8>, ReportError> {
    Err(ReportError::Parquet { table: R::FILE, source: ParquetError })
}
