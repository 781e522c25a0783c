//! Output folders: nothing half written, nothing of others removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use guardbit_reports::temporary_name;
use serde_json::Value;

use crate::StudyError;
use crate::error::Wanted;

/// The files that say what else guardbit wrote in a folder, under the key `files`.
const MANIFESTS: [&str; 4] = ["run.json", "sweep.json", "size.json", "manifest.json"];

/// Whether new results may replace old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// A folder that holds anything is refused.
    Refuse,
    /// Files that guardbit wrote are removed, others stay.
    Replace,
}

/// Fails unless results may be written to `folder`.
pub(crate) fn check(folder: &Path, existing: Existing) -> Result<(), StudyError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(StudyError::NotAFolder { path: folder.into() });
        }
        Err(source) => return Err(StudyError::read(folder, Wanted::Results, source)),
    };
    let ours = MANIFESTS.iter().any(|name| folder.join(name).is_file());
    match existing {
        Existing::Replace => Ok(()),
        Existing::Refuse if entries == 0 => Ok(()),
        Existing::Refuse => Err(StudyError::Occupied { path: folder.into(), ours, differs: Vec::new() }),
    }
}

/// Writes `files`, by path within it, to the folder `out`, which appears only when it is complete. One of them lists
/// the others under the key `files`.
///
/// # Errors
/// [`StudyError`] if something else is in the way or cannot be written; nothing is left behind in that case.
pub fn write_folder(out: &Path, existing: Existing, files: &[(String, Vec<u8>)]) -> Result<(), StudyError> {
    check(out, existing)?;
    let staging = Staging::new(out)?;
    for (name, bytes) in files {
        let path = staging.path().join(name);
        create(path.parent().unwrap_or(staging.path()))?;
        fs::write(&path, bytes).map_err(|source| StudyError::Write { path, source })?;
    }
    staging.publish(existing)
}

/// The nearest folder above `folder` that is there: in its file system there is room for what `folder` will hold.
pub(crate) fn above(folder: &Path) -> &Path {
    folder.ancestors().skip(1).find(|path| path.is_dir()).unwrap_or(Path::new("."))
}

/// Removes the files that guardbit wrote to `folder`, and folders that this leaves empty.
pub(crate) fn clear(folder: &Path) -> Result<(), StudyError> {
    for manifest in MANIFESTS {
        let path = folder.join(manifest);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for file in listed(&text) {
            let file = folder.join(file);
            remove(&file)?;
            // What a run that was killed while writing it left behind.
            remove(&temporary_name(&file))?;
        }
        remove(&path)?;
    }
    for sub in ["plots", "points", "rtl", "witnesses"] {
        // Fails where something else is left in it, which is as it should be.
        let _ = fs::remove_dir(folder.join(sub));
    }
    Ok(())
}

/// The files of a manifest that lie in its own folder.
fn listed(manifest: &str) -> Vec<PathBuf> {
    let parsed: Value = serde_json::from_str(manifest).unwrap_or_default();
    let files = parsed["files"].as_array().cloned().unwrap_or_default();
    let inside = |file: &Value| {
        // A list of names, or of objects with a path.
        let path = PathBuf::from(file.as_str().or_else(|| file["path"].as_str())?);
        let plain = path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
        (plain && path.components().count() > 0).then_some(path)
    };
    files.iter().filter_map(inside).collect()
}

fn remove(path: &Path) -> Result<(), StudyError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(StudyError::Write { path: path.into(), source })
        }
        _ => Ok(()),
    }
}

/// A folder that becomes visible under its name only when it is complete.
#[derive(Debug)]
pub(crate) struct Staging {
    target: PathBuf,
    work: PathBuf,
}

impl Staging {
    /// A hidden folder beside `target`.
    pub fn new(target: &Path) -> Result<Self, StudyError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let work = parent.join(format!(".{name}.partial-{}", std::process::id()));
        create(&work)?;
        Ok(Self { target: target.into(), work })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.work
    }

    /// Puts the finished folder in its place.
    pub fn publish(self, existing: Existing) -> Result<(), StudyError> {
        if existing == Existing::Replace {
            clear(&self.target)?;
        }
        // Succeeds only where the target is empty.
        let _ = fs::remove_dir(&self.target);
        if self.target.exists() {
            return move_into(&self.work, &self.target);
        }
        fs::rename(&self.work, &self.target)
            .map_err(|source| StudyError::Write { path: self.target.clone(), source })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Creates a folder and those above it.
pub(crate) fn create(path: &Path) -> Result<(), StudyError> {
    fs::create_dir_all(path).map_err(|source| StudyError::Write { path: path.into(), source })
}

fn move_into(from: &Path, to: &Path) -> Result<(), StudyError> {
    create(to)?;
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| StudyError::Write { path, source }
    };
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let entry = entry.map_err(failed(from))?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            move_into(&entry.path(), &target)?;
        } else {
            fs::rename(entry.path(), &target).map_err(failed(&target))?;
        }
    }
    Ok(())
}
