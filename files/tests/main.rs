//! Tests of `files`: one program, a module per file.

mod read;
mod schema;
