//! Arrays of NumPy: header and elements of `.npy` files.
//!
//! The header is a Python dict of three keys, written by `numpy.lib.format`: `{'descr': '<i4', 'fortran_order':
//! False, 'shape': (2, 3), }`. The parser accepts nothing else and does not recurse. Source: the `.npy` format,
//! versions 1.0 to 3.0 (NEP 1 and `numpy.lib.format`).

use std::io::{self, Read};

use guardbit_files::{NPY_MAGIC, npy_header};
use guardbit_graph::{Constant, DType, brief};

/// Maximum length of a header in bytes, NumPy's own limit (`max_header_size`).
pub const MAX_HEADER: usize = 10_000;

/// Maximum number of axes of an array, NumPy's own limit.
pub const MAX_AXES: usize = 64;

/// Error for an array that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The error of the operating system.
    #[error(transparent)]
    Io(io::Error),
    /// The problem of the header or an element.
    #[error("{0}")]
    Contents(String),
}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => contents("ends before its array does"),
            _ => Self::Io(error),
        }
    }
}

/// The header of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Sizes.
    pub shape: Vec<usize>,
    /// Whether the first axis varies fastest.
    pub fortran: bool,
    /// Type of the elements.
    pub element: Element,
    /// Length of the header in bytes, which is the offset of the first element.
    pub length: u64,
}

/// The type of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    kind: Kind,
    bytes: usize,
    big_endian: bool,
    name: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
    Bool,
}

/// Elements in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Integers.
    Integers(Vec<i64>),
    /// Real numbers.
    Float32(Vec<f32>),
    /// Any other elements, whose values nothing uses.
    Other,
}

impl Header {
    /// Reads the header at the start of an array.
    ///
    /// # Errors
    /// [`NpyError`] if there is no header of NumPy.
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        if &start[..6] != NPY_MAGIC {
            return Err(contents("is not a NumPy array: its first bytes are wrong"));
        }
        let (length, field) = match start[6..] {
            [1, 0] => {
                let mut length = [0; 2];
                reader.read_exact(&mut length)?;
                (usize::from(u16::from_le_bytes(length)), 2)
            }
            [2 | 3, 0] => {
                let mut length = [0; 4];
                reader.read_exact(&mut length)?;
                (u32::from_le_bytes(length) as usize, 4)
            }
            [major, minor, ..] => {
                return Err(contents(format!("version {major}.{minor} of the format is unknown")));
            }
            _ => return Err(contents("has no format version")),
        };
        if length > MAX_HEADER {
            return Err(contents(format!("its header has {length} bytes; expected at most {MAX_HEADER}")));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        let text = std::str::from_utf8(&text).map_err(|_| contents("its header is not text"))?;
        let (element, fortran, shape) = Dict { rest: text }.read()?;
        Ok(Self { shape, fortran, element, length: (start.len() + field + length) as u64 })
    }

    /// Returns the size of all elements in bytes, or `None` beyond 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.element.bytes as u64, |n, &size| n.checked_mul(size as u64))
    }
}

impl Element {
    /// Returns NumPy's name of the dtype.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the size of one element in bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Returns whether the elements are integers.
    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }

    /// Returns the elements that `bytes` hold. A partial element at the end is ignored.
    ///
    /// # Errors
    /// [`NpyError`] if an integer does not fit a signed 64-bit integer.
    pub fn values(self, bytes: &[u8]) -> Result<Values, NpyError> {
        let whole = |bytes: &[u8]| {
            let digits = bytes.iter().copied();
            let add = |sum: u64, digit: u8| sum << 8 | u64::from(digit);
            if self.big_endian { digits.fold(0, add) } else { digits.rev().fold(0, add) }
        };
        let elements = bytes.chunks_exact(self.bytes).map(whole);
        Ok(match (self.kind, self.bytes) {
            (Kind::Signed, size) => {
                let unused = 64 - 8 * size as u32;
                Values::Integers(
                    elements.map(|element| (element << unused).cast_signed() >> unused).collect(),
                )
            }
            (Kind::Unsigned, _) => {
                let values: Result<_, _> = elements.map(i64::try_from).collect();
                Values::Integers(
                    values.map_err(|_| contents("a value does not fit a signed 64-bit integer"))?,
                )
            }
            (Kind::Float, 4) => Values::Float32(elements.map(|bits| f32::from_bits(bits as u32)).collect()),
            (Kind::Float | Kind::Bool, _) => Values::Other,
        })
    }
}

/// Returns the index in Fortran order for every element of `shape` in C order.
pub fn fortran_places(shape: &[usize]) -> impl Iterator<Item = usize> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &size in shape {
        strides.push(stride);
        stride *= size;
    }
    let (shape, mut index, mut place) = (shape.to_vec(), vec![0; shape.len()], 0);
    (0..stride).map(move |_| {
        let current = place;
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            place += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            place -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
        current
    })
}

/// Descriptor without its byte order, kind, size in bytes, and NumPy's name.
const ELEMENTS: [(&str, Kind, usize, &str); 15] = [
    ("i1", Kind::Signed, 1, "int8"),
    ("b", Kind::Signed, 1, "int8"),
    ("u1", Kind::Unsigned, 1, "uint8"),
    ("B", Kind::Unsigned, 1, "uint8"),
    ("i2", Kind::Signed, 2, "int16"),
    ("u2", Kind::Unsigned, 2, "uint16"),
    ("i4", Kind::Signed, 4, "int32"),
    ("u4", Kind::Unsigned, 4, "uint32"),
    ("i8", Kind::Signed, 8, "int64"),
    ("u8", Kind::Unsigned, 8, "uint64"),
    ("f2", Kind::Float, 2, "float16"),
    ("f4", Kind::Float, 4, "float32"),
    ("f8", Kind::Float, 8, "float64"),
    ("b1", Kind::Bool, 1, "bool"),
    ("?", Kind::Bool, 1, "bool"),
];

fn element(descriptor: &str) -> Result<Element, NpyError> {
    let (order, rest) = match descriptor.as_bytes().first() {
        Some(order @ (b'<' | b'>' | b'|')) => (Some(*order), &descriptor[1..]),
        _ => (None, descriptor),
    };
    let found = ELEMENTS.iter().find(|(name, ..)| *name == rest);
    let in_order =
        |bytes: usize| if bytes == 1 { order != Some(b'>') } else { matches!(order, Some(b'<' | b'>')) };
    match found {
        Some(&(_, kind, bytes, name)) if in_order(bytes) => {
            Ok(Element { kind, bytes, big_endian: order == Some(b'>'), name })
        }
        _ => Err(contents(format!("its dtype `{}` is not supported", brief(descriptor)))),
    }
}

/// A parser of a Python dict with the three keys.
struct Dict<'a> {
    rest: &'a str,
}

impl<'a> Dict<'a> {
    fn read(mut self) -> Result<(Element, bool, Vec<usize>), NpyError> {
        let (mut descriptor, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':')?;
            let again = match key {
                "descr" => descriptor.replace(self.descriptor()?).is_some(),
                "fortran_order" => fortran.replace(self.flag()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                other => return Err(contents(format!("its header has an unknown key `{}`", brief(other)))),
            };
            if again {
                return Err(contents(format!("its header has the key `{key}` twice")));
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        self.blank();
        match (descriptor, fortran, shape) {
            (Some(descriptor), Some(fortran), Some(shape)) if self.rest.is_empty() => {
                Ok((element(descriptor)?, fortran, shape))
            }
            _ => Err(contents("its header lacks a key, or has extra text")),
        }
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn take(&mut self, wanted: char) -> bool {
        self.blank();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), NpyError> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(contents(format!("its header is invalid: expected `{wanted}` before `{}`", self.here())))
    }

    /// Returns the next characters, for messages.
    fn here(&self) -> String {
        self.rest.chars().take(20).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.take('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect(quote)?;
        }
        let (text, rest) =
            self.rest.split_once(quote).ok_or_else(|| contents("its header ends within a quoted text"))?;
        self.rest = rest;
        Ok(text)
    }

    /// Parses the type of the elements. A list describes a structure, which is an error.
    fn descriptor(&mut self) -> Result<&'a str, NpyError> {
        self.blank();
        if self.rest.starts_with(['[', '(', '{']) {
            return Err(contents("its header describes structures, which are not supported"));
        }
        self.string()
    }

    fn flag(&mut self) -> Result<bool, NpyError> {
        self.blank();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(contents(format!("its header is invalid: expected True or False before `{}`", self.here())))
    }

    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            if shape.len() == MAX_AXES {
                return Err(contents(format!("it has more than {MAX_AXES} axes")));
            }
            shape.push(self.size()?);
            // A single size in parentheses is a tuple only with a comma.
            if !self.take(',') && (shape.len() == 1 || !self.rest.starts_with(')')) {
                self.expect(',')?;
            }
        }
        Ok(shape)
    }

    fn size(&mut self) -> Result<usize, NpyError> {
        self.blank();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let size = digits.parse();
        let size = size.map_err(|_| {
            contents(format!("its header is invalid: expected a size before `{}`", self.here()))
        })?;
        // Python 2 wrote `3L`.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        Ok(size)
    }
}

/// Returns the values of a tensor as a `.npy` array in C order. Values of 4 bits have elements of 8 bits.
pub fn array(shape: &[usize], dtype: DType, values: &Constant) -> Vec<u8> {
    let (descr, bytes) = match dtype.storage() {
        DType::Int8 => ("|i1", 1),
        DType::Int16 => ("<i2", 2),
        DType::UInt16 => ("<u2", 2),
        DType::Int32 => ("<i4", 4),
        DType::Int64 => ("<i8", 8),
        DType::Float32 => ("<f4", 4),
        _ => ("|u1", 1),
    };
    let mut array = npy_header(descr, shape);
    match values {
        Constant::Codes(codes) => codes.iter().for_each(|code| array.extend(&code.to_le_bytes()[..bytes])),
        Constant::Wide(wide) => wide.iter().for_each(|value| array.extend(value.to_le_bytes())),
    }
    array
}

fn contents(problem: impl Into<String>) -> NpyError {
    NpyError::Contents(problem.into())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array, ArrayD, ShapeBuilder};
    use ndarray_npy::{WritableElement, WriteNpyExt};
    use proptest::prelude::*;

    use super::*;

    /// Checks that the written bytes equal those of ndarray-npy.
    fn check_written<A: WritableElement>(dtype: DType, shape: &[usize], elements: Vec<A>, values: Constant) {
        let mut wanted = Vec::new();
        Array::from_shape_vec(shape, elements).unwrap().into_dyn().write_npy(&mut wanted).unwrap();
        let written = array(shape, dtype, &values);
        let [(a, from), (b, to)] = [&wanted, &written].map(|bytes| {
            let header = Header::read(&mut &bytes[..]).unwrap();
            let from = header.length as usize;
            (header, from)
        });
        assert_eq!((&a.shape, a.fortran, a.element), (&b.shape, b.fortran, b.element));
        assert_eq!((&wanted[from..], to % 64), (&written[to..], 0));
    }

    #[test]
    fn arrays_are_written_as_numpy_has_them() {
        let codes = |values: &[i32]| Constant::Codes(values.into());
        check_written(DType::Int4, &[3], vec![-8i8, 0, 7], codes(&[-8, 0, 7]));
        check_written(DType::Int8, &[2, 2], vec![-128i8, -1, 0, 127], codes(&[-128, -1, 0, 127]));
        check_written(DType::UInt8, &[2, 1, 1], vec![0u8, 255], codes(&[0, 255]));
        check_written(DType::Int16, &[2], vec![i16::MIN, i16::MAX], codes(&[-32768, 32767]));
        check_written(DType::UInt16, &[2], vec![0u16, u16::MAX], codes(&[0, 65535]));
        check_written(DType::Int32, &[1], vec![i32::MIN], codes(&[i32::MIN]));
        check_written(DType::Int64, &[2], vec![i64::MIN, 5], Constant::Wide([i64::MIN, 5].into()));
        check_written(DType::Float32, &[1], vec![-0.1f32], codes(&[(-0.1f32).to_bits() as i32]));
    }

    /// Reads a header of version 1 with this text.
    fn header(text: &str) -> Result<Header, NpyError> {
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        Header::read(&mut &[&NPY_MAGIC[..], &[1, 0], &length, text.as_bytes()].concat()[..])
    }

    fn check(text: &str, name: &str, fortran: bool, shape: &[usize]) {
        let found = header(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((found.element.name(), found.fortran, &found.shape[..]), (name, fortran, shape), "{text}");
        assert_eq!(found.length, 10 + text.len() as u64);
    }

    #[test]
    fn headers_of_numpy_are_read() {
        check("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }   \n", "int16", false, &[3, 4]);
        check("{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }\n", "uint8", true, &[3]);
        check("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "float32", false, &[]);
        check("{\"shape\":(2L,3L),\"descr\":\"|b1\",\"fortran_order\":False}", "bool", false, &[2, 3]);
        check("{'descr': '<f2', 'fortran_order': False, 'shape': (0, 5), }\n", "float16", false, &[0, 5]);
    }

    #[test]
    fn other_headers_are_refused() {
        let nested = format!("{{'descr': {}'|i1'{}, ", "[".repeat(4000), "]".repeat(4000));
        let many = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({}), }}", "1, ".repeat(65));
        for (text, expected) in [
            ("", "expected `{` before ``"),
            ("{'descr': '|i1'", "expected `}` before ``"),
            ("{'descr': '|i1', 'fortran_order': False}", "lacks a key"),
            ("{'descr': '|i1', 'fortran_order': False, 'shape': (1,)} x", "has extra text"),
            (
                "{'descr': '|i1', 'fortran_order': 0, 'shape': (1,)}",
                "expected True or False before `0, 'shape': (1,)}`",
            ),
            ("{'descr': '|i1', 'fortran_order': False, 'shape': (3)}", "expected `,` before `)}`"),
            ("{'descr': '|i1', 'fortran_order': False, 'shape': (-3,)}", "a size before `-3,)}`"),
            (
                "{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                "expected a size before",
            ),
            ("{'descr': '|i1', 'shape': (1,), 'shape': (1,)}", "the key `shape` twice"),
            ("{'descr': '|i1', 'order': False, 'shape': (1,)}", "an unknown key `order`"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "its dtype `|O` is not supported"),
            ("{'descr': 'i2', 'fortran_order': False, 'shape': (1,)}", "its dtype `i2` is not supported"),
            (
                "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,)}",
                "its header describes structures",
            ),
            ("{'descr", "ends within a quoted text"),
            (&nested, "its header describes structures"),
            (&many, "more than 64 axes"),
        ] {
            let error = header(text).unwrap_err().to_string();
            assert!(error.contains(expected) && error.len() < 200, "{text}: {error}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let read = |bytes: &[u8]| Header::read(&mut &*bytes).unwrap_err().to_string();
        assert_eq!(read(b"PK\x03\x04....."), "is not a NumPy array: its first bytes are wrong");
        assert_eq!(read(b"\x93NUMPY\x04\x00\x00\x00"), "version 4.0 of the format is unknown");
        let most = read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '|i1'");
        assert_eq!(most, "its header has 4294967295 bytes; expected at most 10000");
        assert!(matches!(Header::read(&mut &b"\x93NUM"[..]), Err(NpyError::Contents(_))));
    }

    fn npy<T: WritableElement>(array: &ArrayD<T>) -> Vec<u8> {
        let mut bytes = Vec::new();
        array.write_npy(&mut bytes).unwrap();
        bytes
    }

    fn check_values<T: WritableElement + Copy>(values: [T; 2], name: &str, expected: &Values) {
        let bytes = npy(&Array::from(values.to_vec()).into_dyn());
        let header = Header::read(&mut &bytes[..]).unwrap();
        let elements = &bytes[header.length as usize..];
        assert_eq!((header.element.name(), header.bytes()), (name, Some(elements.len() as u64)));
        assert_eq!(header.element.values(elements).unwrap(), *expected, "{name}");
    }

    #[test]
    fn elements_are_those_that_were_written() {
        check_values([i8::MIN, i8::MAX], "int8", &Values::Integers(vec![-128, 127]));
        check_values([u8::MIN, u8::MAX], "uint8", &Values::Integers(vec![0, 255]));
        check_values([i16::MIN, i16::MAX], "int16", &Values::Integers(vec![-32768, 32767]));
        check_values([1, u16::MAX], "uint16", &Values::Integers(vec![1, 65535]));
        check_values([i32::MIN, 7], "int32", &Values::Integers(vec![i32::MIN.into(), 7]));
        check_values([1, u32::MAX], "uint32", &Values::Integers(vec![1, u32::MAX.into()]));
        check_values([i64::MIN, i64::MAX], "int64", &Values::Integers(vec![i64::MIN, i64::MAX]));
        check_values([1.5f32, -0.1], "float32", &Values::Float32(vec![1.5, -0.1]));
        check_values([1.5f64, -0.1], "float64", &Values::Other);
        let element = element(">i2").unwrap();
        assert_eq!(element.values(&[0xff, 0xfe, 1, 2]).unwrap(), Values::Integers(vec![-2, 258]));
        let beyond = header("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}").unwrap().element;
        assert!(beyond.values(&[255; 8]).is_err());
    }

    proptest! {
        #[test]
        fn places_are_those_of_fortran_order(shape in prop::collection::vec(1usize..5, 0..5)) {
            let count = shape.iter().product::<usize>();
            let array = ArrayD::from_shape_vec(shape.clone().f(), (0..count).collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(fortran_places(&shape).collect::<Vec<_>>(), array.iter().copied().collect::<Vec<_>>());
        }

        #[test]
        fn damaged_headers_do_not_panic(flips in prop::collection::vec((0usize..128, any::<u8>()), 1..6)) {
            let mut bytes = npy(&ArrayD::<i32>::zeros(vec![2, 3]));
            flips.iter().for_each(|&(at, byte)| bytes[at] = byte);
            let _ = Header::read(&mut &bytes[..]);
        }
    }
}
