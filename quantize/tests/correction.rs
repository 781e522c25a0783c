//! Compares corrected weights with the best possible ones, found by exhaustive search.

use crate::common::{accelerator, datapath, independent_dots, program, register, serial};
use guardbit_graph::{DType, Window};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_quantize::weights::budget::{Budget, Budgets};
use guardbit_quantize::weights::correct::{Correction, Effort};
use guardbit_quantize::weights::moments::{Moments, Windows};

const TERMS: usize = 4;
const CODES: (i32, i32) = (-4, 4);

struct Draws(u64);

impl Draws {
    /// Returns a number from -1 to 1.
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// Returns inputs with correlated values.
fn samples(draws: &mut Draws) -> Vec<Vec<f32>> {
    let mix: Vec<f64> = (0..TERMS * TERMS).map(|_| draws.draw()).collect();
    let one = |draws: &mut Draws| {
        let free: Vec<f64> = (0..TERMS).map(|_| draws.draw()).collect();
        let value = |i: usize| 0.5 + (0..TERMS).map(|j| mix[i * TERMS + j] * free[j]).sum::<f64>();
        (0..TERMS).map(|i| value(i) as f32).collect()
    };
    (0..64).map(|_| one(draws)).collect()
}

fn budgets(terms: usize, bits: u32) -> Budgets {
    let graph = independent_dots(DType::Int8, DType::Int8, terms, vec![0; terms]);
    let level = serial("acc", Terms::All, register(bits, Overflow::Wrap));
    let program = program(&graph, &accelerator(datapath(vec![level])));
    Budgets::new(&graph, program.mac_layers().next().unwrap())
}

/// Returns all codes that fit.
fn all(budget: &Budget<'_>) -> Vec<Vec<i32>> {
    let span = (CODES.1 - CODES.0 + 1) as usize;
    let fits = |index: usize| {
        let mut own = budget.clone();
        let code = |cell: usize| CODES.0 + (index / span.pow(cell as u32) % span) as i32;
        (0..TERMS).all(|cell| own.set(cell, code(cell))).then(|| own.codes().to_vec())
    };
    (0..span.pow(TERMS as u32)).filter_map(fits).collect()
}

/// Compares the loss of corrected codes, and that of the nearest codes, with the best possible loss, over
/// many problems.
#[test]
fn corrected_codes_are_nearly_the_best() {
    for bits in [32, 10, 9] {
        let budgets = budgets(TERMS, bits);
        let empty = budgets.channel(0);
        let possible = all(&empty);
        let (mut best_all, mut found_all, mut nearest_all, mut exact) = (0.0, 0.0, 0.0, 0);
        for seed in 0..60 {
            let mut draws = Draws(seed);
            let real = Windows::of_group(&Window::dense(1, TERMS, 1), 0, &samples(&mut draws));
            let seen = real.map(|value| (value * 16.0).round() / 16.0);
            let moments = Moments::new(&real, &seen, true);
            let correction = Correction::new(&moments).unwrap();
            let weights: Vec<f64> = (0..TERMS).map(|_| draws.draw()).collect();
            let scale = 0.3;
            let error = |codes: &[i32]| {
                let seen: Vec<f64> = codes.iter().map(|&code| f64::from(code) * scale).collect();
                moments.error(&weights, &seen)
            };
            let target = correction.target(&moments, &weights);
            let found = correction.codes(&target, scale, CODES, &empty, Effort::Full);
            let mut again = empty.clone();
            assert!(found.codes.iter().enumerate().all(|(cell, &code)| again.set(cell, code)), "{bits}");
            let mut nearest = empty.clone();
            for (cell, weight) in weights.iter().enumerate() {
                nearest.set_nearest(cell, ((weight / scale).round() as i32).clamp(CODES.0, CODES.1));
            }
            let best = possible.iter().map(|codes| error(codes)).fold(f64::INFINITY, f64::min);
            let own = error(&found.codes);
            assert!(best >= -1e-9 && own >= best - 1e-9, "{bits} {seed}: {own} {best}");
            exact += usize::from(own <= best * 1.02 + 1e-9);
            (best_all, found_all, nearest_all) =
                (best_all + best, found_all + own, nearest_all + error(nearest.codes()));
        }
        println!(
            "{bits} bits: best {best_all:.4}, found {found_all:.4}, nearest {nearest_all:.4}, {exact} of 60 best"
        );
        assert!(found_all <= best_all * 1.1 && found_all < nearest_all * 0.9 && exact >= 45, "{bits}");
    }
}

/// If one register holds the sum of all products, the nearest code that fits equals that of the definition:
/// with activations from -128 to 127, no sum leaves the register.
#[test]
fn the_nearest_code_is_found_at_once() {
    let fits = |codes: &[i32], bits: u32| {
        let ends = |code: &i32| [code * 127, code * -128];
        let most: i32 = codes.iter().map(|code| *ends(code).iter().max().unwrap()).sum();
        let least: i32 = codes.iter().map(|code| *ends(code).iter().min().unwrap()).sum();
        most < 1 << (bits - 1) && least >= -1 << (bits - 1)
    };
    let mut draws = Draws(11);
    for bits in 8..=16 {
        let budgets = budgets(TERMS, bits);
        for _ in 0..50 {
            let (mut budget, mut expected) = (budgets.channel(0), vec![0; TERMS]);
            for cell in [0, 1, 2, 3, 1] {
                let wanted = (draws.draw() * 127.0) as i32;
                expected[cell] = wanted;
                while !fits(&expected, bits) {
                    expected[cell] -= expected[cell].signum();
                }
                assert_eq!(budget.set_nearest(cell, wanted), expected[cell], "{wanted} in {bits} bits");
                assert_eq!(budget.codes(), expected);
                let all = budgets.channel(0).fits(expected.iter().copied());
                assert!(
                    all && budgets.channel(0).fits([wanted; TERMS].into_iter())
                        == fits(&[wanted; TERMS], bits)
                );
            }
        }
    }
}

/// Few windows may be kept as they are, or as products of cells: both give equal codes.
#[test]
fn few_windows_say_what_their_products_say() {
    const CELLS: usize = 96;
    let mut draws = Draws(7);
    let mut drawn = |count: usize| (0..count).map(|_| draws.draw()).collect::<Vec<f64>>();
    let windows: Vec<Vec<f32>> =
        (0..24).map(|_| drawn(CELLS).into_iter().map(|value| value.max(-0.2) as f32).collect()).collect();
    let weights = drawn(CELLS);
    let real = Windows::of_group(&Window::dense(1, CELLS, 1), 0, &windows);
    // No two cells are alike; otherwise their order would depend on rounding.
    let seen = real.map(|value| value - 0.05 * value * value);
    let of = |moments: Moments| (Correction::new(&moments).unwrap(), moments);
    let (few, own) = of(Moments::of_few(&real, true).seen_as(&real, &seen));
    let (many, theirs) = of(Moments::new(&real, &seen, true));
    assert_ne!(own, theirs, "one of windows, one of products");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
    let targets = [few.target(&own, &weights), many.target(&theirs, &weights)];
    assert!(targets[0].iter().zip(&targets[1]).all(|(&a, &b)| near(a, b)));
    assert!(near(own.error(&weights, &targets[0]), theirs.error(&weights, &targets[0])));
    for bits in [32, 14, 12] {
        let budgets = budgets(CELLS, bits);
        for effort in [Effort::Greedy, Effort::Single] {
            let found = [&few, &many]
                .map(|one| one.codes(&targets[0], 0.02, (-127, 127), &budgets.channel(0), effort));
            assert_eq!(found[0].codes, found[1].codes, "{bits} bits, {effort:?}");
            assert!(near(found[0].cost, found[1].cost), "{found:?}");
            assert!(found[0].codes.iter().any(|&code| code != 0));
        }
    }
}
