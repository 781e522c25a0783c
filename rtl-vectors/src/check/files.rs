//! The files of a bundle: read, verified, copied to where they may be worked on.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Divergence, Outcome};
use crate::VectorError;
use crate::export::sha256;
use crate::manifest::{MANIFEST_SCHEMA, Manifest, manifest_schema};

/// A folder to work in: the caller's, or one that is removed again.
pub(super) enum Scratch {
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

/// Whether every file is what the manifest says.
pub(super) fn hashes(dir: &Path, manifest: &Manifest) -> Outcome {
    let mut mismatches = 0;
    let mut first = None;
    for file in &manifest.files {
        let problem = match fs::read(dir.join(&file.path)) {
            Err(error) => Some(error.to_string()),
            Ok(bytes) => {
                let found = sha256(&bytes);
                (found != file.sha256).then(|| format!("sha256 {found}, the manifest says {}", file.sha256))
            }
        };
        if let Some(problem) = problem {
            mismatches += 1;
            let details = format!("{}: {problem}", file.path);
            first.get_or_insert(Divergence { kind: "file".into(), details, ..Divergence::default() });
        }
    }
    let schema = fs::read(dir.join(MANIFEST_SCHEMA)).unwrap_or_default();
    if first.is_none() && schema != manifest_schema().into_bytes() {
        mismatches += 1;
        let details = format!("{MANIFEST_SCHEMA}: not the schema of this guardbit");
        first = Some(Divergence { kind: "file".into(), details, ..Divergence::default() });
    }
    match first {
        Some(first) => Outcome::Fail { mismatches, first },
        None => Outcome::Pass { checked: manifest.files.len() as u64, notes: Vec::new() },
    }
}

/// Copies the files of a bundle.
pub(super) fn copy(dir: &Path, manifest: &Manifest, to: &Path) -> Result<(), VectorError> {
    for file in &manifest.files {
        let target = to.join(&file.path);
        let failed = |source| VectorError::Write { path: target.clone(), source };
        fs::create_dir_all(target.parent().unwrap_or(to)).map_err(failed)?;
        fs::write(&target, read(&dir.join(&file.path))?).map_err(failed)?;
    }
    Ok(())
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, VectorError> {
    fs::read(path).map_err(|source| VectorError::Read { path: path.into(), source })
}
