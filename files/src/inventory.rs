//! Classifies the files of a folder: written by guardbit, or foreign.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Digest, FolderError, Foreign, Why, ops, read_text, seal};

/// Declares every manifest: its file name, and the subfolders whose files are sealed individually.
macro_rules! manifests {
    ($($(#[$doc:meta])* $name:ident: $file:literal, $parts:expr;)*) => {
        /// The manifest of an output folder: the file that lists the others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Manifest { $($(#[$doc])* $name),* }

        impl Manifest {
            /// Every manifest.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the name of the file, which lies in the folder itself.
            pub const fn file(self) -> &'static str {
                match self { $(Self::$name => $file),* }
            }

            /// Returns the subfolders whose files are sealed individually. They are not listed until the work is
            /// complete.
            const fn parts(self) -> &'static [&'static str] {
                match self { $(Self::$name => &$parts),* }
            }
        }
    };
}

manifests! {
    /// The manifest of a run.
    Run: "run.json", [];
    /// The manifest of a sweep.
    Sweep: "sweep.json", ["points"];
    /// The manifest of a sizing, which finds sufficient widths.
    Size: "size.json", [];
    /// The manifest of a design exploration.
    Explore: "explore.json", ["values", "searches"];
    /// The manifest of a quantization report.
    Quantize: "quantize.json", [];
    /// The manifest of inputs that tell accelerators apart.
    Discriminate: "discriminate.json", [];
    /// The manifest of a bundle of test vectors.
    Bundle: "manifest.json", [];
    /// The manifest of memory images of whole layers.
    Layout: "layout.json", [];
    /// The manifest of a folder that other programs worked in.
    Work: "work.json", [];
}

/// Maximum size of a sealed file, in bytes.
const SEALED_LIMIT: u64 = 1 << 28;

/// The files of a folder, split into guardbit's own and foreign ones.
///
/// A file belongs to guardbit if it is sealed (see [`seal`](crate::seal)), or if a sealed manifest lists it with its
/// current SHA-256. Links, pipes, sockets and devices are always foreign, and so are folders without a file of
/// guardbit.
#[derive(Debug, Default)]
pub struct Inventory {
    files: BTreeSet<PathBuf>,
    manifests: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    foreign: Vec<Foreign>,
}

/// The contents of all manifests of a folder.
#[derive(Default)]
struct Proofs {
    manifests: BTreeSet<PathBuf>,
    listed: HashMap<PathBuf, Vec<Digest>>,
    folders: BTreeSet<PathBuf>,
    /// The subfolders whose files are sealed individually.
    parts: BTreeSet<PathBuf>,
}

impl Inventory {
    /// Returns the inventory of `folder`. Reads every file that a manifest lists.
    ///
    /// # Errors
    /// [`FolderError::Read`] if the folder cannot be listed.
    pub fn of(folder: &Path) -> Result<Self, FolderError> {
        let proofs = Proofs::of(folder);
        let mut found = Self { manifests: proofs.manifests.clone(), ..Self::default() };
        let mut folders = vec![PathBuf::new()];
        while let Some(current) = folders.pop() {
            for name in names(&folder.join(&current))? {
                let path = current.join(name);
                match proofs.judge(folder, &path) {
                    Ok(Kind::Folder) => {
                        found.folders.insert(path.clone());
                        folders.push(path);
                    }
                    Ok(Kind::Manifest) => {}
                    Ok(Kind::File) => {
                        found.files.insert(path);
                    }
                    Err(why) => found.foreign.push(Foreign { path, why }),
                }
            }
        }
        Ok(found)
    }

    /// Returns whether guardbit wrote `path`, which is relative to the folder, with its current content.
    pub fn owns(&self, path: &Path) -> bool {
        self.files.contains(path) || self.manifests.contains(path)
    }

    /// Returns the foreign files of the folder. The contents of foreign folders are not listed.
    pub fn foreign(&self) -> &[Foreign] {
        &self.foreign
    }

    /// Fails if anything in `folder` is foreign.
    pub(crate) fn require_ours(self, folder: &Path) -> Result<Self, FolderError> {
        if self.foreign.is_empty() { Ok(self) } else { Err(refused(folder, self.foreign)) }
    }

    /// Fails if one of `paths`, all of which exist, is foreign.
    pub(crate) fn require_owned(&self, folder: &Path, paths: Vec<&str>) -> Result<(), FolderError> {
        let foreign = paths.into_iter().map(Path::new).filter(|path| !self.owns(path));
        let why =
            |path: &Path| self.foreign.iter().find(|foreign| foreign.path == path).map(|known| known.why);
        let files: Vec<Foreign> = foreign
            .map(|path| Foreign { path: path.into(), why: why(path).unwrap_or(Why::NotWritten) })
            .collect();
        if files.is_empty() { Ok(()) } else { Err(refused(folder, files)) }
    }

    /// Removes guardbit's files from `folder`, the manifests last, and the folders that become empty.
    pub(crate) fn remove(&self, folder: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|file| ops::remove_file(&folder.join(file)))?;
        for sub in self.folders.iter().rev() {
            match ops::remove_dir(&folder.join(sub)) {
                Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => return Err(error),
                _ => {}
            }
        }
        self.manifests.iter().try_for_each(|file| ops::remove_file(&folder.join(file)))?;
        match ops::remove_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns the error for foreign files. Files that were guardbit's once come first.
fn refused(folder: &Path, mut files: Vec<Foreign>) -> FolderError {
    files.sort_by_key(|file| file.why != Why::Changed);
    FolderError::Foreign { path: folder.into(), files }
}

/// Returns whether a manifest written by guardbit lies in `folder`.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    Manifest::ALL.iter().any(|manifest| sealed_text(&folder.join(manifest.file())).is_some())
}

/// Returns the regular files in a folder and below it, sorted. Links, pipes and the like are left out.
pub(crate) fn regular_files(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(current) = folders.pop() {
        for name in names(&folder.join(&current))? {
            let path = current.join(name);
            match fs::symlink_metadata(folder.join(&path)) {
                Ok(found) if found.is_dir() => folders.push(path),
                Ok(found) if found.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, FolderError> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()
    });
    let mut names = entries.map_err(FolderError::read(folder))?;
    names.sort();
    Ok(names)
}

/// Returns the text of a sealed file that is not a link.
fn sealed_text(path: &Path) -> Option<String> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| read_text(path, SEALED_LIMIT).ok())?.filter(|text| seal::is_sealed(text))
}

/// The kind of a file or folder that belongs to guardbit.
enum Kind {
    Folder,
    File,
    Manifest,
}

impl Proofs {
    fn of(folder: &Path) -> Self {
        let mut proofs = Self::default();
        for manifest in Manifest::ALL {
            let Some(text) = sealed_text(&folder.join(manifest.file())) else { continue };
            proofs.manifests.insert(manifest.file().into());
            proofs.parts.extend(manifest.parts().iter().map(PathBuf::from));
            proofs.folders.extend(manifest.parts().iter().map(PathBuf::from));
            for (path, digest) in seal::listed(&text).unwrap_or_default() {
                proofs.folders.extend(path.ancestors().skip(1).map(PathBuf::from));
                proofs.listed.entry(path).or_default().push(digest);
            }
        }
        proofs
    }

    /// Returns the kind of the file or folder `path`, or the reason why it is foreign.
    fn judge(&self, folder: &Path, path: &Path) -> Result<Kind, Why> {
        let full = folder.join(path);
        let kind = fs::symlink_metadata(&full).map_err(|_| Why::Unreadable)?.file_type();
        if kind.is_symlink() {
            return Err(Why::Link);
        }
        if kind.is_dir() {
            return if self.folders.contains(path) { Ok(Kind::Folder) } else { Err(Why::NotWritten) };
        }
        if !kind.is_file() {
            return Err(Why::Special);
        }
        if self.manifests.contains(path) {
            return Ok(Kind::Manifest);
        }
        if let Some(digests) = self.listed.get(path) {
            let found = Digest::of_file(&full).map_err(|_| Why::Unreadable)?;
            if digests.contains(&found) {
                return Ok(Kind::File);
            }
        }
        let is_part = path.parent().is_some_and(|folder| self.parts.contains(folder));
        if is_part && sealed_text(&full).is_some() {
            return Ok(Kind::File);
        }
        let may_be_ours = self.listed.contains_key(path) || is_part || {
            let is_manifest = Manifest::ALL.iter().any(|manifest| path == Path::new(manifest.file()));
            is_manifest && read_text(&full, SEALED_LIMIT).is_ok_and(|text| seal::names_tool(&text))
        };
        Err(if may_be_ours { Why::Changed } else { Why::NotWritten })
    }
}
