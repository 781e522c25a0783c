//! Staging: results that are not complete yet.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::gate::Registered;
use crate::latched::Latched;
use crate::ops::{self, OutFile};
use crate::unfinished::{self, BACK, MARKER, NEW, RANDOM, SWAP, is_absent};
use crate::{Digest, Existing, FileEntry, FolderError, Foreign, Inventory, Manifest, Target, Why, lock};

/// A file to write: its path relative to the folder, and its bytes.
pub type Document = (String, Vec<u8>);

/// A hidden folder with an unpredictable name next to a [`Target`]. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Staging<'a> {
    target: &'a Target,
    folder: PathBuf,
    written: Vec<FileEntry>,
    parts: Cell<u64>,
    _registered: Registered,
}

impl Target {
    /// Creates a staging folder next to the target.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn stage(&self) -> Result<Staging<'_>, FolderError> {
        Staging::new(self)
    }
}

impl<'a> Staging<'a> {
    fn new(target: &'a Target) -> Result<Self, FolderError> {
        let parent = lock::parent(target.path());
        let entry = |folder: &Path| unfinished::open(folder, target.path());
        let (folder, registered) =
            ops::create_unique_dir(parent, &lock::beside(target.path()), RANDOM, entry)
                .map_err(FolderError::write(parent))?;
        let staging =
            Self { target, folder, written: Vec::new(), parts: Cell::new(0), _registered: registered };
        let failed = FolderError::write(&staging.folder);
        ops::create_file(&staging.folder.join(MARKER)).map_err(&failed)?;
        ops::create_dir(&staging.folder.join(NEW)).map_err(failed)?;
        Ok(staging)
    }

    /// Adds a file to the results.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let full = self.prepare(path)?;
        write_file(&full, bytes).map_err(|source| self.failed(path)(source))?;
        self.written.push(FileEntry { path: path.into(), sha256: Digest::of_bytes(bytes) });
        Ok(())
    }

    /// Adds several files.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write_all(&mut self, documents: &[Document]) -> Result<(), FolderError> {
        documents.iter().try_for_each(|(path, bytes)| self.write(path, bytes))
    }

    /// Adds a file that `write` writes piece by piece.
    ///
    /// # Errors
    /// Errors of `write`, and [`FolderError::Write`].
    pub fn write_with<E: From<FolderError>>(
        &mut self,
        path: &str,
        write: impl FnOnce(&mut Latched) -> Result<(), E>,
    ) -> Result<(), E> {
        let full = self.prepare(path)?;
        let failed = self.failed(path);
        let mut out = Latched::new(ops::create_file(&full).map_err(&failed)?);
        let written = write(&mut out);
        out.finish().map_err(&failed)?;
        written?;
        let sha256 = Digest::of_file(&full).map_err(&failed)?;
        self.written.push(FileEntry { path: path.into(), sha256 });
        Ok(())
    }

    /// Returns the added files, sorted by path.
    pub fn entries(&self) -> Vec<FileEntry> {
        let mut entries = self.written.clone();
        entries.sort();
        entries
    }

    /// Puts all results in place in one step, or none of them.
    ///
    /// One of them must be a [`Manifest`] that lists the others, so that they can be replaced later.
    ///
    /// # Errors
    /// [`FolderError::NoManifest`], and those of [`publish_unlisted`](Self::publish_unlisted).
    pub fn publish(&mut self, existing: Existing) -> Result<(), FolderError> {
        let is_manifest =
            |entry: &FileEntry| Manifest::ALL.iter().any(|manifest| manifest.file() == entry.path);
        if !self.written.iter().any(is_manifest) {
            return Err(FolderError::NoManifest { path: self.target.shown().into() });
        }
        self.publish_unlisted(existing)
    }

    /// Puts files in place that no manifest lists, in one step, or none of them. They count as the user's own
    /// afterwards.
    ///
    /// # Errors
    /// [`FolderError::Occupied`] or [`FolderError::Foreign`] if the target holds something that may not be replaced;
    /// [`FolderError::Write`].
    pub fn publish_unlisted(&mut self, existing: Existing) -> Result<(), FolderError> {
        let shown = self.target.shown();
        if existing == Existing::Replace && !self.target.is_empty()? {
            self.replace()?;
        } else {
            let renamed = ops::rename(&self.folder.join(NEW), self.target.path());
            renamed.map_err(|source| match source.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                    FolderError::Occupied { path: shown.into(), ours: false, differs: Vec::new() }
                }
                io::ErrorKind::NotADirectory => FolderError::NotAFolder { path: shown.into() },
                _ => FolderError::write(shown)(source),
            })?;
        }
        self.target.keeps(format!("the results in {} are complete", shown.display()));
        Ok(())
    }

    /// Exchanges the results with the target and removes the old target.
    fn replace(&self) -> Result<(), FolderError> {
        let (target, shown) = (self.target.path(), self.target.shown());
        let failed = FolderError::write(shown);
        self.target.inventory()?.require_ours(shown)?;
        let (swap, back) = (self.folder.join(SWAP), self.folder.join(BACK));
        ops::rename(&self.folder.join(NEW), &swap).map_err(&failed)?;
        unfinished::swap_folders(&swap, target, &back).map_err(&failed)?;
        // From now on nobody writes to the old target. If it received foreign files meanwhile, exchange them back.
        if let Err(error) = Inventory::of(&swap)?.require_ours(shown) {
            unfinished::swap_folders(&swap, target, &back).map_err(&failed)?;
            return Err(error);
        }
        // The results are in place. The next run removes what cannot be removed now.
        let _ = unfinished::remove_replaced(&self.folder, target);
        Ok(())
    }

    /// Puts one file in place in the existing target, in one step or not at all. The file survives a power cut.
    ///
    /// It replaces only files that guardbit wrote.
    ///
    /// # Errors
    /// [`FolderError::Foreign`] if a foreign file has its place, [`FolderError::Write`].
    pub fn put(&self, path: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let to = self.target.path().join(path);
        let failed = self.failed(path);
        self.make_folders(Path::new(path))?;
        self.parts.set(self.parts.get() + 1);
        let part = self.folder.join(format!("part{}", self.parts.get()));
        let file = write_file(&part, bytes).map_err(&failed)?;
        file.sync().map_err(&failed)?;
        if is_absent(&to) {
            return ops::rename_new(&part, &to).map_err(failed);
        }
        self.require_ours([path])?;
        ops::rename(&part, &to).map_err(failed)
    }

    /// Puts the last files of a target in place, after its other files.
    ///
    /// `manifest` lists all files and is written first, so that they can be recognized as guardbit's own at any time.
    ///
    /// # Errors
    /// See [`put`](Self::put).
    pub fn complete(&self, manifest: &Document, documents: &[Document]) -> Result<(), FolderError> {
        self.require_ours(documents.iter().map(|(path, _)| path.as_str()))?;
        let found = |path: &str| Digest::of_file(&self.target.path().join(path)).ok();
        let is_there = |(path, bytes): &Document| found(path) == Some(Digest::of_bytes(bytes));
        let missing: Vec<&Document> = documents.iter().filter(|document| !is_there(document)).collect();
        if !is_there(manifest) {
            // The new manifest would not list these old files.
            for (path, _) in &missing {
                let stale = self.target.path().join(path);
                if !is_absent(&stale) {
                    ops::remove_file(&stale).map_err(self.failed(path))?;
                }
            }
            self.put(&manifest.0, &manifest.1)?;
        }
        missing.into_iter().try_for_each(|(path, bytes)| self.put(path, bytes))
    }

    /// Fails if the target has a foreign file at one of these paths.
    ///
    /// # Errors
    /// [`FolderError::Foreign`], [`FolderError::Read`].
    pub fn require_ours<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Result<(), FolderError> {
        let taken = paths.into_iter().filter(|path| !is_absent(&self.target.path().join(path)));
        let taken: Vec<&str> = taken.collect();
        let inventory = if taken.is_empty() { Inventory::default() } else { self.target.inventory()? };
        inventory.require_owned(self.target.shown(), taken)
    }

    /// Creates the parent folders of a file of the target. None of them may be a link.
    fn make_folders(&self, path: &Path) -> Result<(), FolderError> {
        let inside = path.ancestors().skip(1).filter(|sub| !sub.as_os_str().is_empty());
        for sub in inside.collect::<Vec<_>>().into_iter().rev() {
            let folder = self.target.path().join(sub);
            let failed = FolderError::write(&folder);
            if is_absent(&folder) {
                ops::create_dir(&folder).map_err(failed)?;
            } else if !fs::symlink_metadata(&folder).map_err(failed)?.is_dir() {
                let files = vec![Foreign { path: sub.into(), why: Why::NotWritten }];
                return Err(FolderError::Foreign { path: self.target.shown().into(), files });
            }
        }
        Ok(())
    }

    /// Removes what guardbit wrote to the target, and the target itself if it is empty then.
    ///
    /// # Errors
    /// [`FolderError::Read`] and [`FolderError::Write`].
    pub fn discard(&self) -> Result<(), FolderError> {
        let target = self.target.path();
        self.target.inventory()?.remove(target).map_err(FolderError::write(self.target.shown()))
    }

    /// Creates the folder of a new file and returns the path of the file.
    fn prepare(&self, path: &str) -> Result<PathBuf, FolderError> {
        let full = self.folder.join(NEW).join(path);
        let parent = full.parent().unwrap_or(&full);
        ops::create_dirs(parent).map_err(|source| self.failed(path)(source))?;
        Ok(full)
    }

    /// Returns a conversion to an error that names the final path of the file.
    fn failed(&self, path: &str) -> impl Fn(io::Error) -> FolderError + use<> {
        let path = self.target.shown().join(path);
        move |source| FolderError::Write { path: path.clone(), source }
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // The next run removes what cannot be removed now.
        let _ = unfinished::tidy(&self.folder, self.target.path());
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<OutFile> {
    let mut file = ops::create_file(path)?;
    file.write_all(bytes)?;
    Ok(file)
}
