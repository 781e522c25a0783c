//! Warnings about datapaths that can be simulated but are likely not meant.

use guardbit_hwmodels::{PRESETS, check, check_yaml};

fn codes(text: &str) -> Vec<&'static str> {
    let (result, warnings) = check_yaml(&format!("schema: 1\n{text}\n"), "hw.yaml", &[]);
    result.unwrap();
    warnings.iter().map(|warning| warning.code()).collect()
}

#[test]
fn what_cannot_work_is_said() {
    let packed = "accumulation: [{name: dsp, terms: 8, bits: 18, overflow: wrap}, {name: acc, bits: 32}]\n\
                  packing: {kind: dsp48e2_int8x2}";
    assert_eq!(codes(packed), ["guardbit::hw::packing_chain"]);
    assert_eq!(codes(&packed.replace("terms: 8", "terms: 7")), [""; 0]);
    assert_eq!(codes("requantize: {output: wrap}"), ["guardbit::hw::output_truncates"]);
    assert_eq!(codes("memory: {accumulator_kib: 0.5}"), ["guardbit::hw::sram_too_small"]);
    assert_eq!(codes("timing: {convention: ethos_u}"), ["guardbit::hw::ethos_u_array"]);
    // A narrower level after one that adds all values is the place where the hand-over is fitted.
    let narrows = "accumulation: [{name: a, bits: 34}, {name: b, bits: 32}]";
    assert_eq!(codes(narrows), [""; 0]);
    assert_eq!(codes(&narrows.replace("34", "32")), ["guardbit::hw::inner_all"]);
}

#[test]
fn packing_needs_the_adder_of_the_dsp() {
    let fail = |text: &str| {
        let (result, _) =
            check_yaml(&format!("schema: 1\npacking: {{kind: dsp48e2_int8x2}}\n{text}"), "hw.yaml", &[]);
        assert_eq!(result.unwrap_err().code(), "guardbit::hw::packing", "{text}");
    };
    fail("accumulation: [{name: acc, bits: 32}]");
    fail("accumulation: [{name: acc, bits: 18, overflow: wrap, reduce: tree}]");
    fail("accumulation: [{name: acc, bits: 18, overflow: wrap}]\nproduct: {bits: 16}");
    fail("accumulation: [{name: acc, bits: 18, overflow: wrap}]\nbias: {at: preload}");
}

/// Presets of real devices have no warnings; our own narrow presets warn of their widths.
#[test]
fn presets_after_devices_are_sound() {
    for preset in PRESETS.iter().filter(|p| !p.name.contains("int14") && p.name != "inner14-outer24") {
        let (result, warnings) = check(preset.name, &[]);
        result.unwrap();
        let found: Vec<_> = warnings.iter().map(|w| w.code()).collect();
        assert_eq!(found, [""; 0], "{}", preset.name);
    }
    let (result, warnings) = check("vta-default", &["requantize.output=wrap".into()]);
    result.unwrap();
    assert_eq!(warnings.iter().map(|w| w.code()).collect::<Vec<_>>(), ["guardbit::hw::output_truncates"]);
}
