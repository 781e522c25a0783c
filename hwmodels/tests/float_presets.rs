//! Presets of matrix units have the parameters of the table that models of instructions use.

use guardbit_hwmodels::{BlockScaling, PRESETS, load};
use guardbit_num::{
    AlignedRule, BlockScales, FloatDot, FloatFormat, MatrixUnit, OrdinaryDot, PairwiseDot, Term,
};

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

/// Presets and rows of [`PairwiseDot::UNITS`], with a format of their operands.
const PAIRWISE: [(&str, &str, &str); 3] = [
    ("cdna1-mfma-f16", "cdna1 mfma f16", "float16"),
    ("cdna2-mfma-f16", "cdna2 mfma f16", "float16"),
    ("cdna2-mfma-f16", "cdna2 mfma bf16_1k", "bfloat16"),
];

#[test]
fn presets_are_rows_of_pairwise_units() {
    for (preset, unit, operand) in PAIRWISE {
        let float = load(preset, &[]).unwrap().float.unwrap();
        let (_, unit) = PairwiseDot::UNITS.into_iter().find(|row| row.0 == unit).unwrap();
        assert_eq!(float.dot(), FloatDot::Ordinary(OrdinaryDot { unit, promotion: None }), "{preset}");
        assert!(float.operands.contains(operand.parse().unwrap()), "{preset}");
    }
    let sets = ["terms=2", "operands=[bfloat16]"].map(|set| format!("float_accumulation.{set}"));
    let (_, unit) = PairwiseDot::UNITS[1];
    let float = load("cdna1-mfma-f16", &sets).unwrap().float.unwrap();
    assert_eq!(float.dot(), FloatDot::Ordinary(OrdinaryDot { unit, promotion: None }));
}

/// No product of the preset's operands loses a bit, and no sum of as many as it states overflows.
#[test]
fn the_fixed_point_preset_is_exact() {
    let float = load("fpga-fp8-fixed", &[]).unwrap().float.unwrap();
    let e4m3: FloatFormat = "e4m3fn".parse().unwrap();
    let product = |code| Term::of(e4m3, code).times(Term::of(e4m3, code));
    let (least, largest) = (product(1), product(e4m3.largest()));
    let run = |products: &[Term]| {
        let (sum, register) = float.dot().run(products);
        (sum.cut_terms, register.unwrap().overflows)
    };
    assert_eq!(run(&[least]), (0, 0));
    assert_eq!(run(&vec![largest; 2674]), (0, 0));
    assert_eq!(run(&vec![largest; 2675]), (0, 1));
}

#[test]
fn presets_are_rows_of_matrix_units() {
    for (preset, unit, result, promotion) in ROWS {
        let float = load(preset, &[]).unwrap().float.unwrap();
        let FloatDot::Aligned(dot) = float.dot() else { panic!("{preset}") };
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
    let others = ["cdna1-mfma-f16", "cdna2-mfma-f16", "fpga-fp8-fixed"];
    assert_eq!(of_float.count(), ROWS.len() + others.len());
}
