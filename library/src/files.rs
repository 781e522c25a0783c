//! Folders that are complete or absent: reading within limits, staging, locks, seals.
//!
//! ```
//! use guardbit::files::{Existing, Scratch, Target};
//!
//! let scratch = Scratch::new("example-")?;
//! let folder = scratch.path().join("results");
//! let target = Target::claim_for(&folder, Existing::Refuse)?;
//! let mut staging = target.stage()?;
//! staging.write("table.csv", b"bits,events\n14,3\n")?;
//! assert!(!folder.exists());
//! staging.publish_unlisted(Existing::Refuse)?;
//! assert!(folder.join("table.csv").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use guardbit_files::*;
