//! Files of a bundle: reads them within limits, compares them with the expected files, and provides a working
//! folder.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::outcome::{Divergence, Outcome};
use super::refused::{Refused, claim};
use crate::VectorError;
use crate::columns::hex;
use crate::manifest::{FileInfo, MANIFEST};
use crate::read;
use crate::words::Mem;

/// Greatest size in bytes of a file that is read as a whole.
const MAX_DATA: u64 = 1 << 28;
/// Greatest size in bytes of all files.
const MAX_BYTES: u64 = 1 << 30;
/// Greatest number of files.
const MAX_FILES: usize = 4096;

/// Working folder: the caller's, or a temporary one that is removed afterwards.
pub(crate) enum Scratch {
    Kept(PathBuf),
    Temporary(guardbit_files::Scratch),
}

impl Scratch {
    pub fn new(work: Option<&Path>, name: &str) -> Result<Self, VectorError> {
        match work {
            None => {
                let made = guardbit_files::Scratch::new("guardbit-check-");
                made.map(Self::Temporary)
                    .map_err(|source| VectorError::Write { path: std::env::temp_dir(), source })
            }
            Some(work) => {
                let path = work.join(name);
                fs::create_dir_all(&path)
                    .map_err(|source| VectorError::Write { path: path.clone(), source })?;
                Ok(Self::Kept(path))
            }
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(dir) => dir.path(),
        }
    }
}

impl Scratch {
    /// Returns the path of a file of the folder that stays: where it is, or in a temporary folder of its own.
    pub fn kept(&self, file: PathBuf, name: &str) -> Result<PathBuf, VectorError> {
        if let Self::Kept(_) = self {
            return Ok(file);
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| VectorError::Write { path, source }
        };
        let folder =
            guardbit_files::Scratch::new("guardbit-waves-").map_err(failed(&std::env::temp_dir()))?;
        let end = file.extension().unwrap_or_default().to_string_lossy();
        let path = folder.path().join(format!("{name}.{end}"));
        fs::copy(&file, &path).map_err(failed(&path))?;
        folder.keep();
        Ok(path)
    }
}

/// Returns the bytes of a file of the bundle in `dir`.
pub(crate) fn read(dir: &Path, path: &str, limit: u64) -> Result<Vec<u8>, VectorError> {
    read::bytes(dir, path, limit).map_err(|source| VectorError::Read { path: dir.join(path), source })
}

/// Returns the words of a `.mem` file of the bundle in `dir`.
pub(crate) fn mem(dir: &Path, path: &str, bits: u32) -> Result<Mem, Refused> {
    Mem::parse(&read(dir, path, MAX_DATA)?, bits).map_err(|problem| claim(path, problem))
}

/// Checks every file against its hash in the manifest.
pub(crate) fn hashes(dir: &Path, files: &[FileInfo]) -> Outcome {
    let mut problems = Vec::new();
    let mut paths = HashSet::new();
    let mut left = MAX_BYTES;
    if files.len() > MAX_FILES {
        let found = files.len();
        problems.push(format!("{MANIFEST}: {found} files; expected at most {MAX_FILES}"));
    }
    for file in files.iter().take(MAX_FILES) {
        let problem = match hash(dir, &file.path, &mut left) {
            _ if !paths.insert(&file.path) => Some("appears twice in the manifest".to_owned()),
            Err(error) => Some(error.to_string()),
            Ok(found) if found != file.sha256 => {
                Some(format!("sha256 {found}, but the manifest has {}", file.sha256))
            }
            Ok(_) => None,
        };
        problems.extend(problem.map(|problem| format!("{}: {problem}", file.path)));
    }
    outcome("file", problems, files.len() as u64)
}

/// Checks that the folder has no files but those of the manifest: `make` could run a `GNUmakefile` or a module of
/// an equal name instead. Does not follow links.
pub(crate) fn others(dir: &Path, files: &[FileInfo]) -> Outcome {
    let mut known: HashSet<PathBuf> = HashSet::from([MANIFEST.into()]);
    for file in files {
        known.extend(Path::new(&file.path).ancestors().map(Path::to_owned));
    }
    let (mut problems, mut folders, mut checked) = (Vec::new(), vec![PathBuf::new()], 0);
    while let Some(folder) = folders.pop() {
        let mut found: Vec<PathBuf> = Vec::new();
        match fs::read_dir(dir.join(&folder)) {
            Ok(entries) => found.extend(entries.flatten().map(|entry| folder.join(entry.file_name()))),
            Err(error) => problems.push(format!("{}: {error}", folder.display())),
        }
        found.sort();
        for path in found {
            checked += 1;
            let is_folder = fs::symlink_metadata(dir.join(&path)).is_ok_and(|found| found.is_dir());
            if !known.contains(&path) {
                problems.push(format!(
                    "{}{}: the manifest does not list it; delete it, or move it out of the bundle",
                    path.display(),
                    if is_folder { "/" } else { "" }
                ));
            } else if is_folder {
                folders.push(path);
            }
            if problems.len() > MAX_FILES {
                return outcome("file", problems, checked);
            }
        }
    }
    outcome("file", problems, checked)
}

/// Returns the SHA-256 of a file, and subtracts its size from `left`.
fn hash(dir: &Path, path: &str, left: &mut u64) -> io::Result<String> {
    let file = read::open(dir, path)?;
    let size = file.metadata()?.len();
    *left = left.checked_sub(size).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the files of a bundle must have at most {MAX_BYTES} bytes in total"),
        )
    })?;
    let (mut sha, mut file) = (Sha256::new(), file.take(size));
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&sha.finalize())),
            count => sha.update(&buffer[..count]),
        }
    }
}

/// Compares all files without words with the expected files, byte by byte.
pub(crate) fn generated(said: &[FileInfo], made: &[FileInfo]) -> Outcome {
    let texts: Vec<&FileInfo> = made.iter().filter(|file| !has_words(&file.path)).collect();
    let sha256 = |path: &str| said.iter().find(|file| file.path == path).map(|file| &file.sha256);
    let differing = texts.iter().filter(|file| sha256(&file.path) != Some(&file.sha256));
    let problem =
        |file: &&FileInfo| format!("{}: differs from what guardbit generates from the manifest", file.path);
    outcome("file", differing.map(problem).collect(), texts.len() as u64)
}

/// Returns whether a file is compared word by word.
pub(crate) fn has_words(path: &str) -> bool {
    path.ends_with(".mem")
}

/// Returns a pass if there are no problems, otherwise a failure with the first problem.
pub(crate) fn outcome(kind: &str, problems: Vec<String>, checked: u64) -> Outcome {
    let mismatches = problems.len() as u64;
    match problems.into_iter().next() {
        Some(details) => Outcome::Fail {
            mismatches,
            first: Divergence { kind: kind.into(), details, ..Divergence::default() },
        },
        None => Outcome::Pass { checked, notes: Vec::new() },
    }
}

/// Writes the files of a bundle.
pub(crate) fn write(files: &[(String, Vec<u8>)], to: &Path) -> Result<(), VectorError> {
    for (path, bytes) in files {
        let target = to.join(path);
        let failed = |source| VectorError::Write { path: target.clone(), source };
        fs::create_dir_all(target.parent().unwrap_or(to)).map_err(failed)?;
        fs::write(&target, bytes).map_err(failed)?;
    }
    Ok(())
}
