//! Arrays in `.npy` and `.npz` files, of whatever dtype, read piece by piece.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use guardbit_graph::DType;
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadDataError, ReadableElement};
use zip::{CompressionMethod, ZipArchive};

use crate::StudyError;
use crate::error::Wanted;

/// Elements that are read at once.
pub(crate) const CHUNK: usize = 1 << 16;

/// A file with one array, or with several under names.
pub(crate) struct ArrayFile {
    path: PathBuf,
    wanted: Wanted,
    /// The name of the array of a `.npy` file is empty.
    names: Vec<String>,
    archive: Option<ZipArchive<BufReader<File>>>,
}

/// An array as it stands in a file.
#[derive(Debug)]
pub(crate) struct Array {
    path: PathBuf,
    header: Header,
    element: Element,
    /// Shared by all who read the array: each seeks first.
    file: RefCell<File>,
    /// Where the elements begin.
    start: u64,
}

/// Elements in C order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Integers.
    Integers(Vec<i64>),
    /// Real numbers.
    Float32(Vec<f32>),
    /// Anything else: nobody asks for more than the dtype.
    Other,
}

/// The dtype of a file.
#[derive(Debug, Clone, Copy)]
struct Element {
    /// As numpy names it.
    name: &'static str,
    bytes: usize,
    /// Reads so many elements, which are all of the reader.
    read: fn(&mut dyn Read, &Header, usize) -> Result<Values, ReadDataError>,
}

/// Name of the file dtype that holds codes of `dtype`: 4-bit codes travel in bytes.
pub(crate) fn file_dtype(dtype: DType) -> &'static str {
    match dtype {
        DType::Int4 => "int8",
        DType::UInt4 => "uint8",
        other => other.name(),
    }
}

impl ArrayFile {
    /// Opens a `.npy` file, or a `.npz` file with each array under its name.
    pub fn open(path: &Path, wanted: Wanted) -> Result<Self, StudyError> {
        if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz")) {
            return Ok(Self { path: path.into(), wanted, names: vec![String::new()], archive: None });
        }
        let archive = ZipArchive::new(BufReader::new(open(path, wanted)?)).map_err(|e| broken(path, e))?;
        let name = |member: &str| member.strip_suffix(".npy").unwrap_or(member).to_owned();
        let names = archive.file_names().map(name).collect();
        Ok(Self { path: path.into(), wanted, names, archive: Some(archive) })
    }

    /// The names of its arrays.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Opens the array `names()[index]`.
    pub fn array(&mut self, index: usize) -> Result<Array, StudyError> {
        let (path, wanted) = (self.path.clone(), self.wanted);
        let Some(archive) = &mut self.archive else {
            let file = open(&path, wanted)?;
            let end = file.metadata().map_err(|e| broken(&path, e))?.len();
            return Array::new(path, file, 0..end);
        };
        let name = self.names[index].clone();
        let in_array = |problem: String| broken(&path, format!("array `{name}`: {problem}"));
        let member = archive.by_name(&format!("{name}.npy")).map(|_| format!("{name}.npy"));
        let member = member.unwrap_or_else(|_| name.clone());
        let mut member = archive.by_name(&member).map_err(|e| in_array(e.to_string()))?;
        let (file, start, len) = if member.compression() == CompressionMethod::Stored {
            // Read where it is, once its checksum is known to be right.
            io::copy(&mut member, &mut io::sink()).map_err(|e| in_array(e.to_string()))?;
            (open(&path, wanted)?, member.data_start(), member.size())
        } else {
            let mut file = tempfile::tempfile().map_err(|e| in_array(e.to_string()))?;
            let len = io::copy(&mut member, &mut file).map_err(|e| in_array(e.to_string()))?;
            (file, 0, len)
        };
        drop(member);
        Array::new(path.clone(), file, start..start + len).map_err(|error| match error {
            StudyError::Array { problem, .. } => in_array(problem),
            other => other,
        })
    }
}

/// Opens a file that holds one array.
pub(crate) fn open_one(path: &Path, wanted: Wanted) -> Result<Array, StudyError> {
    let mut file = ArrayFile::open(path, wanted)?;
    match file.names() {
        [_] => file.array(0),
        _ => Err(broken(path, "it must hold one array")),
    }
}

impl Array {
    /// The array at `bytes` of `file`.
    fn new(path: PathBuf, mut file: File, bytes: std::ops::Range<u64>) -> Result<Self, StudyError> {
        file.seek(SeekFrom::Start(bytes.start)).map_err(|e| broken(&path, e))?;
        let header = Header::from_reader(&mut file).map_err(|e| broken(&path, e))?;
        let start = file.stream_position().map_err(|e| broken(&path, e))?;
        let known = ELEMENTS.iter().find(|element| (element.read)(&mut io::empty(), &header, 0).is_ok());
        let Some(&element) = known else { return Err(broken(&path, "its dtype is not supported")) };
        let sizes = header.shape.iter().try_fold(element.bytes as u64, |n, &d| n.checked_mul(d as u64));
        let (needed, found) = (sizes.unwrap_or(u64::MAX), bytes.end.saturating_sub(start));
        if needed != found {
            return Err(broken(&path, format!("its shape needs {needed} bytes of elements, it has {found}")));
        }
        Ok(Self { path, header, element, file: file.into(), start })
    }

    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The dtype as numpy names it.
    pub fn dtype(&self) -> &'static str {
        self.element.name
    }

    /// All elements, in C order.
    pub fn values(&self) -> Result<Values, StudyError> {
        match self.shape() {
            [] => self.read(0, 1),
            [rows, ..] => self.rows(0, *rows),
        }
    }

    /// `count` rows along the first axis, from row `first` on.
    pub fn rows(&self, first: usize, count: usize) -> Result<Values, StudyError> {
        let (rows, rest) = self.shape().split_first().map_or((1, &[][..]), |(&rows, rest)| (rows, rest));
        let len: usize = rest.iter().product();
        if !self.header.layout.is_fortran() {
            return self.read(first * len, count * len);
        }
        // The first axis lies closest: each column of the rest is one piece.
        let mut columns = Values::Other;
        for column in 0..len {
            columns.extend(self.read(column * rows + first, count)?);
        }
        let from = c_order_from_fortran(rest, count);
        Ok(columns.pick(&from))
    }

    /// `count` elements from element `first` on, in the order of the file.
    fn read(&self, first: usize, count: usize) -> Result<Values, StudyError> {
        let bytes = self.element.bytes;
        let mut file = self.file.borrow_mut();
        let seek = file.seek(SeekFrom::Start(self.start + (first * bytes) as u64));
        seek.map_err(|e| broken(&self.path, e))?;
        let mut piece = (&mut *file).take((count * bytes) as u64);
        (self.element.read)(&mut piece, &self.header, count).map_err(|e| broken(&self.path, data_problem(&e)))
    }
}

impl Values {
    /// Adds more elements of the same kind.
    pub fn extend(&mut self, more: Self) {
        match (&mut *self, more) {
            (Self::Integers(values), Self::Integers(more)) => values.extend(more),
            (Self::Float32(values), Self::Float32(more)) => values.extend(more),
            (_, more) => *self = more,
        }
    }

    fn pick(&self, from: &[usize]) -> Self {
        match self {
            Self::Integers(values) => Self::Integers(from.iter().map(|&i| values[i]).collect()),
            Self::Float32(values) => Self::Float32(from.iter().map(|&i| values[i]).collect()),
            Self::Other => Self::Other,
        }
    }
}

/// For every element of `[rows, rest..]` in C order, its place in Fortran order.
fn c_order_from_fortran(rest: &[usize], rows: usize) -> Vec<usize> {
    let mut columns = vec![0];
    let mut stride = 1;
    for &size in rest {
        columns = columns.iter().flat_map(|&at| (0..size).map(move |i| at + i * stride)).collect();
        stride *= size;
    }
    (0..rows).flat_map(|row| columns.iter().map(move |column| column * rows + row)).collect()
}

const ELEMENTS: [Element; 11] = [
    integer::<i8>("int8"),
    integer::<u8>("uint8"),
    integer::<i16>("int16"),
    integer::<u16>("uint16"),
    integer::<i32>("int32"),
    integer::<u32>("uint32"),
    integer::<i64>("int64"),
    integer::<u64>("uint64"),
    Element {
        name: "float32",
        bytes: 4,
        read: |reader, header, count| {
            let values = f32::read_to_end_exact_vec(reader, &header.type_descriptor, count)?;
            Ok(Values::Float32(values))
        },
    },
    other::<f64>("float64"),
    other::<bool>("bool"),
];

const fn integer<T: ReadableElement>(name: &'static str) -> Element
where
    i64: TryFrom<T>,
{
    Element {
        name,
        bytes: size_of::<T>(),
        read: |reader, header, count| {
            let values = T::read_to_end_exact_vec(reader, &header.type_descriptor, count)?;
            let values: Result<_, _> = values.into_iter().map(i64::try_from).collect();
            let beyond = |_| ReadDataError::ParseData("a value is beyond 64 bits".into());
            Ok(Values::Integers(values.map_err(beyond)?))
        },
    }
}

const fn other<T: ReadableElement>(name: &'static str) -> Element {
    Element {
        name,
        bytes: size_of::<T>(),
        read: |reader, header, count| {
            T::read_to_end_exact_vec(reader, &header.type_descriptor, count)?;
            Ok(Values::Other)
        },
    }
}

fn data_problem(error: &ReadDataError) -> String {
    match error {
        ReadDataError::Io(error) => error.to_string(),
        ReadDataError::WrongDescriptor(_) => "its dtype is not supported".into(),
        ReadDataError::MissingData => "its elements end early".into(),
        ReadDataError::ExtraBytes(bytes) => format!("{bytes} bytes follow its elements"),
        ReadDataError::ParseData(error) => error.to_string(),
    }
}

fn open(path: &Path, wanted: Wanted) -> Result<File, StudyError> {
    File::open(path).map_err(|source| StudyError::read(path, wanted, source))
}

fn broken(path: &Path, problem: impl std::fmt::Display) -> StudyError {
    StudyError::Array { path: path.into(), problem: problem.to_string() }
}
