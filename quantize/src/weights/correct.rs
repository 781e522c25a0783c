//! Codes of weights with the least squared error on real inputs, within budgets.
//!
//! Each channel takes three steps, and each step keeps every register's bound:
//! 1. Greedy, weight by weight: the remaining weights compensate for the rounding error of each one (GPTQ),
//!    within the budget (AXE).
//! 2. Greedy again, from weights that a soft threshold has brought within the budget, if the codes of step 1
//!    lose more.
//! 3. Descent: one code or two are changed as long as that lowers the error.
//!
//! Frantar et al., "GPTQ" (ICLR 2023). Colbert et al., "Accumulator-Aware Post-Training Quantization" (2024).
//! GPTQ equals Babai's nearest plane algorithm: Chen et al., "The Geometry of LLM Quantization" (2025). This
//! file implements it in that form, from the last row of the Cholesky factor to the first, without an
//! inverse.

use std::cmp::Ordering;

use super::budget::Budget;
use super::cap::soft;
use super::form::{Form, Slope};
use super::moments::Moments;

/// Fraction of the mean of the diagonal that is added to the diagonal: GPTQ's `percdamp`.
const DAMPING: f64 = 0.01;
/// Maximum number of sweeps over all codes.
const SWEEPS: usize = 24;
/// Number of partners tried for a code that cannot change alone.
const PARTNERS: usize = 6;

/// Factored moments, ready to choose the weights of channels that share them.
#[derive(Debug, Clone)]
pub struct Correction {
    /// Damped matrix S.
    form: Form,
    /// Cells in the order of the factor: the last one is decided first.
    order: Vec<usize>,
    damping: f64,
}

/// Codes of a channel and their cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Corrected {
    /// Codes by cell.
    pub codes: Vec<i32>,
    /// Damped squared error that was minimized. Only its differences are meaningful.
    pub cost: f64,
}

/// Effort of the search for codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Steps 1 and 2: until every code is decided.
    Greedy,
    /// Steps 1 to 3, but codes change one at a time.
    Single,
    /// Steps 1 to 3, until nothing improves.
    Full,
}

/// Minimum and maximum code of weights.
pub type Codes = (i32, i32);

impl Correction {
    /// Factors the moments; `None` if there are no real inputs, or no finite ones.
    pub fn new(moments: &Moments) -> Option<Self> {
        let mean = moments.seen_mean_diagonal();
        let damping = if mean > 0.0 { DAMPING * mean } else { 1.0 };
        let (form, order) = Form::new(moments, damping)?;
        Some(Self { order, form, damping })
    }

    /// Returns the real weights with the least error on the quantized inputs: `(S + d) v = C^T w + d w`. They
    /// equal `weights` if the input codes lose nothing.
    pub fn target(&self, moments: &Moments, weights: &[f64]) -> Vec<f64> {
        let mut right: Vec<f64> = weights.iter().map(|weight| self.damping * weight).collect();
        moments.add_cross(weights, &mut right);
        self.form.solve(&right)
    }

    /// Returns codes for the real weights `target` in steps of `scale`. `budget` is the channel's budget with
    /// all weights at 0.
    pub fn codes(
        &self,
        target: &[f64],
        scale: f64,
        codes: Codes,
        budget: &Budget<'_>,
        effort: Effort,
    ) -> Corrected {
        let steps: Vec<f64> = target.iter().map(|weight| weight / scale).collect();
        let search = Search { correction: self, steps: &steps, codes, effort };
        let greedy = search.descend(search.greedy(&steps, budget.clone()));
        let found = match search.threshold(budget) {
            None => greedy,
            Some(threshold) => {
                let nearer: Vec<f64> = steps.iter().map(|&step| soft(step, threshold)).collect();
                let soft = search.descend(search.greedy(&nearer, budget.clone()));
                if soft.cost < greedy.cost { soft } else { greedy }
            }
        };
        Corrected { cost: found.cost * scale * scale, codes: found.budget.codes().to_vec() }
    }
}

/// Search from real weights in steps of a scale to codes.
struct Search<'a> {
    correction: &'a Correction,
    steps: &'a [f64],
    codes: Codes,
    effort: Effort,
}

/// Codes and their cost in squared steps.
struct State<'a> {
    budget: Budget<'a>,
    /// Residual of each step: the part that the codes do not reach.
    missing: Vec<f64>,
    /// Product of the form with the residual.
    slope: Slope,
    cost: f64,
}

impl Search<'_> {
    fn code(&self, step: f64) -> i32 {
        // At 2^52 plus half of it, `f64` has no fraction bits: the sum is rounded half to even, without a
        // function call.
        const WHOLE: f64 = ((1u64 << 52) + (1u64 << 51)) as f64;
        ((self.within(step) + WHOLE) - WHOLE) as i32
    }

    fn within(&self, step: f64) -> f64 {
        step.clamp(f64::from(self.codes.0), f64::from(self.codes.1))
    }

    /// Decides cells from the last of the order to the first, and moves the residual so far into the
    /// remaining cells.
    fn greedy<'a>(&self, steps: &[f64], mut budget: Budget<'a>) -> Budget<'a> {
        let Correction { form, order, .. } = self.correction;
        form.decide(order, steps, |cell, wanted| {
            steps[cell] - f64::from(budget.set_nearest(cell, self.code(wanted)))
        });
        budget
    }

    /// Returns the smallest threshold with which weights rounded toward 0 fit, to a thousandth of the largest
    /// step; `None` if they fit unchanged.
    fn threshold(&self, budget: &Budget<'_>) -> Option<f64> {
        let fits = |threshold: f64| {
            // A cast from float to integer rounds toward 0.
            budget.fits(self.steps.iter().map(|&step| self.within(soft(step, threshold)) as i32))
        };
        if fits(0.0) {
            return None;
        }
        let most = self.steps.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        let (mut low, mut high) = (0.0, most);
        while high - low > most / 1000.0 {
            let middle = (low + high) / 2.0;
            if fits(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    fn state<'a>(&self, budget: Budget<'a>) -> State<'a> {
        let missing: Vec<f64> =
            self.steps.iter().zip(budget.codes()).map(|(step, &code)| step - f64::from(code)).collect();
        let Correction { form, order, .. } = self.correction;
        let (cost, slope) = match self.effort {
            Effort::Greedy => (form.value(order, &missing), Slope::default()),
            Effort::Single | Effort::Full => form.slope(&missing),
        };
        State { budget, missing, slope, cost }
    }

    /// Changes codes as long as the cost decreases.
    fn descend<'a>(&self, budget: Budget<'a>) -> State<'a> {
        let mut state = self.state(budget);
        let sweeps = if self.effort == Effort::Greedy { 0 } else { SWEEPS };
        for _ in 0..sweeps {
            let before = state.cost;
            for cell in 0..self.steps.len() {
                if !self.change_one(&mut state, cell) && self.effort == Effort::Full {
                    self.change_two(&mut state, cell);
                }
            }
            if state.cost > before * (1.0 - 1e-3) {
                break;
            }
        }
        state
    }

    fn change_one(&self, state: &mut State<'_>, cell: usize) -> bool {
        let curve = self.correction.form.curve(cell);
        let slope = self.correction.form.at(&state.slope, &state.missing, cell);
        let old = state.budget.codes()[cell];
        let wanted = self.code(f64::from(old) + slope / curve);
        if wanted == old {
            return false;
        }
        let toward = (wanted - old).signum();
        // Tries the optimum first. A single step also lowers the cost if it does not pass the optimum.
        for code in [wanted, old + toward] {
            let change = f64::from(code - old);
            let gain = change * (2.0 * slope - change * curve);
            if gain > 1e-9 * state.cost && state.budget.set(cell, code) {
                self.apply(state, cell, change);
                return true;
            }
        }
        false
    }

    /// Steps a code that has no room, together with a step of another code that makes room.
    fn change_two(&self, state: &mut State<'_>, cell: usize) {
        let Some(form) = self.correction.form.matrix() else { return };
        let slope = |state: &State<'_>, cell| self.correction.form.at(&state.slope, &state.missing, cell);
        let row = form.row(cell);
        let old = state.budget.codes()[cell];
        let own_slope = slope(state, cell);
        let toward = if own_slope >= 0.0 { 1 } else { -1 };
        let code = old + toward;
        if code < self.codes.0 || code > self.codes.1 {
            return;
        }
        let gain = |slope: f64, change: f64, curve: f64| change * (2.0 * slope - change * curve);
        let own = gain(own_slope, f64::from(toward), row[cell]);
        let mut partners: Vec<(f64, usize, i32)> = Vec::new();
        for (other, &joint) in row.iter().enumerate() {
            let theirs = state.budget.codes()[other];
            // A code that moves toward 0 makes room.
            if other == cell || theirs == 0 {
                continue;
            }
            let back = -theirs.signum();
            let alone = gain(slope(state, other), f64::from(back), form.row(other)[other]);
            let both = own + alone - 2.0 * f64::from(toward * back) * joint;
            if both > 1e-9 * state.cost {
                partners.push((both, other, theirs + back));
            }
        }
        let best_first = |a: &(f64, usize, i32), b: &(f64, usize, i32)| match b.0.total_cmp(&a.0) {
            Ordering::Equal => a.1.cmp(&b.1),
            order => order,
        };
        partners.sort_by(best_first);
        for (_, other, theirs) in partners.into_iter().take(PARTNERS) {
            let before = state.budget.codes()[other];
            if !state.budget.set(other, theirs) {
                continue;
            }
            if state.budget.set(cell, code) {
                self.apply(state, other, f64::from(theirs - before));
                self.apply(state, cell, f64::from(toward));
                return;
            }
            state.budget.set(other, before);
        }
    }

    /// Updates the residual and slope after a code has changed.
    fn apply(&self, state: &mut State<'_>, cell: usize, change: f64) {
        let form = &self.correction.form;
        let slope = form.at(&state.slope, &state.missing, cell);
        state.cost -= change * (2.0 * slope - change * form.curve(cell));
        state.missing[cell] -= change;
        form.change(&mut state.slope, cell, change);
    }
}
