//! Clean-up of what an unfinished process left behind.
//!
//! A staging folder holds
//! - `guardbit-staging`: an empty marker file that exists as long as the folder is in use;
//! - `new/`: results in preparation, and `part` files;
//! - `swap/`: finished results about to be exchanged with the target, then the old target;
//! - `back/`: the old target, between two renames if the file system cannot exchange folders in one step;
//! - `old/`: the old target, to be removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::gate::Open;
use crate::{FolderError, Inventory, lock, ops};

pub(crate) const MARKER: &str = "guardbit-staging";
pub(crate) const NEW: &str = "new";
pub(crate) const SWAP: &str = "swap";
pub(crate) const BACK: &str = "back";
const OLD: &str = "old";
/// Length of the random suffix of a staging folder's name.
pub(crate) const RANDOM: usize = 12;

/// Removes what dead processes left next to `target`. The caller must hold its lock, so that no living process owns
/// it.
pub(crate) fn tidy_all(target: &Path) -> Result<(), FolderError> {
    let parent = lock::parent(target);
    let prefix = lock::beside(target);
    let entries = fs::read_dir(parent).map_err(FolderError::read(parent))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| is_staging(entry.file_name().as_encoded_bytes(), prefix.as_encoded_bytes()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.iter().try_for_each(|folder| tidy(folder, target))
}

/// Returns the clean-up of a staging folder.
pub(crate) fn open(folder: &Path, target: &Path) -> Open {
    let (folder, target) = (folder.to_owned(), target.to_owned());
    Open::new(move || drop(tidy(&folder, &target)))
}

fn is_staging(name: &[u8], prefix: &[u8]) -> bool {
    let random = name.strip_prefix(prefix);
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Removes a staging folder. After an interrupted exchange, the target becomes either the old or the new one.
///
/// Foreign files are not removed.
pub(crate) fn tidy(folder: &Path, target: &Path) -> Result<(), FolderError> {
    let failed = FolderError::write(folder);
    if !is_file(&folder.join(MARKER)) {
        // The folder was only just created, or it is not guardbit's.
        return match ops::remove_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(failed(error)),
            _ => Ok(()),
        };
    }
    remove_replaced(folder, target)?;
    if is_folder(&folder.join(NEW)) {
        ops::remove_tree(&folder.join(NEW)).map_err(&failed)?;
    }
    for entry in fs::read_dir(folder).map_err(FolderError::read(folder))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b"part") {
            ops::remove_file(&entry.path()).map_err(&failed)?;
        }
    }
    if is_folder(&folder.join(OLD)) {
        // It holds foreign files, so it stays, and this folder too.
        return Ok(());
    }
    ops::remove_file(&folder.join(MARKER)).map_err(&failed)?;
    ops::remove_dir(folder).map_err(&failed)
}

/// Completes an exchange and removes the old target.
pub(crate) fn remove_replaced(folder: &Path, target: &Path) -> Result<(), FolderError> {
    let old = folder.join(OLD);
    settle(folder, &old, target)?;
    if is_folder(&old) {
        Inventory::of(&old)?.remove(&old).map_err(FolderError::write(&old))?;
    }
    Ok(())
}

/// Completes an exchange. Afterwards neither `swap` nor `back` exists.
fn settle(folder: &Path, old: &Path, target: &Path) -> Result<(), FolderError> {
    let (swap, back) = (folder.join(SWAP), folder.join(BACK));
    let failed = FolderError::write(target);
    if is_folder(&back) {
        if is_absent(target) {
            ops::rename(&back, target).map_err(&failed)?;
        } else {
            if is_folder(&swap) {
                Inventory::of(&swap)?.remove(&swap).map_err(FolderError::write(&swap))?;
            }
            ops::rename(&back, &swap).map_err(FolderError::write(&swap))?;
        }
    }
    if !is_folder(&swap) {
        return Ok(());
    }
    if is_absent(target) {
        return ops::rename(&swap, target).map_err(failed);
    }
    let (mine, there) = (Inventory::of(&swap)?, Inventory::of(target)?);
    if !mine.foreign().is_empty() && there.foreign().is_empty() {
        // The old target holds foreign files, so it is put back.
        swap_folders(&swap, target, &back).map_err(failed)?;
    }
    ops::rename(&swap, old).map_err(FolderError::write(old))
}

/// Exchanges two folders in one step or, if the file system does not support that, by way of `aside`.
pub(crate) fn swap_folders(a: &Path, b: &Path, aside: &Path) -> io::Result<()> {
    if ops::exchange(a, b)? {
        return Ok(());
    }
    ops::rename(b, aside)?;
    ops::rename(a, b).inspect_err(|_| {
        let _ = ops::rename(aside, b);
    })?;
    ops::rename(aside, a)
}

pub(crate) fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}
