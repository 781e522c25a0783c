//! Folders that other programs work in.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Digest, Existing, FileEntry, FolderError, Manifest, Target, inventory, seal};

/// A folder that keeps what other programs build and run there.
///
/// It must be empty, or it is replaced under the rules for results. When the work is done, `work.json` lists its
/// files.
#[derive(Debug)]
pub struct WorkFolder(Target);

#[derive(Serialize)]
struct WorkJson {
    schema: u32,
    tool: Tool,
    command: &'static str,
    files: Vec<FileEntry>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

impl WorkFolder {
    /// Locks `path` for this process, and empties the folder if that is allowed. Fails if `path` lies in `spared`.
    ///
    /// # Errors
    /// [`FolderError::Within`], and those of [`Target::claim_for`].
    pub fn claim(path: &Path, spared: &Path, existing: Existing) -> Result<Self, FolderError> {
        if lies_within(path, spared) {
            return Err(FolderError::Within { path: path.into(), outer: spared.into() });
        }
        let target = Target::claim_for(path, existing)?;
        if !target.is_empty()? {
            target.stage()?.discard()?;
        }
        target.keeps(format!("the build files stay in {}", target.shown().display()));
        Ok(Self(target))
    }

    /// Lists the files of the folder in its manifest. `command` is the command that wrote them.
    ///
    /// # Errors
    /// [`FolderError::Read`] and [`FolderError::Write`].
    pub fn finish(self, command: &'static str) -> Result<(), FolderError> {
        if self.0.is_empty()? {
            return Ok(());
        }
        let of_file = |path: PathBuf| {
            let full = self.0.path().join(&path);
            let sha256 = Digest::of_file(&full).map_err(FolderError::read(&full))?;
            Ok(path.to_str().map(|path| FileEntry { path: path.into(), sha256 }))
        };
        let files = inventory::regular_files(self.0.path())?.into_iter().map(of_file);
        let files: Vec<Option<FileEntry>> = files.collect::<Result<_, FolderError>>()?;
        let tool = Tool { name: seal::TOOL, version: env!("CARGO_PKG_VERSION") };
        let json = WorkJson { schema: 1, tool, command, files: files.into_iter().flatten().collect() };
        // Serialization fails only for maps whose keys are not strings, and this one has none.
        let text = seal::seal(&json).unwrap_or_default();
        self.0.stage()?.put(Manifest::Work.file(), text.as_bytes())
    }
}

/// Returns whether `path`, which may not exist yet, equals `outer` or lies in it.
fn lies_within(path: &Path, outer: &Path) -> bool {
    let (Ok(path), Ok(outer)) = (std::path::absolute(path), outer.canonicalize()) else { return false };
    let found = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    found.is_some_and(|found| found.starts_with(outer))
}
