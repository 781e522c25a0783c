//! Target: an accelerator in YAML.

use guardbit_hwmodels::check_yaml;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match check_yaml(text, "fuzz.yaml", &[]) {
        (Ok(accelerator), _) => {
            // The resolved file must load as an equal accelerator.
            let resolved = accelerator.commented_yaml();
            let again = guardbit_hwmodels::from_yaml(&resolved, "fuzz.yaml", &[]);
            let again = again.unwrap_or_else(|error| panic!("{error}\n{resolved}"));
            assert_eq!(accelerator.resolved_json(), again.resolved_json());
        }
        (Err(error), _) => message::check(error),
    }
}
