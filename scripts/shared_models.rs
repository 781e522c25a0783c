//! Build script: sets `cfg(shared_models)` where the real networks lie beside the project, so that tests that need them
//! are ignored, not passed, where they do not.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(shared_models)");
    let models = "../../shared/models";
    if std::path::Path::new(models).is_dir() {
        println!("cargo:rustc-cfg=shared_models");
        println!("cargo:rerun-if-changed={models}");
    } else {
        // A path that is not there would make every build a new one.
        println!("cargo:rerun-if-changed=Cargo.toml");
    }
}
