//! Tables as Parquet files: the cells of the CSV file with types.

use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int64Type,
};
pub use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};

use super::table::Stored;
use super::{Cells, Row};
use crate::ReportError;

/// Number of digits of a [`Stored::Decimal`].
const DIGITS: i32 = 38;
/// Number of bytes of a [`Stored::Decimal`].
const DECIMAL_BYTES: i32 = 16;

/// Returns the Parquet file of `rows`: the columns of the table, then those of `more`. Each column of `more`
/// holds its name, then one cell per row; it is stored as integers or numbers if all of its cells are.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized, [`ReportError::Parquet`] for a value that its column
/// cannot hold.
pub(crate) fn write_parquet<R: Row>(rows: &[R], more: &[Vec<String>]) -> Result<Vec<u8>, ReportError> {
    let cells = Cells::new(rows)?;
    let own = R::COLUMNS.iter().map(|column| TypedColumn {
        name: column.name,
        stored: column.stored,
        optional: column.optional,
        cells: (0..cells.len()).map(|row| cells.get(row, column.name)).collect(),
    });
    let axes = more.iter().filter_map(|column| TypedColumn::of_axis(column));
    let columns: Vec<TypedColumn<'_>> = own.chain(axes).collect();
    write(&columns).map_err(|source| ReportError::Parquet { table: R::FILE, source })
}

/// Column that is being written to a file.
struct TypedColumn<'a> {
    name: &'a str,
    stored: Stored,
    optional: bool,
    cells: Vec<&'a str>,
}

impl<'a> TypedColumn<'a> {
    /// Returns name and values of an axis.
    fn of_axis(column: &'a [String]) -> Option<Self> {
        let (name, cells) = column.split_first()?;
        let all = |is: fn(&str) -> bool| !cells.is_empty() && cells.iter().all(|cell| is(cell));
        let stored = if all(|cell| cell.parse::<i64>().is_ok()) {
            Stored::Int64
        } else if all(|cell| cell.parse::<f64>().is_ok()) {
            Stored::Double
        } else {
            Stored::Text
        };
        Some(Self { name, stored, optional: false, cells: cells.iter().map(String::as_str).collect() })
    }

    fn ty(&self) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match self.stored {
            Stored::Int64 => (Physical::INT64, None),
            Stored::Decimal => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::decimal(0, DIGITS))),
            Stored::Double => (Physical::DOUBLE, None),
            Stored::Boolean => (Physical::BOOLEAN, None),
            Stored::Text | Stored::Width => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(self.name, physical)
            .with_repetition(if self.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED })
            .with_logical_type(logical);
        let builder = match self.stored {
            Stored::Decimal => builder.with_length(DECIMAL_BYTES).with_precision(DIGITS).with_scale(0),
            _ => builder,
        };
        Ok(Arc::new(builder.build()?))
    }

    /// Writes the cells as values of `T`.
    fn write<T: DataType>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        value: impl Fn(&str) -> Option<T::T>,
    ) -> Result<(), ParquetError> {
        let there: Vec<bool> = self.cells.iter().map(|cell| !self.optional || !cell.is_empty()).collect();
        let present = self.cells.iter().zip(&there).filter(|(_, there)| **there);
        let value = |cell: &str| {
            value(cell)
                .ok_or_else(|| ParquetError::General(format!("column `{}` cannot store {cell}", self.name)))
        };
        let values: Vec<T::T> = present.map(|(cell, _)| value(cell)).collect::<Result<_, _>>()?;
        let levels: Vec<i16> = there.into_iter().map(i16::from).collect();
        let mut column =
            group.next_column()?.ok_or_else(|| ParquetError::General("no column is left".into()))?;
        column.typed::<T>().write_batch(&values, self.optional.then_some(&levels[..]), None)?;
        column.close()
    }

    fn write_to(&self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<(), ParquetError> {
        match self.stored {
            Stored::Int64 => self.write::<Int64Type>(group, |cell| cell.parse().ok()),
            Stored::Decimal => self.write::<FixedLenByteArrayType>(group, decimal),
            Stored::Double => self.write::<DoubleType>(group, |cell| cell.parse().ok()),
            Stored::Boolean => self.write::<BoolType>(group, |cell| cell.parse().ok()),
            Stored::Text | Stored::Width => {
                self.write::<ByteArrayType>(group, |cell| Some(ByteArray::from(cell)))
            }
        }
    }
}

/// Parses an integer of at most [`DIGITS`] digits as big-endian two's complement.
fn decimal(cell: &str) -> Option<FixedLenByteArray> {
    let value: i128 = cell.parse().ok()?;
    let fits = value.unsigned_abs() < 10u128.pow(DIGITS as u32);
    fits.then(|| FixedLenByteArray::from(value.to_be_bytes().to_vec()))
}

fn write(columns: &[TypedColumn<'_>]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(TypedColumn::ty).collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_created_by("guardbit".into())
        .set_compression(Compression::UNCOMPRESSED)
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    columns.iter().try_for_each(|column| column.write_to(&mut group))?;
    group.close()?;
    file.into_inner()
}
