//! Hostile arguments: every function returns a code for any argument, and reads no further than the stated
//! length. `scripts/test_asan` runs this file under AddressSanitizer, which detects reads beyond that length.

use std::ffi::CString;
use std::fs;
use std::ptr::{null, null_mut};

use crate::common::{UNITS, bundle};
use guardbit_capi::*;
use guardbit_testing::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns numbers that are invalid as a count, level or model.
fn hostile() -> impl Strategy<Value = i32> {
    prop_oneof![
        prop::sample::select(vec![
            i32::MIN,
            -1,
            0,
            1,
            2,
            7,
            8,
            9,
            31,
            32,
            33,
            64,
            100_000,
            1 << 30,
            i32::MAX
        ]),
        any::<i32>(),
        -4..64,
    ]
}

/// Greatest number of products of any beat.
const MOST_LANES: usize = 48;
/// Greatest number of limbs of any word of these units.
const MOST_LIMBS: usize = 8;

/// Call with its arguments.
#[derive(Debug, Clone)]
enum Call {
    /// Available values, and the stated count. It never exceeds them unless the function must refuse it
    /// unread.
    Step(Vec<i32>, i32),
    Words([Vec<u32>; 3], [i32; 3]),
    Level(i32),
    Bias(i64),
    Multiplier(u64),
    Ports(i64, i32),
    Output(i32, i32, i32),
    Plain,
}

fn call() -> impl Strategy<Value = Call> {
    let limbs = || prop::collection::vec(any::<u32>(), 0..MOST_LIMBS + 4);
    let values = prop::collection::vec(prop_oneof![-128..128, any::<i32>()], 0..60);
    prop_oneof![
        4 => (values, hostile()).prop_map(|(values, count)| Call::Step(values, count)),
        4 => ([limbs(), limbs(), limbs()], [hostile(), hostile(), hostile()]).prop_map(|(w, n)| Call::Words(w, n)),
        1 => hostile().prop_map(Call::Level),
        1 => any::<i64>().prop_map(Call::Bias),
        1 => any::<u64>().prop_map(Call::Multiplier),
        1 => (any::<i64>(), hostile()).prop_map(|(mult, exponent)| Call::Ports(mult, exponent)),
        1 => (hostile(), hostile(), hostile()).prop_map(|(z, low, high)| Call::Output(z, low, high)),
        1 => Just(Call::Plain),
    ]
}

/// Returns heap memory of exactly these values, so that AddressSanitizer detects reads beyond them.
fn exact<T: Clone>(values: &[T]) -> Box<[T]> {
    values.into()
}

/// Returns a count that may be stated for `length` values: at most `length`, or one that no beat accepts.
fn stated(count: i32, length: usize, most: usize) -> i32 {
    let fits = usize::try_from(count).map_or(true, |count| count <= length || count > most);
    if fits { count } else { length as i32 }
}

#[allow(unsafe_code)]
fn run(model: i32, call: &Call) -> Vec<i32> {
    match call {
        Call::Step(values, count) => {
            let (a, w) = (exact(values), exact(values));
            let count = stated(*count, values.len(), MOST_LANES);
            // SAFETY: `count` values are available, or the count exceeds that of any beat.
            unsafe {
                vec![
                    guardbit_step(model, a.as_ptr(), w.as_ptr(), count),
                    guardbit_step(model, null(), w.as_ptr(), count),
                ]
            }
        }
        Call::Words(words, counts) => {
            let [c, a, w] = [0, 1, 2].map(|i| exact(&words[i]));
            // No word has more limbs: then the stated count may exceed the available limbs.
            let most = |length: usize| if length >= MOST_LIMBS { length } else { usize::MAX };
            let [cn, an, wn] = [0, 1, 2].map(|i| stated(counts[i], words[i].len(), most(words[i].len())));
            // SAFETY: as many limbs as stated are available, or all limbs of the word.
            unsafe { vec![guardbit_step_words(model, c.as_ptr(), cn, a.as_ptr(), an, w.as_ptr(), wn)] }
        }
        Call::Level(level) => {
            let (mut acc, mut exact) = (0, 0);
            // SAFETY: the pointers are writable or null.
            unsafe {
                vec![
                    guardbit_get_acc(model, *level, &mut acc),
                    guardbit_get_acc(model, *level, null_mut()),
                    guardbit_get_exact_acc(model, *level, &mut exact),
                    guardbit_get_flags(model, *level),
                    guardbit_get_updated(model, *level),
                ]
            }
        }
        Call::Bias(bias) => vec![guardbit_set_bias(model, *bias)],
        Call::Multiplier(bits) => vec![guardbit_set_multiplier(model, f64::from_bits(*bits))],
        Call::Ports(mult, exponent) => vec![guardbit_set_multiplier_ports(model, *mult, *exponent)],
        Call::Output(zero, low, high) => vec![guardbit_set_output(model, *zero, *low, *high)],
        Call::Plain => {
            let (mut exact, mut sum, mut code) = (0, 0, 0);
            // SAFETY: the pointers are writable.
            let read = unsafe {
                [
                    guardbit_get_exact(model, &mut exact),
                    guardbit_get_sum(model, &mut sum),
                    guardbit_get_code(model, &mut code),
                ]
            };
            let rest = [
                guardbit_levels(model),
                guardbit_lanes(model),
                guardbit_terms(model),
                guardbit_clear(model),
                guardbit_reset(model),
            ];
            read.into_iter().chain(rest).collect()
        }
    }
}

#[allow(unsafe_code)]
fn open(accelerator: &str, terms: i32, types: [&str; 2], zero_points: [i32; 2]) -> i32 {
    let [accelerator, activation, weight] =
        [accelerator, types[0], types[1]].map(|t| CString::new(t).unwrap());
    // SAFETY: the strings end with NUL.
    unsafe {
        guardbit_open_accelerator(
            accelerator.as_ptr(),
            terms,
            activation.as_ptr(),
            zero_points[0],
            weight.as_ptr(),
            zero_points[1],
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), ..ProptestConfig::default() })]

    #[test]
    fn calls_answer_with_codes(
        unit in 0..UNITS.len(),
        terms in prop_oneof![1..80i32, hostile()],
        calls in prop::collection::vec(call(), 1..40),
        stale in hostile(),
    ) {
        let terms = terms.min(1 << 12);
        let model = open(UNITS[unit].accelerator, terms, ["int8", "int8"], [-3, 0]);
        prop_assert!(model > 0 || terms < 1, "{terms}: {model}");
        for call in &calls {
            for code in run(model, call) {
                prop_assert!(code > GUARDBIT_E_INTERNAL, "{call:?}: {code}");
            }
            if stale != model {
                run(stale, call);
            }
        }
        guardbit_close(model);
        prop_assert_eq!(guardbit_close(model), GUARDBIT_E_HANDLE);
    }

    #[test]
    fn units_are_opened_or_refused(
        accelerator in prop::sample::select(vec![
            "fpga-int14-os", "fpga-int14-tree", "nvdla-large", "tpu-v1", "vta-default", "", "\n", "schema: 1\n",
            "schema: 1\nextends: fpga-int14-tree\narray: {dot_width: 1099511627776}\n",
            "schema: 1\nextends: fpga-int14-os\narray: {rows: 1099511627776}\n",
            "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: t, reduce: tree, terms: 1000000, bits: 14, overflow: wrap}\n  - {name: a, reduce: serial, terms: all, bits: 14, overflow: wrap}\n",
            "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: i, reduce: serial, terms: 1099511627776, bits: 14, overflow: wrap}\n  - {name: a, reduce: serial, terms: all, bits: 14, overflow: wrap}\n",
        ]),
        terms in hostile(),
        types in prop::sample::select(vec![["int8", "int8"], ["int16", "int8"], ["uint4", "int4"], ["int64", "float32"], ["", "int8"]]),
        zero_points in [hostile(), hostile()],
    ) {
        // A layer of a million products needs much memory, so such counts are reduced here; greater ones are
        // refused.
        let terms = if (1 << 14..=1 << 20).contains(&terms) { 1 << 14 } else { terms };
        let model = open(accelerator, terms, types, zero_points);
        prop_assert!(model > 0 || model > GUARDBIT_E_INTERNAL, "{model}");
        if model > 0 {
            prop_assert_eq!(guardbit_close(model), GUARDBIT_OK);
        }
    }
}

/// Counts are checked before any value is read.
#[test]
#[allow(unsafe_code)]
fn counts_are_checked_before_reading() {
    let model = open("fpga-int14-tree", 64, ["int8", "int8"], [0, 0]);
    assert_eq!(guardbit_lanes(model), 8);
    let (a, w) = (exact(&[1i32; 8]), exact(&[1i32; 8]));
    for count in [100_000, i32::MAX, 9, 7, 0, -1, i32::MIN] {
        // SAFETY: no beat accepts this count, so nothing is read.
        let code = unsafe { guardbit_step(model, a.as_ptr(), w.as_ptr(), count) };
        assert_eq!(code, GUARDBIT_E_BEAT, "{count}");
    }
    // SAFETY: eight values are available.
    assert_eq!(unsafe { guardbit_step(model, a.as_ptr(), w.as_ptr(), 8) }, GUARDBIT_OK);
    // Control word: valid, clear, end of the inner level's run, eight lanes.
    let ctrl = exact(&[1u32 | 1 << 1 | 1 << 2 | 0xff << 4]);
    let [a, w] = [exact(&[0u32; 2]), exact(&[0u32; 2])];
    // SAFETY: the words are available, and nothing beyond them is read.
    let words = |counts: [i32; 3]| unsafe {
        guardbit_step_words(model, ctrl.as_ptr(), counts[0], a.as_ptr(), counts[1], w.as_ptr(), counts[2])
    };
    for counts in [[i32::MAX, 2, 2], [1, i32::MAX, 2], [1, 2, i32::MAX], [i32::MAX; 3], [1, 2, 2]] {
        // The stated count exceeds the available limbs, but only the limbs of the word are read.
        assert_eq!(words(counts), GUARDBIT_OK, "{counts:?}");
    }
    for counts in [[0, 2, 2], [1, 1, 2], [1, 2, -1], [i32::MIN; 3]] {
        assert_eq!(words(counts), GUARDBIT_E_BEAT, "{counts:?}");
    }
    assert_eq!(guardbit_close(model), GUARDBIT_OK);
}

/// A manifest that requests more than the available memory, or impossible widths, is refused before anything
/// is allocated.
#[test]
#[allow(unsafe_code)]
fn hostile_manifests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    bundle(dir.path(), UNITS[7]);
    let path = dir.path().join("manifest.json");
    let intact: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let open = |manifest: &Value| {
        fs::write(&path, manifest.to_string()).unwrap();
        let dir = CString::new(dir.path().to_string_lossy().into_owned()).unwrap();
        // SAFETY: the string ends with NUL.
        unsafe { guardbit_open_bundle(dir.as_ptr()) }
    };
    let model = open(&intact);
    assert!(model > 0);
    assert_eq!(guardbit_close(model), GUARDBIT_OK);
    let huge = 1u64 << 40;
    for (pointer, value) in [
        ("/layer/terms", json!(huge)),
        ("/layer/terms", json!(u64::MAX)),
        ("/layer/terms", json!(0)),
        ("/interface/lanes", json!(huge)),
        ("/interface/activation_slot", json!(u32::MAX)),
        ("/interface/weight_slot", json!(0)),
        ("/arithmetic/product/shift", json!(4_000_000_000u32)),
        ("/arithmetic/levels/0/shift", json!(127)),
        ("/arithmetic/levels/1/acc_bits", json!(u32::MAX)),
        ("/arithmetic/levels/1/port_bits", json!(65)),
        ("/arithmetic/bias/input_bits", json!(0)),
        ("/arithmetic/requantize/mult_point", json!(0)),
        ("/arithmetic/requantize/mult_point", json!(4_000_000_000u32)),
        ("/arithmetic/requantize/out_bits", json!(100)),
        ("/arithmetic/requantize/scheme", json!("guess")),
    ] {
        let mut manifest = intact.clone();
        *manifest.pointer_mut(pointer).unwrap() = value.clone();
        assert_eq!(open(&manifest), GUARDBIT_E_BUNDLE, "{pointer} {value}");
    }
    // A run may be longer than any dot product.
    let mut manifest = intact.clone();
    manifest["arithmetic"]["levels"][0]["terms"] = json!(huge);
    let model = open(&manifest);
    assert!(model > 0);
    assert_eq!(guardbit_close(model), GUARDBIT_OK);
}

/// Collects JSON pointers to every number, string and list below `value`.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), found))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| leaves(value, &format!("{at}/{index}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

/// Any value in a single field leads to an error code, never to a crash.
#[test]
#[allow(unsafe_code)]
fn any_field_is_refused_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    for unit in [UNITS[3], UNITS[5], UNITS[6], UNITS[7]] {
        bundle(dir.path(), unit);
        let path = dir.path().join("manifest.json");
        let mut intact: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        // The model does not read these lists, and a manifest without them is read faster.
        for list in ["/cases", "/files", "/coverage/bins"] {
            *intact.pointer_mut(list).unwrap() = json!([]);
        }
        let mut all = Vec::new();
        for part in ["/arithmetic", "/interface", "/layer/terms"] {
            leaves(intact.pointer(part).unwrap(), part, &mut all);
        }
        for at in &all {
            let others = match intact.pointer(at).unwrap() {
                Value::String(_) => {
                    ["", "tree", "wrap", "hand_over", "preload", "half_even"].map(|s| json!(s)).to_vec()
                }
                Value::Bool(on) => vec![json!(!on)],
                _ => vec![
                    json!(0),
                    json!(1),
                    json!(7),
                    json!(31),
                    json!(62),
                    json!(64),
                    json!(u32::MAX),
                    json!(1u64 << 40),
                    json!(i64::MAX),
                    json!(i64::MIN),
                    json!(u64::MAX),
                    Value::Null,
                ],
            };
            for other in others {
                let mut manifest = intact.clone();
                *manifest.pointer_mut(at).unwrap() = other.clone();
                fs::write(&path, manifest.to_string()).unwrap();
                let name = CString::new(dir.path().to_string_lossy().into_owned()).unwrap();
                // SAFETY: the string ends with NUL.
                let model = unsafe { guardbit_open_bundle(name.as_ptr()) };
                assert!(model > GUARDBIT_E_INTERNAL, "{at} {other}: {model}");
                if model < 0 {
                    continue;
                }
                let ones = vec![u32::MAX; 200];
                let values = vec![127; MOST_LANES];
                let lanes = guardbit_lanes(model);
                for call in [
                    Call::Bias(i64::MIN),
                    Call::Multiplier(0.75f64.to_bits()),
                    Call::Step(values.clone(), lanes),
                    Call::Step(values, lanes),
                    Call::Words([ones.clone(), ones.clone(), ones], [200; 3]),
                    Call::Level(0),
                    Call::Plain,
                ] {
                    for code in run(model, &call) {
                        assert!(code > GUARDBIT_E_INTERNAL, "{at} {other} {call:?}: {code}");
                    }
                }
                guardbit_close(model);
            }
        }
    }
}
