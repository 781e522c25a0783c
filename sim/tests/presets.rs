//! Overflows of presets, computed by hand and tested in both engines.

use crate::common::{conv2d, one_layer, output, program, quantized, run};
use guardbit_graph::{DType, Graph, Padding};
use guardbit_hwmodels::{PRESETS, Register, load};
use guardbit_sim::{Engine, LayerStats, Options};
use guardbit_testing::cases;
use proptest::prelude::*;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Returns one dot product per channel of `weights` over `x`, with int16 outputs of scale `2^shift`.
fn dots(x: (DType, &[i32]), weights: (DType, &[Vec<i32>]), shift: i32) -> (Graph, Vec<i32>) {
    typed(x, weights, shift, DType::Int16)
}

fn typed(x: (DType, &[i32]), weights: (DType, &[Vec<i32>]), shift: i32, out: DType) -> (Graph, Vec<i32>) {
    let k = x.1.len();
    let ty = quantized(&[weights.1.len(), 1, 1, k], weights.0, 1.0, 0);
    let input = quantized(&[1, 1, 1, k], x.0, 1.0, 0);
    let scale = 2f32.powi(shift);
    let out = output("y", out, scale, 0);
    (one_layer(conv2d(1, Padding::Valid), input, Some((ty, weights.1.concat())), None, out), x.1.to_vec())
}

/// Returns output codes and statistics, which must be equal in both engines.
fn simulate(hw: &str, sets: &[&str], (graph, x): &(Graph, Vec<i32>)) -> (Vec<i32>, LayerStats) {
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    let program = program(graph, &load(hw, &sets).unwrap());
    let [reference, parallel] = [Engine::Reference, Engine::Fast].map(|engine| {
        let ran = run(&program, std::slice::from_ref(x), Options { engine, ..Options::default() }).unwrap();
        let output = graph.outputs()[0].index();
        (ran.tensors[0].simulated[output].as_ref().unwrap().to_vec(), ran.stats)
    });
    assert_eq!(reference, parallel);
    parallel
}

/// Returns the events of every level.
fn events(stats: &LayerStats) -> Vec<u64> {
    stats.levels.iter().map(|level| level.total().events()).collect()
}

/// 17 products of 255 * 255 = 1105425 stop at 0xfffff = 1048575.
#[test]
fn esp32s3_lanes_saturate() {
    let graph = dots((DType::UInt8, &[255; 17]), (DType::UInt8, &[vec![255; 17]]), 5);
    let unsigned = ["accumulation.qacc.signed=false"];
    let (_, stats) = simulate("esp32s3-qacc", &unsigned, &graph);
    let event = &stats.events[0];
    assert_eq!((event.k, event.held, event.addend), (16, 16 * 65025, 65025));
    assert_eq!(stats.total().sum_abs_err, 17 * 65025 - 0xfffff);
    // The signed lanes hold 2^19 - 1: 32 products of 2^14 are too many by one, and each further product is an
    // event.
    let graph = dots((DType::Int8, &[-128; 33]), (DType::Int8, &[vec![-128; 33]]), 5);
    let (_, stats) = simulate("esp32s3-qacc", &[], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (33 * 16384 - 0x7ffff, vec![2]));
}

/// A column of 16 rows cannot overflow 20 bits with int8, but one of 32 rows can: 32 * 2^14 = 2^19 wraps to
/// -2^19. Codes are in units of 2^5.
#[test]
fn gemmini_columns_wrap() {
    let graph = dots((DType::Int8, &[-128; 32]), (DType::Int8, &[vec![-128; 32]]), 5);
    let (codes, stats) = simulate("gemmini-16", &[], &graph);
    assert_eq!((codes[0], events(&stats)), (1 << 14, vec![0, 0]));
    let (codes, stats) = simulate("gemmini-16", &["array.rows=32"], &graph);
    assert_eq!((codes[0], events(&stats)), (-(1 << 14), vec![1, 0]));
}

/// VTA clips sums of 200, -129, 254 and 127 before it stores them, or stores their low 8 bits.
#[test]
fn vta_clips_and_stores_the_low_bits() {
    let weights = [vec![100, 100], vec![-100, -29], vec![127, 127], vec![64, 63]];
    let graph = typed((DType::Int8, &[1, 1]), (DType::Int8, &weights), 0, DType::Int8);
    assert_eq!(simulate("vta-default", &[], &graph).0, [127, -128, 127, 127]);
    let (codes, stats) = simulate("vta-default", &["requantize.output=wrap"], &graph);
    assert_eq!(codes, [200 - 256, -129 + 256, 254 - 256, 127]);
    assert_eq!((stats.total().wrong, stats.total().output_mismatch), (0, 0));
}

/// Atomic results of 8 products. At the real width of 34 bits an overflow takes 2^16 of them, so all widths
/// are lowered by 14 bits.
#[test]
fn nvdla_saturates_partial_sums() {
    let narrow = ["accumulation.partial.bits=20", "accumulation.final.bits=18"];
    // 8 * 2^14 = 2^17 per atomic operation: 131072, 262144, 393216, then 524288 -> 524287, then 130048 less:
    // 394239, one less than the exact sum. The final 18 bits hold 131071.
    let weights: Vec<i32> = [vec![-128; 32], vec![127; 8]].concat();
    let graph = dots((DType::Int8, &[-128; 40]), (DType::Int8, &[weights]), 5);
    let (_, stats) = simulate("nvdla-small", &narrow, &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (394_240 - 131_071, vec![0, 1, 1]));
    let (_, stats) = simulate("nvdla-small", &narrow[..1], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (1, vec![0, 1, 0]));
    // CLIP_TRUNCATE of 2: 394239 / 4 = 98559.75 is rounded to 98560, which is shifted back to 394240.
    let clip = "accumulation.partial.shift=2";
    let (_, stats) = simulate("nvdla-small", &[narrow[0], clip], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (0, vec![0, 1, 0]));
    // 10 / 4 = 2.5 is rounded away from zero, to 3, and -2.5 to -3.
    let graph = dots((DType::Int8, &[10]), (DType::Int8, &[vec![1], vec![-1]]), 0);
    assert_eq!(simulate("nvdla-small", &[clip], &graph).0, [12, -12]);
}

/// 34 bits at their real width: 2^16 atomic results of 2^17 are 2^33, too many by one.
#[test]
fn nvdla_holds_34_bits() {
    let k = 8 << 16;
    let graph = dots((DType::Int8, &vec![-128; k]), (DType::Int8, &[vec![-128; k]]), 20);
    let (_, stats) = simulate("nvdla-small", &[], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), ((1 << 33) - 0x7fff_ffff, vec![0, 1, 1]));
    assert_eq!(stats.levels[1].total().required_final, 35);
}

/// 512 products of -2^15 * -2^7 are 2^31, one more than 32 bits hold, at the last addition. Ethos-U's 64 sums
/// of eight and the TPU's two sums of 256 rows wrap to -2^31; the plain array saturates. The sums of FINN and
/// Eyeriss have no limited width.
#[test]
fn sums_of_32_bits_overflow_as_the_device_does() {
    let graph = dots((DType::Int16, &[-32768; 512]), (DType::Int8, &[vec![-128; 512]]), 18);
    let check = |preset: &str, error: u128, expected: &[u64]| {
        let (_, stats) = simulate(preset, &[], &graph);
        assert_eq!((stats.total().sum_abs_err, &events(&stats)[..]), (error, expected), "{preset}");
    };
    check("ethos-u55-256", 1 << 32, &[0, 1]);
    check("ethos-u55-32", 1 << 32, &[0, 1]);
    check("tpu-v1", 1 << 32, &[0, 1]);
    check("cmsis-nn-s16", 1 << 32, &[1, 0]);
    check("intel-gna", 1, &[0, 1]);
    check("exact-int32-os", 1, &[1]);
    check("finn-mvau", 0, &[0, 0]);
    check("eyeriss-v1", 0, &[0, 0]);
}

/// A chain of 7 fits the low lane of the packed DSP. The eighth product of 2^14 gives 2^17: the low lane
/// wraps and is wrong by 2^18, and the fix-up mistakes its sign for a borrow, so that the high lane is wrong
/// by 1.
#[test]
fn a_longer_chain_corrupts_the_packed_neighbour() {
    let weights = [vec![-128; 8], vec![-128; 8]];
    let graph = dots((DType::Int8, &[-128; 8]), (DType::Int8, &weights), 3);
    let errors = |sets: &[&str]| {
        let (_, stats) = simulate("dsp48e2-int8x2", sets, &graph);
        [0, 1].map(|channel: usize| stats.channels[channel].sum_abs_err)
    };
    assert_eq!(errors(&[]), [0, 0]);
    assert_eq!(errors(&["accumulation.dsp.terms=8"]), [1 << 18, 1]);
}

/// Presets without narrow sums of their own wrap at 32 bits or never overflow.
#[test]
fn wide_presets_are_exact_on_int8() {
    let weights = [vec![-128; 600], vec![127; 600], vec![1; 600]];
    let graph = dots((DType::Int8, &[-128; 600]), (DType::Int8, &weights), 10);
    for preset in PRESETS.iter().filter(|p| !p.name.contains("int14") && p.name != "inner14-outer24") {
        let (_, stats) = simulate(preset.name, &[], &graph);
        let wrong = match preset.name {
            "esp32s3-qacc" | "fbgemm-acc16" => 2,
            // Two products of -128 * -128 exceed 16 bits by one.
            "x86-avx2-vpmaddubsw" | "arm-smlal" => 1,
            _ => 0,
        };
        assert_eq!(stats.total().wrong, wrong, "{}", preset.name);
    }
}

/// 211 * 71 + 171 * 107 = 33278 saturates at 32767 (pytorch/pytorch issue 44939).
#[test]
fn pairs_saturate_without_vnni() {
    let graph = dots((DType::UInt8, &[211, 171]), (DType::Int8, &[vec![71, 107]]), 1);
    let (_, stats) = simulate("x86-avx2-vpmaddubsw", &[], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (33278 - 32767, vec![1, 0]));
}

/// Two products of -128 * -128 are 2^15 and wrap to -2^15.
#[test]
fn pairs_wrap_on_arm() {
    let graph = dots((DType::Int8, &[-128; 2]), (DType::Int8, &[vec![-128; 2]]), 1);
    let (_, stats) = simulate("arm-smlal", &[], &graph);
    assert_eq!((stats.total().sum_abs_err, events(&stats)), (1 << 16, vec![1, 0]));
}

/// A buffer of 12288 products whose halves cancel is exact. The first generation saturates after each half,
/// at last to -2^31.
#[test]
fn gna_saturates_after_every_buffer() {
    let weights = [vec![127; 6144], vec![-127; 6144]].concat();
    let graph = dots((DType::Int16, &[32767; 12288]), (DType::Int8, &[weights]), 20);
    let ran = |sets: &[&str]| {
        let (_, stats) = simulate("intel-gna", sets, &graph);
        (stats.total().sum_abs_err, events(&stats))
    };
    assert_eq!(ran(&[]), (0, vec![0, 0]));
    assert_eq!(ran(&["accumulation.buffer.terms=6144"]), (1 << 31, vec![0, 2]));
}

/// Returns the sum that a processor delivers, by the formulas of the sources that its preset names.
fn delivered(preset: &str, x: &[i32], w: &[i32]) -> i64 {
    let products: Vec<i64> = x.iter().zip(w).map(|(&x, &w)| i64::from(x) * i64::from(w)).collect();
    let pairs = products.chunks(2).map(|pair| pair.iter().sum::<i64>());
    let clip = |sum: i64, bits: u32| sum.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
    match preset {
        "x86-avx2-vpmaddubsw" => pairs.map(|pair| clip(pair, 16)).sum(),
        "fbgemm-acc16" => {
            let pairs: Vec<i64> = pairs.map(|pair| clip(pair, 16)).collect();
            let spilled = |run: &[i64]| run.iter().fold(0, |sum, pair| clip(sum + pair, 16));
            pairs.chunks(256 / 2).map(spilled).sum()
        }
        "arm-smlal" => pairs.map(|pair| i64::from(pair as i16)).sum(),
        "cmsis-nn-s16" => {
            let (first, rest) = products.split_at(products.len().min(512));
            let sum = first.iter().fold(0i32, |sum, &product| sum.wrapping_add(product as i32));
            i64::from(sum) + rest.iter().sum::<i64>()
        }
        "intel-gna" => products.chunks(12288).fold(0, |sum, run| clip(sum + run.iter().sum::<i64>(), 32)),
        _ => panic!("{preset}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    #[test]
    fn processors_add_as_their_sources_say(seed: u64, k in 1..1300usize, large in any::<bool>()) {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut codes = |k: usize, dtype: DType| -> Vec<i32> {
            let (min, max) = (i64::from(dtype.min()), i64::from(dtype.max()));
            // Large codes of mostly one sign reach the rails; pairs of the least code overflow with signed operands.
            let (low, least) = if large { (max - (max - min) / 4, 2) } else { (min, 50) };
            let code = |_| match random.next_u64() % 100 {
                part if part < least => min,
                _ => low + (random.next_u64() % (max - low + 1) as u64) as i64,
            };
            (0..k).map(code).map(|code| code as i32).collect()
        };
        for (preset, dtype, k) in [
            ("x86-avx2-vpmaddubsw", DType::UInt8, k),
            ("fbgemm-acc16", DType::UInt8, k),
            ("arm-smlal", DType::Int8, k),
            ("cmsis-nn-s16", DType::Int16, k),
            ("intel-gna", DType::Int16, 20 * k),
        ] {
            let (x, w) = (codes(k, dtype), codes(k, DType::Int8));
            let (_, stats) = simulate(preset, &[], &dots((dtype, &x), (DType::Int8, std::slice::from_ref(&w)), 20));
            let exact: i64 = x.iter().zip(&w).map(|(&x, &w)| i64::from(x) * i64::from(w)).sum();
            let error = u128::from(delivered(preset, &x, &w).abs_diff(exact));
            prop_assert_eq!(stats.total().sum_abs_err, error, "{}", preset);
        }
    }
}

/// The pair of the preset equals the instruction, on 10^8 pairs.
#[test]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the test runs the instruction itself")]
fn pairs_equal_vpmaddubsw() {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_maddubs_epi16, _mm_storeu_si128};

    #[target_feature(enable = "ssse3")]
    fn instruction(x: &[u8; 16], w: &[i8; 16]) -> [i16; 8] {
        let mut sums = [0; 8];
        // SAFETY: the pointers are those of arrays of 16 bytes, and unaligned.
        unsafe {
            let (x, w) = (_mm_loadu_si128(x.as_ptr().cast()), _mm_loadu_si128(w.as_ptr().cast()));
            _mm_storeu_si128(sums.as_mut_ptr().cast(), _mm_maddubs_epi16(x, w));
        }
        sums
    }

    assert!(is_x86_feature_detected!("ssse3"));
    let level = &load("x86-avx2-vpmaddubsw", &[]).unwrap().datapath.levels[0];
    let Register::Fixed { format, overflow } = level.register else { panic!("{level:?}") };
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut saturated = 0;
    for _ in 0..100_000_000 / 8 {
        let (mut x, mut w) = ([0; 16], [0; 16]);
        random.fill_bytes(&mut x);
        random.fill_bytes(&mut w);
        let w = w.map(u8::cast_signed);
        // SAFETY: the CPU has the instruction.
        let found = unsafe { instruction(&x, &w) };
        for (pair, &found) in found.iter().enumerate() {
            let exact: i32 = (2 * pair..2 * pair + 2).map(|i| i32::from(x[i]) * i32::from(w[i])).sum();
            let fit = overflow.fit(exact.into(), format);
            saturated += usize::from(fit.overflow.is_some());
            assert_eq!(fit.value, i128::from(found), "{x:?} {w:?}");
        }
    }
    assert!(saturated > 1_000_000);
}
