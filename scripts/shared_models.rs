//! Build script: sets `cfg(shared_models)` where the real networks lie beside the project, and `cfg(shared_hostile)` where
//! hostile files do, so that tests that need them are ignored, not passed, where they do not.

fn main() {
    // A path that is not there would make every build a new one.
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
