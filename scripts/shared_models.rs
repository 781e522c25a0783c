//! Build script: sets `cfg(shared_models)` if the real networks are next to the project, and
//! `cfg(shared_hostile)` if hostile files are. Otherwise tests that need them are ignored instead of passing.

fn main() {
    // A missing path would trigger a new build every time.
    println!("cargo:rerun-if-changed=Cargo.toml");
    for (cfg, folder) in
        [("shared_models", "../../shared/models"), ("shared_hostile", "../../shared/hostile")]
    {
        println!("cargo:rustc-check-cfg=cfg({cfg})");
        if std::path::Path::new(folder).is_dir() {
            println!("cargo:rustc-cfg={cfg}");
            println!("cargo:rerun-if-changed={folder}");
        }
    }
}
