//! Tests of the effort of a host.

use guardbit_graph::host_text;

/// `scripts/renew` renews the page.
#[test]
fn the_page_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/host.md");
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        std::fs::write(&path, host_text()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == host_text(), "scripts/renew renews docs/reference/host.md");
}
