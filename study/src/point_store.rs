//! Output folder of a study with many results: a manifest, a sealed file per result, and outputs over all results. An
//! interrupted study resumes in its folder.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use guardbit_files::{
    Digest, Document, Existing, FileEntry, FolderError, Manifest, Staging, Target, UNSEALED, is_sealed,
    read_text, seal_text,
};
use guardbit_reports::{Pages, pages_of};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::result_json::ResultJson;
use crate::{Identity, StudyError};

/// Maximum size in bytes of a manifest or of the file of a result.
pub(crate) const LIMIT: u64 = 1 << 28;

/// Results of a study: the contents of its folder, and its identity.
pub(crate) trait Points {
    const MANIFEST: Manifest;
    /// Version of the manifest and of the files of results.
    const SCHEMA: u32;

    /// Returns the identity of all results.
    fn identity(&self) -> Identity;

    /// Returns every file that the folder may have, except the manifest.
    fn paths(&self) -> Vec<String>;

    /// Returns a sentence on what an interruption keeps in the folder `shown`, which has `stored` results.
    fn kept(&self, stored: usize, shown: &str) -> String;

    /// Returns whether a manifest of the same identity has the same results.
    fn is_same_part(&self, _found: &Value) -> bool {
        true
    }

    /// Returns the differences between an existing manifest of the same kind and the requested one.
    fn differences(&self, _found: &Value, _asked: &Value) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the file that is derived from the text of a result, if there is one.
    ///
    /// # Errors
    /// If the text is damaged.
    fn derived(_path: &str, _text: &str) -> io::Result<Option<Document>> {
        Ok(None)
    }
}

/// State of a requested result.
#[derive(Debug)]
pub(crate) enum Found<T> {
    /// It is stored.
    Same(T),
    /// Its file has another result, or is damaged.
    Other,
    /// There is no file.
    Nothing,
}

/// Output folder of one study.
pub(crate) struct PointStore<'a, P> {
    target: &'a Target,
    staging: Staging<'a>,
    points: &'a P,
    /// Files of results that are stored.
    stored: RefCell<BTreeSet<String>>,
}

/// Contents of the file of a result, for writing.
#[derive(Serialize)]
struct Written<'a, T> {
    schema: u32,
    tool: crate::Tool,
    identity: Identity,
    #[serde(flatten)]
    content: &'a T,
    sha256: &'static str,
}

/// Version and identity of the file of a result.
#[derive(Deserialize)]
pub(crate) struct Head {
    schema: u32,
    identity: Identity,
}

/// Contents of the file of a result, for reading.
pub(crate) trait Stored: DeserializeOwned {
    fn head(&self) -> &Head;
}

/// Returns the text of the file of a result.
pub(crate) fn stored_text<T: Serialize>(schema: u32, identity: Identity, content: &T) -> String {
    let file = Written { schema, tool: crate::TOOL, identity, content, sha256: UNSEALED };
    seal_text(&serde_json::to_string(&file).unwrap_or_default())
}

/// Returns the result in a text, if guardbit wrote the text for this identity.
pub(crate) fn stored<T: Stored>(schema: u32, identity: Identity, text: &str) -> Option<T> {
    let content: T = serde_json::from_str(text).ok()?;
    let head = content.head();
    (head.schema == schema && head.identity == identity && is_sealed(text)).then_some(content)
}

/// Returns the text of a file if guardbit wrote it and it is unchanged.
pub(crate) fn sealed_text(path: &Path) -> Option<String> {
    read_text(path, LIMIT).ok().filter(|text| is_sealed(text))
}

/// Returns the manifest in a folder if guardbit wrote it and it is unchanged, or else `null`.
pub(crate) fn manifest(folder: &Path, manifest: Manifest) -> Value {
    let text = sealed_text(&folder.join(manifest.file()));
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

impl<'a, P: Points> PointStore<'a, P> {
    /// Opens a new folder, or one with the same study, unfinished. `content` is the content of the manifest until all results
    /// are stored.
    ///
    /// # Errors
    /// [`StudyError`] if the folder has other results or foreign files, or cannot be written.
    pub fn open(
        target: &'a Target,
        existing: Existing,
        points: &'a P,
        content: impl Serialize,
    ) -> Result<Self, StudyError> {
        let found = manifest(target.path(), P::MANIFEST);
        let json = ResultJson::new(P::MANIFEST, P::SCHEMA, points.identity(), content, Vec::new());
        let mut staging = target.stage()?;
        if existing == Existing::Refuse && json.is_same(&found) && points.is_same_part(&found) {
            staging.require_ours(points.paths().iter().map(String::as_str))?;
        } else {
            target.check(existing).map_err(|error| match error {
                FolderError::Occupied { path, ours, .. } if json.is_same_kind(&found) => {
                    let asked = serde_json::to_value(&json).unwrap_or_default();
                    FolderError::Occupied { path, ours, differs: points.differences(&found, &asked) }
                }
                other => other,
            })?;
            staging.write(P::MANIFEST.file(), &crate::sealed(&json))?;
            staging.publish(existing)?;
        }
        let store = Self { target, staging, points, stored: RefCell::default() };
        store.say();
        Ok(store)
    }

    /// Returns the stored result of this identity in `path`.
    pub fn read<T: Stored>(&self, path: &str, identity: Identity) -> Found<T> {
        let Ok(text) = self.text(path) else { return Found::Nothing };
        match stored(P::SCHEMA, identity, &text) {
            Some(result) => {
                self.count(path);
                Found::Same(result)
            }
            None => Found::Other,
        }
    }

    /// Stores the text of a result, see [`stored_text`].
    ///
    /// # Errors
    /// [`StudyError`] if the file cannot be written.
    pub fn store(&self, path: &str, text: &str) -> Result<(), StudyError> {
        self.staging.put(path, text.as_bytes())?;
        self.count(path);
        Ok(())
    }

    /// Returns the requested pages and the existing ones, so that every file of a page stays listed.
    pub fn pages(&self, asked: Pages) -> Pages {
        let has = pages_of(|path| self.target.path().join(path).exists());
        Pages { plots: asked.plots || has.plots, report: asked.report || has.report, ..asked }
    }

    /// Adds the outputs over all results, and lists every file in the manifest.
    ///
    /// # Errors
    /// [`StudyError`] if a result cannot be read, or a file cannot be written.
    pub fn complete(&self, content: impl Serialize, documents: &[Document]) -> Result<(), StudyError> {
        let entry =
            |(path, bytes): &Document| FileEntry { path: path.clone(), sha256: Digest::of_bytes(bytes) };
        let has = |file: &FileEntry| {
            Digest::of_file(&self.target.path().join(&file.path)).is_ok_and(|found| found == file.sha256)
        };
        let mut files: Vec<FileEntry> = documents.iter().map(entry).collect();
        let (stored, mut missing) = (self.stored.borrow(), Vec::new());
        for path in stored.iter() {
            let text = self.text(path)?;
            files.push(FileEntry { path: path.clone(), sha256: Digest::of_bytes(text.as_bytes()) });
            // One at a time: together they are as large as all results.
            if let Some(derived) = self.derived(path, &text)? {
                let derived = entry(&derived);
                if !has(&derived) {
                    missing.push(path);
                }
                files.push(derived);
            }
        }
        files.sort();
        let json = ResultJson::new(P::MANIFEST, P::SCHEMA, self.points.identity(), content, files);
        self.staging.complete(&(P::MANIFEST.file().to_owned(), crate::sealed(&json)), documents)?;
        for path in missing {
            if let Some((path, bytes)) = self.derived(path, &self.text(path)?)? {
                self.staging.put(&path, &bytes)?;
            }
        }
        self.target.keeps(format!("the results in {} are complete", self.target.shown().display()));
        Ok(())
    }

    fn text(&self, path: &str) -> Result<String, FolderError> {
        let path = self.target.path().join(path);
        read_text(&path, LIMIT).map_err(|source| FolderError::Read { path, source })
    }

    fn derived(&self, path: &str, text: &str) -> Result<Option<Document>, FolderError> {
        let failed = |source| FolderError::Read { path: self.target.path().join(path), source };
        P::derived(path, text).map_err(failed)
    }

    fn count(&self, path: &str) {
        self.stored.borrow_mut().insert(path.to_owned());
        self.say();
    }

    /// Updates the sentence on what an interruption keeps.
    fn say(&self) {
        let shown = self.target.shown().display().to_string();
        self.target.keeps(self.points.kept(self.stored.borrow().len(), &shown));
    }
}
