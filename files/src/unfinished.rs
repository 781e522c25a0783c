//! What a process leaves behind that did not come to its end.
//!
//! A staging folder holds
//! - `guardbit-staging`: an empty file, there from the first to the last moment;
//! - `new/`: results on their way, and `part` files;
//! - `swap/`: finished results about to change places with the target, then what the target was;
//! - `back/`: what the target was, for the moment between two renames where they cannot change places at once;
//! - `old/`: what the target was, to be removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{FolderError, Inventory, lock, ops};

pub(crate) const MARKER: &str = "guardbit-staging";
pub(crate) const NEW: &str = "new";
pub(crate) const SWAP: &str = "swap";
pub(crate) const BACK: &str = "back";
const OLD: &str = "old";
/// Length of the random end of a staging folder's name.
pub(crate) const RANDOM: usize = 12;

/// Removes what dead processes left beside `target`. Its lock must be held: who holds it knows that they are dead.
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

fn is_staging(name: &[u8], prefix: &[u8]) -> bool {
    let random = name.strip_prefix(prefix);
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Removes a staging folder. Where it was about to change places with the target, the target becomes what it was, or
/// what it was to be; what guardbit did not write is not removed.
pub(crate) fn tidy(folder: &Path, target: &Path) -> Result<(), FolderError> {
    let failed = FolderError::write(folder);
    if !is_file(&folder.join(MARKER)) {
        // Made, but nothing more: or not ours.
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
        // Something of others is in it: it stays, and so does this folder.
        return Ok(());
    }
    ops::remove_file(&folder.join(MARKER)).map_err(&failed)?;
    ops::remove_dir(folder).map_err(&failed)
}

/// Ends a change of places and removes what the target was.
pub(crate) fn remove_replaced(folder: &Path, target: &Path) -> Result<(), FolderError> {
    let old = folder.join(OLD);
    settle(folder, &old, target)?;
    if is_folder(&old) {
        Inventory::of(&old)?.remove(&old).map_err(FolderError::write(&old))?;
    }
    Ok(())
}

/// Ends a change of places: afterwards there is neither `swap` nor `back`.
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
        // What the target was, with something of others in it: it comes back.
        swap_folders(&swap, target, &back).map_err(failed)?;
    }
    ops::rename(&swap, old).map_err(FolderError::write(old))
}

/// Lets two folders change places: at once, or where the file system cannot, by way of `aside`.
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
