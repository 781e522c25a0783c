//! A reader of the FlatBuffers wire format for untrusted files.
//!
//! Every access is checked against the file. The reader allocates nothing and does not recurse: it reads a table
//! field by field, on demand. All integers are little-endian. A table starts with a signed distance back to its
//! vtable. The vtable holds its own size, the table's size and the offset of every field, which is 0 for an absent
//! field. Vectors and strings are a 32-bit length followed by their elements. Everything but scalars is referenced by
//! an unsigned forward distance. Source: "FlatBuffers internals", flatbuffers.dev.

use std::marker::PhantomData;

/// Error for a position in the file that violates the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlatbufferError {
    /// A value lies outside of the file.
    #[error("{field} at byte {at} needs {size} bytes, the file ends at byte {len}")]
    OutOfBounds {
        /// The field.
        field: &'static str,
        /// Its position.
        at: usize,
        /// Its size in bytes.
        size: usize,
        /// Length of the file.
        len: usize,
    },
    /// The list of fields of a table has an impossible size.
    #[error("{field}: the list of fields at byte {at} has the impossible size {size}")]
    Vtable {
        /// The field.
        field: &'static str,
        /// Position of the list.
        at: usize,
        /// Its size in bytes.
        size: usize,
    },
    /// A string is not UTF-8.
    #[error("{field} at byte {at} is not UTF-8")]
    Utf8 {
        /// The field.
        field: &'static str,
        /// Position of the string.
        at: usize,
    },
}

/// A field of a table: its number in the schema, and its name for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field(pub usize, pub &'static str);

/// A table in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    file: &'a [u8],
    at: usize,
    vtable: &'a [u8],
}

/// A vector of scalars.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vector<'a, T> {
    bytes: &'a [u8],
    scalar: PhantomData<T>,
}

/// A vector of tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables<'a> {
    file: &'a [u8],
    at: usize,
    len: usize,
    name: &'static str,
}

impl<'a> Table<'a> {
    /// Returns the root table of a file.
    pub fn root(file: &'a [u8], name: &'static str) -> Result<Self, FlatbufferError> {
        Self::behind(file, 0, name)
    }

    /// Returns a scalar, or its default in the schema if it is absent.
    pub fn scalar<T: Scalar>(&self, Field(slot, name): Field, default: T) -> Result<T, FlatbufferError> {
        match self.place(slot) {
            Some(at) => slice(self.file, at, T::SIZE, name).map(T::read),
            None => Ok(default),
        }
    }

    /// Returns a table, if present.
    pub fn table(&self, Field(slot, name): Field) -> Result<Option<Self>, FlatbufferError> {
        self.place(slot).map(|at| Self::behind(self.file, at, name)).transpose()
    }

    /// Returns a vector of scalars, if present.
    pub fn vector<T: Scalar>(
        &self,
        Field(slot, name): Field,
    ) -> Result<Option<Vector<'a, T>>, FlatbufferError> {
        let Some(at) = self.place(slot) else { return Ok(None) };
        let (at, len) = vector(self.file, at, name)?;
        let bytes = slice(self.file, at, len.saturating_mul(T::SIZE), name)?;
        Ok(Some(Vector { bytes, scalar: PhantomData }))
    }

    /// Returns a vector of tables. It is empty if absent.
    pub fn tables(&self, Field(slot, name): Field) -> Result<Tables<'a>, FlatbufferError> {
        let Some(at) = self.place(slot) else { return Ok(Tables { file: self.file, at: 0, len: 0, name }) };
        let (at, len) = vector(self.file, at, name)?;
        slice(self.file, at, len.saturating_mul(u32::SIZE), name)?;
        Ok(Tables { file: self.file, at, len, name })
    }

    /// Returns a string. It is empty if absent.
    pub fn string(&self, Field(slot, name): Field) -> Result<&'a str, FlatbufferError> {
        let Some(at) = self.place(slot) else { return Ok("") };
        let (at, len) = vector(self.file, at, name)?;
        let bytes = slice(self.file, at, len, name)?;
        std::str::from_utf8(bytes).map_err(|_| FlatbufferError::Utf8 { field: name, at })
    }

    /// Returns the table that the offset at byte `at` points to.
    fn behind(file: &'a [u8], at: usize, name: &'static str) -> Result<Self, FlatbufferError> {
        let at = at.saturating_add(scalar::<u32>(file, at, name)? as usize);
        let distance = i64::from(scalar::<i32>(file, at, name)?);
        let vtable = usize::try_from(at as i64 - distance).unwrap_or(usize::MAX);
        let size = usize::from(scalar::<u16>(file, vtable, name)?);
        if size < VTABLE_HEAD || !size.is_multiple_of(u16::SIZE) {
            return Err(FlatbufferError::Vtable { field: name, at: vtable, size });
        }
        let fields = slice(file, vtable, size, name)?;
        Ok(Self { file, at, vtable: &fields[VTABLE_HEAD..] })
    }

    /// Returns the position of field `slot`, if present.
    fn place(&self, slot: usize) -> Option<usize> {
        let offset = self.vtable.get(slot * u16::SIZE..(slot + 1) * u16::SIZE).map(u16::read)?;
        (offset != 0).then(|| self.at.saturating_add(offset.into()))
    }
}

impl<'a, T: Scalar> Vector<'a, T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Returns the elements.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        self.bytes.chunks_exact(T::SIZE).map(T::read)
    }
}

impl<'a> Vector<'a, u8> {
    /// Returns the bytes of the vector in the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> Tables<'a> {
    /// Returns the number of tables.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns table `index`, or `None` beyond the end.
    pub fn get(&self, index: usize) -> Result<Option<Table<'a>>, FlatbufferError> {
        let table = || Table::behind(self.file, self.at + index * u32::SIZE, self.name);
        (index < self.len).then(table).transpose()
    }
}

/// A number in the form that it has in the file.
pub(crate) trait Scalar: Copy {
    /// Size in bytes.
    const SIZE: usize;

    /// Returns the number in exactly [`SIZE`](Self::SIZE) bytes.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! scalars {
    ($($ty:ty),*) => {
        $(impl Scalar for $ty {
            const SIZE: usize = size_of::<$ty>();

            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("callers cut out exactly SIZE bytes"))
            }
        })*
    };
}

scalars!(i8, u8, i16, u16, i32, u32, i64, u64, f32);

/// Size in bytes of the first two entries of a vtable: its own size and that of the table.
const VTABLE_HEAD: usize = 4;

fn slice<'a>(
    file: &'a [u8],
    at: usize,
    size: usize,
    field: &'static str,
) -> Result<&'a [u8], FlatbufferError> {
    let bytes = at.checked_add(size).and_then(|end| file.get(at..end));
    bytes.ok_or(FlatbufferError::OutOfBounds { field, at, size, len: file.len() })
}

fn scalar<T: Scalar>(file: &[u8], at: usize, field: &'static str) -> Result<T, FlatbufferError> {
    slice(file, at, T::SIZE, field).map(T::read)
}

/// Returns position and length of the vector that the offset at byte `at` points to.
fn vector(file: &[u8], at: usize, field: &'static str) -> Result<(usize, usize), FlatbufferError> {
    let at = at.saturating_add(scalar::<u32>(file, at, field)? as usize);
    let len = scalar::<u32>(file, at, field)? as usize;
    Ok((at + u32::SIZE, len))
}
