//! Access to users' files: reads are bounded, writes are complete or absent, and foreign files are never replaced.
//!
//! Results go to a [`Target`], a folder that one process at a time writes to. They are prepared in a [`Staging`], a
//! hidden folder next to the target, and put in place by one rename. `--force` replaces a folder only if every file
//! in it belongs to guardbit, see [`Inventory`]. The next process with an equal target removes what a killed process
//! left.

mod digest;
mod error;
mod existing;
mod foreign;
mod gate;
mod inventory;
mod latched;
mod lock;
mod npy;
mod ops;
mod read;
mod schema;
mod scratch;
mod seal;
mod settings;
mod single;
mod staging;
mod store;
mod target;
mod unfinished;
mod work;

pub use digest::{Digest, DigestError, FileHasher, Hasher};
pub use error::FolderError;
pub use existing::Existing;
pub use foreign::{Foreign, Why};
pub use gate::{Registered, at_interrupt, interrupt};
pub use inventory::{Inventory, Manifest};
pub use latched::Latched;
pub use npy::{NPY_MAGIC, npy_header};
pub use ops::OutFile;
pub use read::{open, read, read_text, regular_size};
pub use schema::{Violation, schema_text, schema_violations};
pub use scratch::{Scratch, nameless};
pub use seal::{FileEntry, UNSEALED, is_sealed, seal, seal_of, seal_text};
pub use settings::ListedSettings;
pub use single::SingleFile;
pub use staging::{Document, Staging};
pub use store::Store;
pub use target::Target;
pub use work::WorkFolder;
