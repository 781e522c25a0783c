//! Sets `cfg(shared_models)` if the real networks lie next to the project, and `cfg(shared_hostile)` if the hostile
//! files do: tests that need absent files are then ignored instead of passed.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.toml");
    for folder in ["models", "hostile"] {
        let path = format!("../../shared/{folder}");
        println!("cargo:rustc-check-cfg=cfg(shared_{folder})");
        // Cargo runs this script for every build if it watches a path that does not exist.
        if Path::new(&path).is_dir() {
            println!("cargo:rustc-cfg=shared_{folder}");
            println!("cargo:rerun-if-changed={path}");
        }
    }
}
