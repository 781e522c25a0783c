//! Graph YAML files: what is read from them, and what a user reads about wrong ones.

mod errors;
mod networks;
