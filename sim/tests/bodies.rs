//! Which bodies of the fast engine there are.

use guardbit_sim::Body;

/// `GUARDBIT_BODIES` names those that have to be there, for want of which other tests would check less.
#[test]
fn the_bodies_asked_for_are_available() {
    let available: Vec<String> =
        Body::ALL.into_iter().filter(|body| body.is_available()).map(|body| format!("{body:?}")).collect();
    println!("bodies of the fast engine: {}", available.join(" "));
    for asked in std::env::var("GUARDBIT_BODIES").unwrap_or_default().split_whitespace() {
        assert!(available.iter().any(|body| body == asked), "{asked} is not available");
    }
}
