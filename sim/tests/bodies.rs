//! Checks which bodies of the fast engine are available.

use guardbit_sim::Isa;

/// `GUARDBIT_BODIES` names bodies that must be available, because other tests would check less without them.
#[test]
fn the_bodies_asked_for_are_available() {
    let available: Vec<String> =
        Isa::ALL.into_iter().filter(|isa| isa.is_available()).map(|isa| format!("{isa:?}")).collect();
    println!("bodies of the fast engine: {}", available.join(" "));
    for asked in std::env::var("GUARDBIT_BODIES").unwrap_or_default().split_whitespace() {
        assert!(available.iter().any(|isa| isa == asked), "{asked} is not available");
    }
}
