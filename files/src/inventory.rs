//! Whose files are in a folder.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Digest, FolderError, ops, read_text, seal};

/// Declares every manifest: its file, and the folders beside it whose files prove themselves.
macro_rules! manifests {
    ($($(#[$doc:meta])* $name:ident: $file:literal, $parts:expr;)*) => {
        /// The file of a folder of results that lists the others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Manifest { $($(#[$doc])* $name),* }

        impl Manifest {
            /// Every manifest.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name of the file, which lies in the folder itself.
            pub const fn file(self) -> &'static str {
                match self { $(Self::$name => $file),* }
            }

            /// Folders beside it whose files prove themselves: before the work is done they are not listed yet.
            const fn parts(self) -> &'static [&'static str] {
                match self { $(Self::$name => &$parts),* }
            }
        }
    };
}

manifests! {
    /// Of a run.
    Run: "run.json", [];
    /// Of a sweep.
    Sweep: "sweep.json", ["points"];
    /// Of widths that are enough.
    Size: "size.json", [];
    /// Of an exploration of designs.
    Explore: "explore.json", ["values", "searches"];
    /// Of the report of a quantization.
    Quantize: "quantize.json", [];
    /// Of a bundle of test vectors.
    Bundle: "manifest.json", [];
    /// Of a folder that other programs worked in.
    Work: "work.json", [];
}

/// Bytes of a sealed file, at most.
const SEALED_LIMIT: u64 = 1 << 28;
/// So many foreign files are told.
const TOLD: usize = 10;

/// The files of a folder: guardbit's own, and others.
///
/// A file is guardbit's if a manifest that is sealed (see [`seal`](crate::seal)) lists it with the SHA-256 that it has,
/// or if it is sealed itself. Links, pipes, sockets and devices never are, nor folders that no file of guardbit's needs.
#[derive(Debug, Default)]
pub struct Inventory {
    files: BTreeSet<PathBuf>,
    manifests: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    foreign: Vec<Foreign>,
}

/// A file that is not guardbit's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Path within the folder.
    pub path: PathBuf,
    /// Why it is none.
    pub why: Why,
}

/// Why a file is not guardbit's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// No manifest lists it.
    NotWritten,
    /// A manifest lists it with another content.
    Changed,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Special,
    /// It cannot be read.
    Unreadable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWritten => "not written by guardbit",
            Self::Changed => "changed since guardbit wrote it",
            Self::Link => "a symbolic link",
            Self::Special => "neither a file nor a folder",
            Self::Unreadable => "cannot be read",
        })
    }
}

/// A line per file, of the first ones.
pub(crate) fn in_words(files: &[Foreign]) -> String {
    let line = |file: &Foreign| format!("\n  {}: {}", shown(&file.path), file.why);
    let lines: String = files.iter().take(TOLD).map(line).collect();
    match files.len().saturating_sub(TOLD) {
        0 => lines,
        others => format!("{lines}\n  and {others} more"),
    }
}

/// Without what a terminal would obey.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.chars().take(200).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What the manifests of a folder say.
#[derive(Default)]
struct Proofs {
    manifests: BTreeSet<PathBuf>,
    listed: HashMap<PathBuf, Vec<Digest>>,
    folders: BTreeSet<PathBuf>,
    /// Those of the folders whose files prove themselves.
    parts: BTreeSet<PathBuf>,
}

impl Inventory {
    /// Looks through `folder`. Every file that a manifest lists is read.
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

    /// Whether guardbit wrote `path`, relative to the folder, as it is.
    pub fn owns(&self, path: &Path) -> bool {
        self.files.contains(path) || self.manifests.contains(path)
    }

    /// What is in the folder beside guardbit's files. What lies in a folder of others is not looked at.
    pub fn foreign(&self) -> &[Foreign] {
        &self.foreign
    }

    /// Fails if anything in `folder` is not guardbit's.
    pub(crate) fn require_ours(self, folder: &Path) -> Result<Self, FolderError> {
        if self.foreign.is_empty() { Ok(self) } else { Err(refused(folder, self.foreign)) }
    }

    /// Fails if one of `paths`, which are there, is not guardbit's.
    pub(crate) fn require_owned(&self, folder: &Path, paths: Vec<&str>) -> Result<(), FolderError> {
        let foreign = paths.into_iter().map(Path::new).filter(|path| !self.owns(path));
        let why =
            |path: &Path| self.foreign.iter().find(|foreign| foreign.path == path).map(|known| known.why);
        let files: Vec<Foreign> = foreign
            .map(|path| Foreign { path: path.into(), why: why(path).unwrap_or(Why::NotWritten) })
            .collect();
        if files.is_empty() { Ok(()) } else { Err(refused(folder, files)) }
    }

    /// Removes guardbit's files from `folder`, the manifests last, and the folders that this leaves empty.
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

/// What was guardbit's once is told first.
fn refused(folder: &Path, mut files: Vec<Foreign>) -> FolderError {
    files.sort_by_key(|file| file.why != Why::Changed);
    FolderError::Foreign { path: folder.into(), files }
}

/// Whether a manifest of guardbit's lies in `folder`.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    Manifest::ALL.iter().any(|manifest| sealed_text(&folder.join(manifest.file())).is_some())
}

/// The files in a folder and below it, sorted; no links, pipes and the like.
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

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, FolderError> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()
    });
    let mut names = entries.map_err(FolderError::read(folder))?;
    names.sort();
    Ok(names)
}

/// The text of a sealed file that is no link.
fn sealed_text(path: &Path) -> Option<String> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| read_text(path, SEALED_LIMIT).ok())?.filter(|text| seal::is_sealed(text))
}

/// What something of guardbit's is.
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

    /// Says what the file or folder `path` is, or why it is not guardbit's.
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
