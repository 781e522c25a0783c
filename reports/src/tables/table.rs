//! What a table is: one macro makes the type of its rows, its columns, and what `docs/columns.md` says of them.

use guardbit_sim::Needs;
use serde::Serialize;

use crate::{Decibel, Fraction, Width};

/// One row of a table. Its fields, in order, are the cells.
pub trait Row: Serialize {
    /// Name of the file.
    const FILE: &'static str;
    /// What a row tells of.
    const ABOUT: &'static str;
    /// The columns.
    const COLUMNS: &'static [Column];
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name in the header.
    pub name: &'static str,
    /// What its cells are.
    pub kind: &'static str,
    /// As what typed tables (Parquet, frames of Python) store it.
    pub stored: Stored,
    /// Whether a cell can be blank.
    pub optional: bool,
    /// Unit of its cells, where they have one.
    pub unit: &'static str,
    /// The columns whose quotient the cells are, rounded: part and whole.
    pub share_of: Option<[&'static str; 2]>,
    /// What has to be counted for it.
    pub needs: Needs,
    /// In which of the rows of a layer it stands; empty if in all of them.
    pub rows: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// How a typed table stores a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Integer of 64 bits.
    Int64,
    /// Decimal of 38 digits, none of them behind the point: integers of 128 bits, exact.
    Decimal,
    /// IEEE-754 double.
    Double,
    /// True or false.
    Boolean,
    /// UTF-8.
    Text,
    /// A width: a whole number, or `auto`.
    Width,
}

/// What a cell can hold.
pub(super) trait Cell {
    const KIND: &'static str;
    const STORED: Stored;
    const OPTIONAL: bool = false;
}

macro_rules! cells {
    ($($ty:ty: $kind:literal, $stored:ident)*) => {$(
        impl Cell for $ty {
            const KIND: &'static str = $kind;
            const STORED: Stored = Stored::$stored;
        }
    )*};
}

cells! {
    u32: "whole number", Int64
    u64: "whole number", Int64
    u128: "whole number", Decimal
    usize: "whole number", Int64
    i128: "integer", Decimal
    f64: "number", Double
    bool: "true or false", Boolean
    String: "text", Text
    Fraction: "share, 0 to 1", Double
    Decibel: "number, inf or -inf", Double
    Width: "whole number or auto", Width
}

impl<T: Cell> Cell for Option<T> {
    const KIND: &'static str = T::KIND;
    const STORED: Stored = T::STORED;
    const OPTIONAL: bool = true;
}

/// Makes the type of a table's rows. A field is `name: type`, with its unit in brackets if it has one, then what it
/// needs and in which rows of a layer it stands; behind a share stand the columns whose quotient it is, `= part / whole`.
macro_rules! table {
    (
        $file:literal
        $(#[doc = $about:literal])*
        $(#[derive($derive:ident)])?
        $row:ident {
            $(
                $(#[doc = $doc:literal])*
                $name:ident: $ty:ty $([$unit:literal $(, $needs:ident, $rows:literal)?])? $(= $part:ident / $whole:ident)?,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[derive($derive)])?
        pub struct $row {
            $(
                $(#[doc = $doc])*
                pub $name: $ty,
            )*
        }

        impl $crate::tables::Row for $row {
            const FILE: &'static str = $file;
            const ABOUT: &'static str = concat!($($about),*);
            const COLUMNS: &'static [$crate::tables::Column] = &[$(
                $crate::tables::Column::new::<$ty>(stringify!($name), concat!($($doc),*))
                    $(.unit($unit)$(.counted(guardbit_sim::Needs::$needs, $rows))?)?
                    $(.share_of(stringify!($part), stringify!($whole)))?,
            )*];
        }
    };
}

pub(super) use table;

impl Column {
    /// A column of that type.
    pub(super) const fn new<C: Cell>(name: &'static str, meaning: &'static str) -> Self {
        let (kind, stored, optional) = (C::KIND, C::STORED, C::OPTIONAL);
        Self {
            name,
            kind,
            stored,
            optional,
            unit: "",
            share_of: None,
            needs: Needs::Nothing,
            rows: "",
            meaning,
        }
    }

    /// With a unit.
    pub(super) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// As the rounded quotient of two columns.
    pub(super) const fn share_of(mut self, part: &'static str, whole: &'static str) -> Self {
        self.share_of = Some([part, whole]);
        self
    }

    /// With what it needs, and in which rows of a layer it stands.
    pub(super) const fn counted(mut self, needs: Needs, rows: &'static str) -> Self {
        (self.needs, self.rows) = (needs, rows);
        self
    }
}
