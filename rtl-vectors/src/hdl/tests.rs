use std::path::Path;

use guardbit_hwmodels::Reduce;

use super::{LEVELS, codes};

/// The committed lists in the RTL are current with the simulator's enums.
#[test]
fn lists_in_the_rtl_follow_the_enums() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl");
    let renews = std::env::var_os("GUARDBIT_BLESS").is_some();
    for (name, made) in [
        ("gb_codes.sv", codes::package()),
        ("gb_overflow.sv", codes::overflow()),
        ("gb_reduce.sv", codes::reduce()),
        ("gb_codes.vhd", codes::vhdl_package()),
    ] {
        let path = folder.join(name);
        if renews {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == made, "rtl/{name} is not what the enums make: scripts/renew renews it");
    }
}

/// Every kind of level has its module in the reference RTL.
#[test]
fn levels_have_the_modules_of_their_kinds() {
    let files = LEVELS.map(|(file, _)| file.to_owned());
    assert_eq!(files, Reduce::ALL.map(|kind| format!("{}.sv", kind.module())));
}
