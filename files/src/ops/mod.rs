//! Every operation that changes files or folders. In builds with debug assertions, tests can make the n-th operation
//! fail or end the process, see [`fault`].

#[cfg(debug_assertions)]
mod fault;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::gate::{self, Open, Registered};

/// Performs one operation. Blocks for good once the process is interrupted.
fn step<T>(name: &'static str, path: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    reach(name, path, || ())?;
    let done = {
        let _open = gate::enter();
        act()
    };
    #[cfg(debug_assertions)]
    fault::done();
    done
}

/// Applies the faults that a test requests. `half` performs a part of the operation before it fails.
#[cfg(debug_assertions)]
fn reach(name: &'static str, path: &Path, half: impl FnOnce()) -> io::Result<()> {
    fault::reach(name, path, half)
}

#[cfg(not(debug_assertions))]
fn reach(_name: &'static str, _path: &Path, _half: impl FnOnce()) -> io::Result<()> {
    Ok(())
}

/// Creates a folder that must not exist yet.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    step("create_dir", path, || fs::create_dir(path))
}

/// A folder that was made, and is removed if the process is interrupted before this is dropped.
#[derive(Debug)]
pub(crate) struct MadeDir {
    path: PathBuf,
    _registered: Registered,
}

/// Creates a folder and its missing parents. Returns the created folders, outermost first; each is registered
/// for cleanup from the moment it exists.
pub(crate) fn create_dirs(path: &Path) -> io::Result<Vec<MadeDir>> {
    let mut missing: Vec<&Path> = path.ancestors().take_while(|path| is_missing(path)).collect();
    missing.reverse();
    let mut made = Vec::new();
    for folder in missing {
        let make = || {
            fs::create_dir(folder)?;
            let path = folder.to_owned();
            // It stays if anything is in it.
            Ok(gate::register(Open::new(move || drop(remove_dir(&path)))))
        };
        match step("create_dir", folder, make) {
            Ok(registered) => made.push(MadeDir { path: folder.into(), _registered: registered }),
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                remove_made(&made);
                return Err(error);
            }
        }
    }
    Ok(made)
}

fn is_missing(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.exists()
}

/// Removes the folders that [`create_dirs`] made, where they are empty.
pub(crate) fn remove_made(made: &[MadeDir]) {
    for folder in made.iter().rev() {
        // What others put there meanwhile stays.
        let _ = remove_dir(&folder.path);
    }
}

/// Creates a folder with an unpredictable name that starts with `prefix`, accessible only to this user.
///
/// `open` returns its clean-up. The folder never exists without a registered clean-up.
pub(crate) fn create_unique_dir(
    parent: &Path,
    prefix: &std::ffi::OsStr,
    random: usize,
    open: impl Fn(&Path) -> Open,
) -> io::Result<(PathBuf, Registered)> {
    let make = |path: &Path| {
        step("create_dir", path, || {
            DirBuilder::new().mode(0o700).create(path)?;
            Ok(gate::register(open(path)))
        })
    };
    let made = tempfile::Builder::new().prefix(prefix).rand_bytes(random).make_in(parent, make)?;
    let (registered, path) = made.keep()?;
    Ok((path, registered))
}

/// Creates a file that must not exist yet.
pub(crate) fn create_file(path: &Path) -> io::Result<OutFile> {
    let open = || OpenOptions::new().read(true).write(true).create_new(true).open(path);
    Ok(OutFile { file: step("create_file", path, open)?, path: path.into() })
}

/// Creates a file in `folder` that has no name and vanishes when it is closed.
pub(crate) fn create_nameless(folder: &Path) -> io::Result<OutFile> {
    let file = step("create_nameless", folder, || tempfile::tempfile_in(folder))?;
    Ok(OutFile { file, path: folder.into() })
}

/// Opens a lock file, creates it if necessary, and calls `then` before an interrupt can intervene.
pub(crate) fn open_lock<T>(path: &Path, then: impl FnOnce(File) -> T) -> io::Result<T> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).custom_flags(flags).open(path)
    };
    step("open_lock", path, || open().map(then))
}

/// Renames a file or folder. A folder replaces only an empty folder; a file replaces a file.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step("rename", to, || fs::rename(from, to))
}

/// Renames a file to a name that must not exist yet.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let at_once = step("rename_new", to, || with_flags(from, to, RenameFlags::NOREPLACE))?;
    if at_once {
        return Ok(());
    }
    step("link", to, || fs::hard_link(from, to))?;
    remove_file(from)
}

/// Exchanges two folders. Returns whether the file system supports that.
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    step("exchange", b, || with_flags(a, b, RenameFlags::EXCHANGE))
}

/// Renames with flags. Returns whether the file system supports them.
fn with_flags(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<bool> {
    #[cfg(debug_assertions)]
    if fault::plain_renames() {
        return Ok(false);
    }
    match renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    again(|| step("remove_file", path, || fs::remove_file(path)))
}

/// Removes an empty folder.
pub(crate) fn remove_dir(path: &Path) -> io::Result<()> {
    again(|| step("remove_dir", path, || fs::remove_dir(path)))
}

/// Removes a folder with its contents. Links are not followed.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    again(|| step("remove_tree", path, || fs::remove_dir_all(path)))
}

/// Retries a failed removal once, because network file systems may need a second attempt.
fn again(remove: impl Fn() -> io::Result<()>) -> io::Result<()> {
    remove().or_else(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => remove(),
    })
}

/// A file open for writing.
#[derive(Debug)]
pub struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// Returns the file, for reading it back.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Waits until the file is on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        step("sync", &self.path, || self.file.sync_data())
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = &mut self.file;
        reach("write", &self.path, || {
            let _ = file.write(&bytes[..bytes.len() / 2]);
        })?;
        let done = {
            let _open = gate::enter();
            self.file.write(bytes)
        };
        #[cfg(debug_assertions)]
        fault::done();
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for OutFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
