//! AXI4-Stream files, read by the fields that the manifest names, contain the values of the plain files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{UNITS, bundle};
use guardbit_rtl_vectors::manifest::Manifest;

/// Bits of a word, the least significant first.
type Bits = Vec<bool>;

fn bits(line: &str) -> Bits {
    let digit = |c: char| c.to_digit(16).unwrap();
    line.chars().rev().flat_map(|c| (0..4).map(move |i| digit(c) >> i & 1 == 1)).collect()
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit))
}

fn signed(bits: &[bool]) -> i64 {
    let up = 64 - bits.len();
    ((number(bits) << up) as i64) >> up
}

fn mem(dir: &Path, name: &str) -> Vec<Bits> {
    fs::read_to_string(dir.join(format!("{name}.mem"))).unwrap().lines().map(bits).collect()
}

/// Returns the transfers of a stream, field by field.
fn axis(dir: &Path, manifest: &Manifest, name: &str) -> Vec<BTreeMap<String, Bits>> {
    let path = format!("{name}.axis");
    let info = manifest.files.iter().find(|f| f.path == path).unwrap();
    let fields = info.fields.as_ref().unwrap();
    let split = |line: &str| {
        let word = bits(line);
        let field = |f: &guardbit_rtl_vectors::manifest::Field| {
            (f.name.clone(), word[f.lsb as usize..(f.lsb + f.bits) as usize].to_vec())
        };
        assert_eq!(word.len(), 4 * info.digits.unwrap(), "{path}");
        fields.iter().map(field).collect::<BTreeMap<_, _>>()
    };
    let text = fs::read_to_string(dir.join(&path)).unwrap();
    let transfers: Vec<_> = text.lines().map(split).collect();
    assert_eq!(transfers.len(), info.words.unwrap(), "{path}");
    for transfer in &transfers {
        assert_eq!(transfer["tdata"].len(), 8 * transfer["tkeep"].len(), "{path}: a keep bit per byte");
        assert_eq!(transfer["tlast"].len(), 1);
    }
    transfers
}

#[test]
fn streams_hold_what_the_files_hold() {
    for &unit in UNITS {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let manifest = bundle(dir, unit);
        let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
        let (levels, lanes) = (arithmetic.levels.len(), interface.lanes);
        let at = unit.accelerator;
        let [ctrl, mask, flags] = ["ctrl", "mask", "exp_flags"].map(|name| mem(dir, name));

        for (name, width, slot) in [
            ("stim_a", arithmetic.activation.bits, interface.activation_slot),
            ("stim_w", arithmetic.weight.bits, interface.weight_slot),
        ] {
            let words = mem(dir, name);
            let mut transfers = axis(dir, &manifest, name).into_iter();
            for (word, ctrl) in words.iter().zip(&ctrl).filter(|(_, ctrl)| ctrl[0]) {
                let transfer = transfers.next().unwrap();
                let bytes = transfer["tkeep"].len() / lanes;
                for lane in 0..lanes {
                    let from = lane * slot as usize;
                    let plain = signed(&word[from..from + width as usize]);
                    let sent = signed(&transfer["tdata"][8 * bytes * lane..8 * bytes * (lane + 1)]);
                    assert_eq!(sent, plain, "{at} {name} lane {lane}");
                    let kept = &transfer["tkeep"][bytes * lane..bytes * (lane + 1)];
                    assert!(kept.iter().all(|&k| k == ctrl[2 + levels + lane]), "{at} {name} keep {lane}");
                }
                assert_eq!(transfer["tuser"][0], ctrl[1], "{at} {name}: clear");
                assert_eq!(transfer["tuser"][1..], ctrl[2..2 + levels], "{at} {name}: run_last");
                assert_eq!(transfer["tlast"][0], ctrl[1 + levels], "{at} {name}: last");
            }
            assert!(transfers.next().is_none(), "{at} {name}");
        }

        for (index, level) in arithmetic.levels.iter().enumerate() {
            let name = format!("exp_acc_{}", level.name);
            let words = mem(dir, &name);
            let mut transfers = axis(dir, &manifest, &name).into_iter();
            for beat in (0..words.len()).filter(|&beat| mask[beat][index]) {
                let transfer = transfers.next().unwrap();
                let word = &words[beat][..level.acc_bits as usize];
                let plain = if level.acc_signed { signed(word) } else { number(word) as i64 };
                assert_eq!(signed(&transfer["tdata"]), plain, "{at} {name} beat {beat}");
                assert_eq!(
                    transfer["tuser"],
                    flags[beat][4 * index..4 * index + 4],
                    "{at} {name} beat {beat}"
                );
                assert_eq!(transfer["tlast"][0], ctrl[beat][2 + index], "{at} {name} beat {beat}");
            }
            assert!(transfers.next().is_none(), "{at} {name}");
        }

        for (name, width) in [
            ("stim_bias", arithmetic.bias.input_bits),
            ("exp_sum", arithmetic.levels[levels - 1].register.port_bits),
            ("exp_out", arithmetic.requantize.out_bits),
        ] {
            let plain: Vec<i64> = mem(dir, name).iter().map(|w| signed(&w[..width as usize])).collect();
            let transfers = axis(dir, &manifest, name);
            let sent: Vec<i64> = transfers.iter().map(|t| signed(&t["tdata"])).collect();
            assert_eq!(sent, plain, "{at} {name}");
            assert!(transfers.iter().all(|t| t["tlast"][0] && t["tkeep"].iter().all(|&k| k)));
        }
        let dots = axis(dir, &manifest, "stim_a").iter().filter(|t| t["tlast"][0]).count();
        assert_eq!(dots, manifest.cases.iter().filter(|c| c.out_word.is_some()).count(), "{at}");
    }
}
