//! Reads regular files within limits.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// U+FEFF in UTF-8, which some editors write at the start of a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Opens a regular file for reading.
///
/// Pipes, devices and folders are errors, because they may block forever or never end.
///
/// # Errors
/// Errors of the operating system, and `InvalidInput` or `IsADirectory` if the path is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe waits for its writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file"));
    }
    Ok(file)
}

/// Returns the size of a regular file in bytes.
///
/// # Errors
/// See [`open`].
pub fn regular_size(path: &Path) -> io::Result<u64> {
    Ok(open(path)?.metadata()?.len())
}

/// Returns the bytes of a regular file of at most `limit` bytes.
///
/// # Errors
/// See [`open`]. Also `FileTooLarge` if the file exceeds the limit, before anything is read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = |size: u64| {
        let text = format!("has {size} bytes; expected at most {limit}");
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    let size = file.metadata()?.len();
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The file may have grown since its size was queried.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        size if size > limit => Err(too_large(size)),
        _ => Ok(bytes),
    }
}

/// Returns the text of a regular file of at most `limit` bytes, without a leading byte-order mark.
///
/// # Errors
/// See [`read`]. Also `InvalidData` if the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read(path, limit)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("is not UTF-8: {error}")))?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}
