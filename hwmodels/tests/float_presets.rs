//! Presets of matrix units have the parameters of the table that models of instructions use.

use guardbit_hwmodels::{BlockScaling, PRESETS, load};
use guardbit_num::{AlignedRule, BlockScales, FloatFormat, MatrixUnit};

/// Presets, the row of [`MatrixUnit`], the format of the result, and the additions between promotions.
const ROWS: [(&str, &str, &str, Option<usize>); 12] = [
    ("hopper-wgmma-e4m3", "hopper wgmma fp8", "e8m13", None),
    ("hopper-wgmma-e4m3-promoted", "hopper wgmma fp8", "e8m13", Some(4)),
    ("hopper-wgmma-f16", "hopper wgmma f16", "float32", None),
    ("ada-mma-e4m3", "ada mma fp8", "e8m13", None),
    ("blackwell-f8f6f4", "blackwell tcgen05 f8f6f4", "float32", None),
    ("blackwell-mxf8f6f4", "blackwell tcgen05 mxf8f6f4", "float32", None),
    ("blackwell-mxf4", "blackwell tcgen05 mxf4nvf4", "float32", None),
    ("blackwell-nvf4", "blackwell tcgen05 mxf4nvf4", "float32", None),
    ("ampere-mma-f16", "ampere mma f16", "float32", None),
    ("volta-mma-f16", "volta mma f16", "float32", None),
    ("cdna3-mfma-f16", "cdna3 mfma f16", "float32", None),
    ("cdna3-mfma-fp8", "cdna3 mfma fp8", "float32", None),
];

#[test]
fn presets_are_rows_of_matrix_units() {
    for (preset, unit, result, promotion) in ROWS {
        let float = load(preset, &[]).unwrap().float.unwrap();
        let dot = float.dot();
        let unit = MatrixUnit::ALL.into_iter().find(|row| row.name == unit).unwrap();
        let rule = unit.rule(result.parse::<FloatFormat>().unwrap());
        // Outputs have one NaN, whatever a unit writes.
        assert_eq!(dot.rule, AlignedRule { nan: dot.rule.nan, ..rule }, "{preset}");
        assert_eq!((float.terms, dot.promotion), (unit.terms, promotion), "{preset}");
        assert!(float.operands.iter().eq(unit.operands.iter().copied()), "{preset}: {}", float.operands);
        let scales = match float.group() {
            Some(group) => BlockScales::Groups(group),
            None if float.block_scales == BlockScaling::PerTerm => BlockScales::Whole,
            None => BlockScales::None,
        };
        assert_eq!((scales, dot.terms * float.group().unwrap_or(1)), (unit.scales, unit.terms), "{preset}");
    }
    let of_float = PRESETS.iter().filter(|preset| load(preset.name, &[]).unwrap().float.is_some());
    assert_eq!(of_float.count(), ROWS.len());
}
