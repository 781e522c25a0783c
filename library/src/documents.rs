//! Documents of users in YAML: reading within limits, with the place of every error.
//!
//! ```
//! use guardbit::documents::{Document, Form};
//!
//! #[derive(Debug, serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Shelf {
//!     schema: u32,
//!     books: Vec<String>,
//! }
//!
//! const SHELF: Form = Form { name: "a shelf", most_bytes: 1 << 20 };
//!
//! let document = Document::new(SHELF, "shelf.yaml", "schema: 1\nbook: [atlas]\n")?;
//! let fault = document.read::<Shelf>().unwrap_err();
//! assert_eq!(fault.to_string(), "shelf.yaml:2:1: unknown key `book`");
//! assert_eq!(fault.help().unwrap(), "did you mean `books`? The keys of a shelf are schema, books");
//! # Ok::<(), guardbit::documents::Fault>(())
//! ```

pub use guardbit_documents::*;
