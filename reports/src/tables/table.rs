//! Definition of a table: one macro declares the type of its rows, its columns, and their entries in
//! `docs/reference/columns.md`.

use guardbit_sim::Needs;
use serde::Serialize;

use crate::{Decibel, Fraction, Width};

/// Row of a table. Its fields, in order, are the cells.
pub trait Row: Serialize {
    /// Name of the file.
    const FILE: &'static str;
    /// Subject of a row.
    const ABOUT: &'static str;
    /// The columns.
    const COLUMNS: &'static [Column];
}

/// Column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name in the header.
    pub name: &'static str,
    /// Type of its cells.
    pub kind: &'static str,
    /// Type in typed tables (Parquet, data frames in Python).
    pub stored: Stored,
    /// Whether a cell can be blank.
    pub optional: bool,
    /// Unit of its cells; empty without one.
    pub unit: &'static str,
    /// Columns of numerator and denominator if the cells are a rounded quotient.
    pub share_of: Option<[&'static str; 2]>,
    /// Statistics that must be counted for this column.
    pub needs: Needs,
    /// Rows of a layer that contain the column; empty if all of them do.
    pub rows: &'static str,
    /// Meaning of the column.
    pub meaning: &'static str,
}

/// Type of a cell in a typed table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// 64-bit integer.
    Int64,
    /// Decimal of 38 digits without a fraction, which holds 128-bit integers exactly within that range.
    Decimal,
    /// IEEE-754 double.
    Double,
    /// Boolean.
    Boolean,
    /// UTF-8 text.
    Text,
    /// Width: a whole number, or `auto`.
    Width,
}

/// Type that a cell can hold.
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

/// Declares the type of a table's rows. A field is `name: type`, followed in brackets by its unit if it has
/// one, the statistics that it needs, and the rows of a layer that contain it. A share ends with the columns
/// of its quotient: `= part / whole`.
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

/// Returns the columns of a table of all points: one that names the point, then those of a point's own table.
///
/// # Panics
/// Unless `N` is one more than the number of the point's own columns.
pub(super) const fn after_point<const N: usize>(own: &[Column]) -> [Column; N] {
    assert!(N == 1 + own.len());
    let mut all = [Column::new::<usize>("point", "The point: row of `summary.csv`, from 0."); N];
    let mut i = 1;
    while i < N {
        all[i] = own[i - 1];
        i += 1;
    }
    all
}

impl Column {
    /// Creates a column of cells of type `C`.
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

    /// Sets the unit.
    pub(super) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Marks the column as the rounded quotient of two columns.
    pub(super) const fn share_of(mut self, part: &'static str, whole: &'static str) -> Self {
        self.share_of = Some([part, whole]);
        self
    }

    /// Sets the statistics that the column needs, and the rows of a layer that contain it.
    pub(super) const fn counted(mut self, needs: Needs, rows: &'static str) -> Self {
        (self.needs, self.rows) = (needs, rows);
        self
    }
}
