//! Errors of output folders and output files.

use std::io;
use std::path::{Path, PathBuf};

use crate::foreign::{Foreign, in_words};

/// The reason why results cannot be written to a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file or folder cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A folder cannot be listed.
    #[error("{}: the output folder cannot be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The output path is a file, or cannot name a folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The output path is the root of the file system, which has no parent for a staging folder.
    #[error("refusing to replace {}: it is the root of the file system", path.display())]
    Root {
        /// The path.
        path: PathBuf,
    },
    /// The output folder lies in a folder that guardbit must not write to.
    #[error("refusing to write to {}: it lies in {}, which must not change", path.display(), outer.display())]
    Within {
        /// The folder.
        path: PathBuf,
        /// The folder that must stay unchanged.
        outer: PathBuf,
    },
    /// The output folder is not empty.
    #[error("{} is not empty", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// Whether guardbit wrote it.
        ours: bool,
        /// The settings that differ from the requested ones, if known.
        differs: Vec<&'static str>,
    },
    /// The output folder holds files that guardbit did not write, or that were changed since.
    #[error("{} holds files that guardbit did not write, or that changed since:{}", path.display(), in_words(files))]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The files.
        files: Vec<Foreign>,
    },
    /// The output file exists.
    #[error("{} already exists", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
        /// Whether guardbit wrote it.
        ours: bool,
    },
    /// The file cannot be replaced, because guardbit did not write it.
    #[error("refusing to replace {}: guardbit did not write it", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// The results have no [`Manifest`](crate::Manifest), so `--force` could never replace them.
    #[error("{}: the results have no manifest", path.display())]
    NoManifest {
        /// The folder.
        path: PathBuf,
    },
    /// Another process writes to the folder or file.
    #[error("another guardbit is writing to {}", path.display())]
    Busy {
        /// The folder or file.
        path: PathBuf,
    },
}

impl FolderError {
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.into(), source }
    }

    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |source| Self::Read { path: path.into(), source }
    }

    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Write { .. } => "guardbit::folder::write",
            Self::Read { .. } => "guardbit::folder::read",
            Self::NotAFolder { .. }
            | Self::Root { .. }
            | Self::Within { .. }
            | Self::Occupied { .. }
            | Self::NoManifest { .. } => "guardbit::folder",
            Self::FileExists { .. } => "guardbit::file",
            Self::ForeignFile { .. } => "guardbit::file::foreign",
            Self::Foreign { .. } => "guardbit::folder::foreign",
            Self::Busy { .. } => "guardbit::folder::busy",
        }
    }

    /// Returns what the user can do.
    pub fn help(&self) -> String {
        match self {
            Self::Occupied { ours: true, differs, .. } => {
                let what = match differs.as_slice() {
                    [] => "it holds results".to_owned(),
                    differs => format!("its results come from {}", differs.join(", ")),
                };
                format!("{what}: choose another folder, or replace it with --force")
            }
            Self::Occupied { ours: false, .. } => "choose another folder".into(),
            Self::FileExists { ours: true, .. } => "choose another name, or replace it with --force".into(),
            Self::FileExists { ours: false, .. } | Self::ForeignFile { .. } => {
                "choose another name, or move or remove it yourself".into()
            }
            Self::Foreign { .. } => {
                "nothing was changed: move or remove these files yourself, or choose another folder; files \
                 of an earlier version of guardbit have no seal and count as foreign"
                    .into()
            }
            Self::Within { .. } => "choose a folder outside of it".into(),
            Self::Root { .. } => "choose a folder within it".into(),
            Self::Busy { .. } => "wait until it is done, or choose another name".into(),
            Self::Write { source, .. } if is_mount_point(source) => {
                "a mounted folder cannot be replaced: choose a folder within it".into()
            }
            Self::Write { source, .. } if source.kind() == io::ErrorKind::Unsupported => {
                "its file system does not support locks (`flock`): choose a folder on another file \
                 system"
                    .into()
            }
            Self::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "the disk is full: free space, or choose a folder on another disk".into()
            }
            Self::Write { .. } => "check that you may write there, or choose another path".into(),
            Self::Read { .. } => "check that you may read it, or choose another path".into(),
            Self::NotAFolder { .. } => {
                "choose the path of a folder, or of one that does not exist yet".into()
            }
            Self::NoManifest { .. } => {
                "this is a fault of guardbit: please report it with the command".into()
            }
        }
    }
}

fn is_mount_point(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}
