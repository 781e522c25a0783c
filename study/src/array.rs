//! Arrays of any dtype in `.npy` and `.npz` files, read piece by piece.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use guardbit_frontends::npy::{self, Header, NpyError, Values};
use zip::{CompressionMethod, ZipArchive};

use crate::StudyError;
use crate::error::Wanted;

/// Number of elements read at once.
pub(crate) const CHUNK: usize = 1 << 16;

/// Limit on the unpacked size of a compressed array, in bytes. The limit is a multiple of the compressed size
/// if that is larger.
const UNPACKED_BYTES: u64 = 1 << 28;
const UNPACKED_TIMES: u64 = 100;

/// File with one array, or with several named arrays.
pub(crate) struct ArrayFile {
    path: PathBuf,
    wanted: Wanted,
    /// Names of the arrays; the name is empty for a `.npy` file.
    names: Vec<String>,
    archive: Option<ZipArchive<BufReader<File>>>,
    /// Open file, for a `.npy` file.
    file: Option<File>,
}

/// Array in a file.
#[derive(Debug)]
pub(crate) struct Array {
    path: PathBuf,
    header: Header,
    /// File, shared by all readers of the array: each seeks first.
    file: RefCell<File>,
    /// Offset of the elements.
    start: u64,
}

impl ArrayFile {
    /// Opens a `.npy` file, or a `.npz` file with named arrays.
    pub fn open(path: &Path, wanted: Wanted) -> Result<Self, StudyError> {
        if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz")) {
            return Ok(Self {
                path: path.into(),
                wanted,
                names: vec![String::new()],
                archive: None,
                file: None,
            });
        }
        let archive = ZipArchive::new(BufReader::new(open(path, wanted)?)).map_err(|e| broken(path, e))?;
        let name = |index| {
            let member: &str = archive.name_for_index(index).unwrap_or_default();
            member.strip_suffix(".npy").unwrap_or(member).to_owned()
        };
        let names = (0..archive.len()).map(name).collect();
        Ok(Self { path: path.into(), wanted, names, archive: Some(archive), file: None })
    }

    /// Wraps an open `.npy` file that was created from the contents of `path`.
    pub fn opened(path: &Path, wanted: Wanted, file: File) -> Self {
        let names = vec![String::new()];
        Self { path: path.into(), wanted, names, archive: None, file: Some(file) }
    }

    /// Returns the names of the arrays.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Opens the array `names()[index]` if `check` accepts its header. Nothing is unpacked before.
    pub fn array<T>(
        &mut self,
        index: usize,
        check: impl FnOnce(&Header) -> Result<T, StudyError>,
    ) -> Result<(Array, T), StudyError> {
        let (path, wanted) = (self.path.clone(), self.wanted);
        let Some(archive) = &mut self.archive else {
            let mut file = self.file.take().map_or_else(|| open(&path, wanted), Ok)?;
            let size = file.metadata().map_err(|e| broken(&path, e))?.len();
            let header = Header::read(&mut file).map_err(|e| broken(&path, e))?;
            let checked = check(&header)?;
            needed(&header, size).map_err(|problem| broken(&path, problem))?;
            return Ok((Array { start: header.length, file: file.into(), header, path }, checked));
        };
        let name = &self.names[index];
        let in_array = |problem: &dyn std::fmt::Display| broken(&path, format!("array `{name}`: {problem}"));
        let mut member = archive.by_index(index).map_err(|e| in_array(&e))?;
        let header = Header::read(&mut member).map_err(|e| in_array(&e))?;
        let checked = check(&header)?;
        let needed = needed(&header, member.size()).map_err(|problem| in_array(&problem))?;
        let (file, start) = if member.compression() == CompressionMethod::Stored {
            // Read the stored member in place, once its checksum is verified.
            let found = io::copy(&mut member, &mut io::sink()).map_err(|e| in_array(&e))?;
            expect_bytes(needed, found).map_err(|problem| in_array(&problem))?;
            (open(&path, wanted)?, member.data_start() + header.length)
        } else {
            let limit = UNPACKED_BYTES.max(member.compressed_size().saturating_mul(UNPACKED_TIMES));
            if needed > limit {
                let problem = format!(
                    "it unpacks to {needed} bytes; expected at most {limit}; store it without compression \
                     (np.savez)"
                );
                return Err(in_array(&problem));
            }
            let mut file = tempfile::tempfile().map_err(|e| in_array(&e))?;
            // Reads one byte more than expected, because the checksum is verified at the end of the member.
            let found = io::copy(&mut (&mut member).take(needed + 1), &mut file).map_err(|e| in_array(&e))?;
            expect_bytes(needed, found).map_err(|problem| in_array(&problem))?;
            (file, 0)
        };
        drop(member);
        Ok((Array { path, header, file: file.into(), start }, checked))
    }
}

/// Opens a file that holds one array, if `check` accepts its header.
pub(crate) fn open_one(
    path: &Path,
    wanted: Wanted,
    check: impl FnOnce(&Header) -> Result<(), StudyError>,
) -> Result<Array, StudyError> {
    let mut file = ArrayFile::open(path, wanted)?;
    match file.names() {
        [_] => file.array(0, check).map(|(array, ())| array),
        _ => Err(broken(path, "it must contain exactly one array")),
    }
}

/// Returns the bytes of the elements, if header and elements take `size` bytes.
fn needed(header: &Header, size: u64) -> Result<u64, String> {
    let needed = header.bytes().unwrap_or(u64::MAX);
    expect_bytes(needed, size.saturating_sub(header.length)).map(|()| needed)
}

fn expect_bytes(needed: u64, found: u64) -> Result<(), String> {
    if needed == found {
        return Ok(());
    }
    Err(format!("its shape needs {needed} bytes of elements, but it has {found}"))
}

impl Array {
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Returns the dtype's name in NumPy.
    pub fn dtype(&self) -> &'static str {
        self.header.element.name()
    }

    /// Returns all elements, in C order.
    pub fn values(&self) -> Result<Values, StudyError> {
        match self.shape() {
            [] => self.read(0, 1),
            [rows, ..] => self.rows(0, *rows),
        }
    }

    /// Returns `count` rows along the first axis, starting at row `first`.
    pub fn rows(&self, first: usize, count: usize) -> Result<Values, StudyError> {
        let (rows, rest) = self.shape().split_first().map_or((1, &[][..]), |(&rows, rest)| (rows, rest));
        let len: usize = rest.iter().product();
        if !self.header.fortran {
            return self.read(first * len, count * len);
        }
        // In Fortran order the first axis is contiguous: each column of the other axes is one piece.
        let mut columns = Values::Other;
        for column in 0..len {
            extend(&mut columns, self.read(column * rows + first, count)?);
        }
        let from: Vec<usize> = c_order_from_fortran(rest, count);
        Ok(pick(&columns, &from))
    }

    /// Reads the bytes of `count` rows starting at row `first`, in C order. Returns whether the file stores
    /// them in this order.
    pub fn row_bytes(&self, first: usize, count: usize, bytes: &mut Vec<u8>) -> Result<bool, StudyError> {
        if self.header.fortran {
            return Ok(false);
        }
        let len: usize = self.shape().iter().skip(1).product();
        self.bytes(first * len, count * len, bytes)?;
        Ok(true)
    }

    /// Returns `count` elements starting at element `first`, in the order of the file.
    fn read(&self, first: usize, count: usize) -> Result<Values, StudyError> {
        let mut bytes = Vec::new();
        self.bytes(first, count, &mut bytes)?;
        self.header.element.values(&bytes).map_err(|error| broken(&self.path, error))
    }

    /// Reads the bytes of `count` elements into `bytes`, replacing its contents.
    fn bytes(&self, first: usize, count: usize, bytes: &mut Vec<u8>) -> Result<(), StudyError> {
        let failed = |error: NpyError| broken(&self.path, error);
        let size = self.header.element.bytes();
        let mut file = self.file.borrow_mut();
        let at = SeekFrom::Start(self.start + (first * size) as u64);
        file.seek(at).map_err(|error| failed(error.into()))?;
        bytes.clear();
        bytes.reserve_exact(count * size);
        let rows = file.by_ref().take((count * size) as u64).read_to_end(bytes);
        rows.map_err(|error| failed(error.into()))?;
        match bytes.len() == count * size {
            true => Ok(()),
            false => Err(failed(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into())),
        }
    }
}

/// Appends more elements of the same kind.
pub(crate) fn extend(all: &mut Values, more: Values) {
    match (&mut *all, more) {
        (Values::Integers(values), Values::Integers(more)) => values.extend(more),
        (Values::Float32(values), Values::Float32(more)) => values.extend(more),
        (_, more) => *all = more,
    }
}

fn pick(values: &Values, from: &[usize]) -> Values {
    match values {
        Values::Integers(values) => Values::Integers(from.iter().map(|&i| values[i]).collect()),
        Values::Float32(values) => Values::Float32(from.iter().map(|&i| values[i]).collect()),
        Values::Other => Values::Other,
    }
}

/// Returns, for every element of `[rows, rest..]` in C order, its index in Fortran order.
fn c_order_from_fortran(rest: &[usize], rows: usize) -> Vec<usize> {
    let columns: Vec<usize> = npy::fortran_places(rest).collect();
    (0..rows).flat_map(|row| columns.iter().map(move |column| column * rows + row)).collect()
}

fn open(path: &Path, wanted: Wanted) -> Result<File, StudyError> {
    guardbit_files::open(path).map_err(|source| StudyError::read(path, wanted, source))
}

fn broken(path: &Path, problem: impl std::fmt::Display) -> StudyError {
    let help = "save the array again with `numpy.save` (.npy) or `numpy.savez` (.npz): integers or float32, with \
                samples along the first axis";
    StudyError::Array { path: path.into(), problem: problem.to_string(), help }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    /// Creates an archive with one member of these bytes.
    fn archive(folder: &Path, pieces: impl IntoIterator<Item = Vec<u8>>) -> PathBuf {
        let path = folder.join("x.npz");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file("x.npy", options).unwrap();
        pieces.into_iter().for_each(|piece| zip.write_all(&piece).unwrap());
        zip.finish().unwrap();
        path
    }

    fn header(shape: &str) -> Vec<u8> {
        let text = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
    }

    fn open_all(path: &Path, wanted: &[usize]) -> Result<Values, String> {
        let check = |header: &Header| match header.shape == wanted {
            true => Ok(()),
            false => Err(broken(Path::new(""), "another shape")),
        };
        open_one(path, Wanted::Samples, check).and_then(|array| array.values()).map_err(|e| e.to_string())
    }

    /// Nothing is unpacked before its header is verified, and then only the size that the header states.
    #[test]
    fn archives_are_unpacked_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let zeros = |count: usize| std::iter::repeat_n(vec![0; 1 << 20], count);
        let check = |shape: &str, mebibytes: usize, wanted: &[usize]| {
            let pieces = std::iter::once(header(shape)).chain(zeros(mebibytes));
            let found = open_all(&archive(dir.path(), pieces), wanted);
            found.map_err(|error| error.rsplit_once(": ").map_or(error.clone(), |(_, last)| last.to_owned()))
        };
        assert_eq!(check("(4, 1048576)", 4, &[4, 1 << 20]), Ok(Values::Integers(vec![0; 4 << 20])));
        assert_eq!(check("(300, 1048576)", 300, &[4, 1 << 20]), Err("another shape".into()));
        let needs = "its shape needs 4194304 bytes of elements, but it has 5242880";
        assert_eq!(check("(4, 1048576)", 5, &[4, 1 << 20]), Err(needs.into()));
        let most = check("(300, 1048576)", 300, &[300, 1 << 20]).unwrap_err();
        let limit = "it unpacks to 314572800 bytes; expected at most 268435456; store it without compression \
                     (np.savez)";
        assert_eq!(most, limit);
    }

    #[test]
    fn headers_are_read_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.npy");
        let check = |bytes: &[u8], expected: &str| {
            std::fs::write(&path, bytes).unwrap();
            let error = open_all(&path, &[1]).unwrap_err();
            assert!(error.ends_with(expected), "{error}");
        };
        let nested = format!("{{'descr': {}'|i1'{}, ", "[".repeat(60), "]".repeat(60));
        let nested =
            [&b"\x93NUMPY\x01\x00"[..], &(nested.len() as u16).to_le_bytes(), nested.as_bytes()].concat();
        check(&nested, "its header describes structures, which are not supported");
        let long = [&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], &[b' '; 100]].concat();
        check(&long, "its header has 4294967295 bytes; expected at most 10000");
        check(&header("(1,)"), "its shape needs 1 bytes of elements, but it has 0");
        check(&header("(9223372036854775807, 9223372036854775807)"), "another shape");
    }

    #[test]
    fn only_files_are_opened() {
        for path in ["/dev/zero", "/dev"] {
            assert!(open_all(Path::new(path), &[1]).is_err(), "{path}");
        }
    }
}
