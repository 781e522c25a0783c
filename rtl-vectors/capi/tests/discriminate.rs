//! Devices with hidden settings, behind the C interface, are identified by the sums that they return.

use std::ffi::CString;

use guardbit_capi::*;
use guardbit_graph::DType;
use guardbit_hwmodels::load;
use guardbit_rtl_vectors::LayerParameters;
use guardbit_rtl_vectors::discriminate::{Search, TestInput, discriminate};

const BASE: &str = "fpga-int14-os";
/// Products of a dot product.
const TERMS: usize = 24;
/// Zero point of the activations, which are codes of uint8.
const ZERO_POINT: i32 = 128;
/// Number of devices.
const DEVICES: usize = 40;

/// Settings of a device.
#[derive(Debug, Clone)]
struct Settings {
    bits: u32,
    overflow: &'static str,
    check: &'static str,
    bias: &'static str,
    walk: &'static str,
    zero_point: &'static str,
}

impl Settings {
    /// Returns every combination.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for bits in 13..=17 {
            for overflow in ["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky"] {
                for check in ["each_add", "hand_over"] {
                    for bias in ["post", "preload"] {
                        for walk in ["forward", "reverse", "sorted"] {
                            for zero_point in ["subtract", "fold"] {
                                all.push(Self { bits, overflow, check, bias, walk, zero_point });
                            }
                        }
                    }
                }
            }
        }
        all
    }

    fn sets(&self) -> Vec<String> {
        vec![
            format!("accumulation.acc.bits={}", self.bits),
            format!("accumulation.acc.overflow={}", self.overflow),
            format!("accumulation.acc.check={}", self.check),
            format!("bias.at={}", self.bias),
            format!("reduction_order.walk={}", self.walk),
            format!("operands.zero_point={}", self.zero_point),
        ]
    }

    /// The unit alone, as YAML. Its caller brings the products into their order and removes zero points.
    fn yaml(&self) -> String {
        let Self { bits, overflow, check, bias, .. } = self;
        format!(
            "schema: 1\nextends: {BASE}\nbias: {{at: {bias}}}\naccumulation:\n  - {{name: acc, bits: {bits}, overflow: \
             {overflow}, check: {check}}}\n"
        )
    }
}

/// Device with a MAC unit behind the C interface.
struct Device<'a> {
    settings: &'a Settings,
    unit: i32,
}

impl<'a> Device<'a> {
    #[allow(unsafe_code)]
    fn new(settings: &'a Settings) -> Self {
        let [hw, activation, weight] =
            [settings.yaml().as_str(), "int16", "int8"].map(|text| CString::new(text).unwrap());
        // SAFETY: the strings outlive the call.
        let unit = unsafe {
            guardbit_open_accelerator(hw.as_ptr(), TERMS as i32, activation.as_ptr(), 0, weight.as_ptr(), 0)
        };
        assert!(unit > 0, "{settings:?}");
        Self { settings, unit }
    }

    /// Returns the sum of an input: the code of a requantizer that multiplies by 1.
    #[allow(unsafe_code)]
    fn sum(&self, input: &TestInput) -> i128 {
        let mut codes = input.products.clone();
        codes.resize(TERMS, [ZERO_POINT, 0]);
        let folds = self.settings.zero_point == "fold";
        let mut operands: Vec<_> =
            codes.iter().map(|&[a, w]| (if folds { a } else { a - ZERO_POINT }, w)).collect();
        match self.settings.walk {
            "reverse" => operands.reverse(),
            "sorted" => operands.sort_by_key(|(a, w)| a * w),
            _ => (),
        }
        let weights: i64 = codes.iter().map(|&[_, w]| i64::from(w)).sum();
        let constant = if folds { -i64::from(ZERO_POINT) * weights } else { 0 };
        assert_eq!(guardbit_reset(self.unit), GUARDBIT_OK);
        assert_eq!(guardbit_set_bias(self.unit, i64::from(input.bias) + constant), GUARDBIT_OK);
        assert_eq!(guardbit_set_multiplier(self.unit, 1.0), GUARDBIT_OK);
        assert_eq!(guardbit_set_output(self.unit, 0, -(1 << 30), 1 << 30), GUARDBIT_OK);
        for (a, w) in operands {
            // SAFETY: both pointers are valid for one value.
            assert_eq!(unsafe { guardbit_step(self.unit, &a, &w, 1) }, GUARDBIT_OK);
        }
        let mut code = 0;
        // SAFETY: the pointer is valid.
        assert_eq!(unsafe { guardbit_get_code(self.unit, &mut code) }, 1);
        i128::from(code)
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        guardbit_close(self.unit);
    }
}

#[test]
fn hidden_settings_are_identified() {
    let all = Settings::all();
    let accelerators: Vec<_> = all.iter().map(|one| load(BASE, &one.sets()).unwrap()).collect();
    let search = Search {
        layer: LayerParameters {
            terms: TERMS,
            activation: DType::UInt8,
            activation_zero_point: ZERO_POINT,
            weight: DType::Int8,
            weight_zero_point: 0,
        },
        bias_bits: 20,
        seed: 0,
    };
    let found = discriminate(&accelerators, &search, &mut |_, _| ()).unwrap();
    let open: Vec<_> = found.classes.iter().filter(|class| !class.is_proved).collect();
    let names = |members: &[usize]| members.iter().map(|&at| all[at].sets().join(" ")).collect::<Vec<_>>();
    let first = open.first().map(|class| names(&class.members));
    assert!(first.is_none(), "{} classes neither told apart nor proved equal: {first:#?}", open.len());

    // 40 different devices, drawn by a step that is prime to the number of settings.
    let mut alone = 0;
    for hidden in (0..DEVICES).map(|device| device * 187 % all.len()) {
        let device = Device::new(&all[hidden]);
        let observed: Vec<_> = found.inputs.iter().map(|input| Some(device.sum(input))).collect();
        let matches = found.matches(&observed);
        assert_eq!(matches.len(), 1, "{:?}: {observed:?}", all[hidden]);
        assert!(
            matches[0].members.contains(&hidden),
            "{:?} is taken for {:?}",
            all[hidden],
            all[matches[0].members[0]]
        );
        alone += usize::from(matches[0].members.len() == 1);
    }
    println!("{DEVICES} devices, {alone} of them identified alone, by {} inputs", found.inputs.len());
    assert!(alone > DEVICES / 4, "{alone} of {DEVICES}");
}
