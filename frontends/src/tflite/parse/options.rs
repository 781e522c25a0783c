//! Options of operators.

use guardbit_graph::{Activation, Padding};

use super::error::{OperatorPlace, TfliteError};
use super::flatbuffer::{Field, Scalar, Table};

/// The options of an operator. An absent field has its default.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    pub(super) table: Option<Table<'a>>,
    pub(super) place: OperatorPlace,
}

impl Options<'_> {
    /// Returns a scalar, or its default.
    pub fn scalar<T: Scalar>(&self, field: Field, default: T) -> Result<T, TfliteError> {
        Ok(self.table.map_or(Ok(default), |table| table.scalar(field, default))?)
    }

    /// Returns a flag.
    pub fn flag(&self, field: Field, default: bool) -> Result<bool, TfliteError> {
        Ok(self.scalar::<u8>(field, default.into())? != 0)
    }

    /// Returns a text. It is empty if absent.
    pub fn text(&self, field: Field) -> Result<&str, TfliteError> {
        Ok(self.table.map_or(Ok(""), |table| table.string(field))?)
    }

    /// Returns a size, an integer that must not be negative.
    pub fn size(&self, field: Field, default: i32) -> Result<usize, TfliteError> {
        let value: i32 = self.scalar(field, default)?;
        usize::try_from(value).map_err(|_| self.error(format!("{} is {value}", field.1)))
    }

    /// Returns a list of integers, or `None` if it is absent.
    pub fn integers(&self, field: Field) -> Result<Option<Vec<i64>>, TfliteError> {
        const MOST: usize = 8;
        let Some(vector) = self.table.map(|table| table.vector::<i32>(field)).transpose()?.flatten() else {
            return Ok(None);
        };
        if vector.len() > MOST {
            return Err(self.error(format!(
                "{} has {} values; expected at most {MOST}",
                field.1,
                vector.len()
            )));
        }
        Ok(Some(vector.iter().map(i64::from).collect()))
    }

    /// Returns the padding rule.
    pub fn padding(&self, field: Field) -> Result<Padding, TfliteError> {
        match self.scalar::<i8>(field, 0)? {
            0 => Ok(Padding::Same),
            1 => Ok(Padding::Valid),
            other => Err(self.error(format!("{} is {other}, expected 0 (SAME) or 1 (VALID)", field.1))),
        }
    }

    /// Returns the fused activation.
    pub fn activation(&self, field: Field) -> Result<Activation, TfliteError> {
        match self.scalar::<i8>(field, 0)? {
            0 => Ok(Activation::None),
            1 => Ok(Activation::Relu),
            2 => Ok(Activation::ReluN1To1),
            3 => Ok(Activation::Relu6),
            other => {
                let name = match other {
                    4 => "TANH".into(),
                    5 => "SIGN_BIT".into(),
                    _ => format!("number {other}"),
                };
                Err(self.error(format!("the fused activation {name} is not supported")))
            }
        }
    }

    /// Returns an error that names the operator.
    pub fn error(&self, problem: String) -> TfliteError {
        TfliteError::Operator { place: self.place.clone(), problem }
    }
}
