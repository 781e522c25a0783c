//! Every operation that changes something on disk. In builds with debug assertions tests can make the n-th one fail or
//! end the process, see [`fault`].

#[cfg(debug_assertions)]
mod fault;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::gate::{self, Open, Registered};

/// One operation: nothing is done any more once the process was interrupted.
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

/// Where a test wants this operation to fail, `half` does a part of it.
#[cfg(debug_assertions)]
fn reach(name: &'static str, path: &Path, half: impl FnOnce()) -> io::Result<()> {
    fault::reach(name, path, half)
}

#[cfg(not(debug_assertions))]
fn reach(_name: &'static str, _path: &Path, _half: impl FnOnce()) -> io::Result<()> {
    Ok(())
}

/// Creates a folder that is not there.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    step("create_dir", path, || fs::create_dir(path))
}

/// A folder that was made, and is removed if the process is interrupted before this is dropped.
#[derive(Debug)]
pub(crate) struct MadeDir {
    path: PathBuf,
    _registered: Registered,
}

/// Creates a folder and those above it. Returns the ones that were not there, outermost first: there is no moment in which one
/// is there without being tidied up.
pub(crate) fn create_dirs(path: &Path) -> io::Result<Vec<MadeDir>> {
    let mut missing: Vec<&Path> = path.ancestors().take_while(|path| is_missing(path)).collect();
    missing.reverse();
    let mut made = Vec::new();
    for folder in missing {
        let make = || {
            fs::create_dir(folder)?;
            Ok(gate::register(Open::Above(folder.into())))
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

/// A folder of an unpredictable name that begins with `prefix`, for this user alone, and what tidies it up: there is no moment
/// in which one is there without the other.
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

/// Creates a file that is not there.
pub(crate) fn create_file(path: &Path) -> io::Result<OutFile> {
    let open = || OpenOptions::new().read(true).write(true).create_new(true).open(path);
    Ok(OutFile { file: step("create_file", path, open)?, path: path.into() })
}

/// A file in `folder` that cannot be seen there, and is gone when it is closed.
pub(crate) fn create_nameless(folder: &Path) -> io::Result<OutFile> {
    let file = step("create_nameless", folder, || tempfile::tempfile_in(folder))?;
    Ok(OutFile { file, path: folder.into() })
}

/// Opens the file of a lock, making it where it is not there, and does `then` before anything else can happen.
pub(crate) fn open_lock<T>(path: &Path, then: impl FnOnce(File) -> T) -> io::Result<T> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).custom_flags(flags).open(path)
    };
    step("open_lock", path, || open().map(then))
}

/// Renames a file or folder. A folder replaces nothing but an empty folder, a file replaces a file.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step("rename", to, || fs::rename(from, to))
}

/// Renames a file to a name that nothing has.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let at_once = step("rename_new", to, || with_flags(from, to, RenameFlags::NOREPLACE))?;
    if at_once {
        return Ok(());
    }
    step("link", to, || fs::hard_link(from, to))?;
    remove_file(from)
}

/// Lets two folders change places. Returns whether the file system can do that.
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    step("exchange", b, || with_flags(a, b, RenameFlags::EXCHANGE))
}

/// Returns whether the file system knows the flags.
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

/// Removes a folder with all that is in it. Links are not followed.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    again(|| step("remove_tree", path, || fs::remove_dir_all(path)))
}

/// What is left over is a nuisance: file systems on a network may need a second try.
fn again(remove: impl Fn() -> io::Result<()>) -> io::Result<()> {
    remove().or_else(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => remove(),
    })
}

/// A file that is written.
#[derive(Debug)]
pub struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// For reading it back.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Waits until the file is on the disk.
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
