//! Golden model: a MAC unit that runs beat by beat, in lockstep with RTL.
//!
//! The model shows the values of `gb_dut`'s ports without latency: every level after each beat, and the sum
//! and the code after the last beat of a dot product. The additions are those of the reference engine
//! ([`LiveDot`]).

use std::path::Path;

use guardbit_graph::{Finish, OutputStage};
use guardbit_hwmodels::{BiasPlace, MacLayer};
use guardbit_num::{Multiplier, Requantizer};
use guardbit_sim::trace::{LiveDot, LiveEnd, TraceOperand};

use crate::arithmetic::{self, Layers, any_case};
use crate::beats::{CLEAR, Display, LevelState, RUN_LAST, VALID, lanes, run_ends};
use crate::interface::interface;
use crate::manifest::{Arithmetic, BiasAt, Interface, MANIFEST, Packing};
use crate::read::read_manifest;
use crate::sizes::{self, MAX_LANES};
use crate::synthetic::LayerParameters;
use crate::words::{field, sign_extend, signed_field};
use crate::{GoldenError, VectorError};

/// Width of a bias in the layers that accelerators run, in bits.
const LAYER_BIAS_BITS: u32 = 32;

/// MAC unit that runs beat by beat.
#[derive(Debug, Clone)]
pub struct GoldenModel {
    arithmetic: Arithmetic,
    interface: Interface,
    terms: usize,
    layer: MacLayer,
    /// Width of the bias port in two's complement.
    bias_bits: u32,
    has_multiplier: bool,
    live: LiveDot,
    display: Display,
    /// Per level and beat of a whole dot product, whether a run ends.
    ends: Vec<Vec<bool>>,
    /// Number of beats since the dot product began.
    beat: usize,
    states: Vec<LevelState>,
    exact: i128,
    end: Option<LiveEnd>,
}

impl GoldenModel {
    /// Opens the unit of the bundle in `dir`.
    ///
    /// # Errors
    /// [`GoldenError`] if there is no usable manifest.
    pub fn from_bundle(dir: &Path) -> Result<Self, GoldenError> {
        let manifest = read_manifest(dir)?;
        let checked = sizes::check(&manifest.arithmetic, &manifest.interface, manifest.layer.terms);
        checked.map_err(|problem| VectorError::Manifest { path: dir.join(MANIFEST), problem })?;
        let bits = manifest.arithmetic.bias.input_bits;
        Self::new(manifest.arithmetic, manifest.interface, manifest.layer.terms, bits)
    }

    /// Opens the unit that runs a layer with these `parameters` on an accelerator. `hw` is the name of a
    /// preset, the path of a file, or the text of a file.
    ///
    /// # Errors
    /// [`GoldenError`] if there is no such accelerator, if it cannot run the layer, or if bundles do not
    /// support it.
    pub fn from_accelerator(hw: &str, parameters: &LayerParameters) -> Result<Self, GoldenError> {
        let program = parameters.program(hw)?;
        let Some(layer) = program.mac_layers().next() else {
            return Err(GoldenError::Parameters("the accelerator does not run conv2d (`offload`)".into()));
        };
        let arithmetic = arithmetic::arithmetic(&program.graph, layer)?;
        let lanes = lanes(&layer.datapath, parameters.terms);
        if lanes > MAX_LANES {
            let what = format!("a tree over {lanes} products (at most {MAX_LANES})");
            return Err(VectorError::Unsupported { layer: layer.name.clone(), what }.into());
        }
        let interface = interface(&arithmetic, lanes, Packing::Dense);
        // Without a network, any bias of a layer may be set.
        let bits = arithmetic.bias.input_bits.max(LAYER_BIAS_BITS);
        Self::new(arithmetic, interface, parameters.terms, bits)
    }

    fn new(
        arithmetic: Arithmetic,
        interface: Interface,
        terms: usize,
        bias_bits: u32,
    ) -> Result<Self, GoldenError> {
        let bias = (arithmetic.bias.at != BiasAt::None).then_some(0);
        let layer = Layers::new(&arithmetic)?.of(&any_case(terms, bias), terms)?;
        let unsupported =
            |what: &str| VectorError::Unsupported { layer: "live".into(), what: what.to_owned() };
        let shifted = layer.datapath.unit_shift(layer.datapath.levels.len()) > 0;
        if layer.datapath.bias.at == BiasPlace::PostRequantize && shifted {
            return Err(unsupported("a bias after the requantizer together with levels that shift").into());
        }
        let live = LiveDot::new(&layer).ok_or_else(|| unsupported("a layer whose lanes share adders"))?;
        let ends = run_ends(&layer.datapath, terms, interface.lanes);
        Ok(Self {
            display: Display::new(&layer.datapath),
            states: vec![LevelState::default(); layer.datapath.levels.len()],
            bias_bits,
            has_multiplier: false,
            beat: 0,
            exact: 0,
            end: None,
            arithmetic,
            interface,
            terms,
            layer,
            live,
            ends,
        })
    }

    /// Returns the arithmetic.
    pub fn arithmetic(&self) -> &Arithmetic {
        &self.arithmetic
    }

    /// Returns the ports.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Returns the number of products per dot product.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Resets the registers and ends the dot product. Bias, multiplier and output stage are kept.
    pub fn reset(&mut self) {
        self.restart();
        self.states.fill(LevelState::default());
    }

    /// Makes the next beat begin a dot product, even if the current one is incomplete.
    pub fn restart(&mut self) {
        if let Some(live) = LiveDot::new(&self.layer) {
            self.live = live;
        }
        self.display = Display::new(&self.layer.datapath);
        self.beat = 0;
        self.exact = 0;
        self.end = None;
    }

    /// Sets the bias port (`stim_bias`), in the unit of the place where the bias is added. A preloaded bias
    /// is read when its level starts a run, any other bias when the dot product ends.
    ///
    /// # Errors
    /// [`GoldenError::Parameters`] if `bias` does not fit the port, or if there is no bias adder and `bias` is not 0.
    pub fn set_bias(&mut self, bias: i64) -> Result<(), GoldenError> {
        let Some(value) = &mut self.layer.bias else {
            let problem = format!("the bias is {bias}, but the unit has no bias adder");
            return if bias == 0 { Ok(()) } else { Err(GoldenError::Parameters(problem)) };
        };
        let half = 1i128 << (self.bias_bits - 1);
        if !(-half..half).contains(&i128::from(bias)) {
            let problem = format!(
                "the bias is {bias}, but the port has {} bits: {} to {}",
                self.bias_bits,
                -half,
                half - 1
            );
            return Err(GoldenError::Parameters(problem));
        }
        let datapath = &self.layer.datapath;
        let end = datapath.levels.len();
        let at = if datapath.bias.at == BiasPlace::Preload { end - 1 } else { end };
        // The value is shifted up here and down where it is added, so no bits are lost.
        value[0] = i128::from(bias) << datapath.unit_shift(at);
        Ok(())
    }

    /// Sets the real multiplier of the requantization, for sums at unit 1.
    ///
    /// # Errors
    /// [`GoldenError::Multiplier`] if no requantizer can use it.
    pub fn set_multiplier(&mut self, real: f64) -> Result<(), GoldenError> {
        let exact = Requantizer::new(self.layer.exact_requantizers[0].scheme(), Multiplier::new(real)?);
        let shift = self.layer.datapath.unit_shift(self.layer.datapath.levels.len());
        self.layer.requantizers[0] = exact.scaled_up(shift)?;
        self.layer.exact_requantizers[0] = exact;
        self.has_multiplier = true;
        Ok(())
    }

    /// Sets the multiplier ports (`stim_mult` and `stim_exp`).
    ///
    /// # Errors
    /// [`GoldenError`] if no layer's ports have these values.
    pub fn set_multiplier_ports(&mut self, mult: i64, exponent: i32) -> Result<(), GoldenError> {
        let point = self.arithmetic.requantize.mult_point as i32;
        let normalized = mult == 0 || mult >> (point - 1) == 1;
        if !normalized || !(-1000..=1000).contains(&exponent) {
            let problem = format!("the multiplier {mult} * 2^({exponent} - {point}) is not normalized");
            return Err(GoldenError::Parameters(problem));
        }
        let real = mult as f64 * 2f64.powi(exponent - point);
        let requantizer = Requantizer::new(self.layer.requantizers[0].scheme(), Multiplier::new(real)?);
        self.layer.requantizers[0] = requantizer;
        self.has_multiplier = true;
        Ok(())
    }

    /// Sets the output's zero point and clamp.
    ///
    /// # Errors
    /// [`GoldenError::Parameters`] if `min` lies above `max`.
    pub fn set_output(&mut self, zero_point: i32, min: i32, max: i32) -> Result<(), GoldenError> {
        if min > max {
            return Err(GoldenError::Parameters(format!("the output clamp from {min} to {max} is empty")));
        }
        if let Finish::Requantize(stage) = &mut self.layer.dots.finish {
            *stage = OutputStage { output_zero_point: zero_point, clamp: (min, max), ..stage.clone() };
        }
        Ok(())
    }

    /// Checks that the next [`step`](Self::step) accepts `count` products, and returns the count.
    ///
    /// It serves callers that know a count before they have a slice.
    ///
    /// # Errors
    /// [`GoldenError::Beat`] if the next step accepts another number of products.
    pub fn check_count(&self, count: i64) -> Result<usize, GoldenError> {
        let lanes = self.interface.lanes;
        let sent = self.beat.saturating_mul(lanes);
        let Some(left) = self.terms.checked_sub(sent).filter(|&left| left > 0) else {
            let problem = "the current dot product already has all products of the layer: clear it first";
            return Err(GoldenError::Beat(problem.into()));
        };
        let expected = lanes.min(left);
        match usize::try_from(count) {
            Ok(count) if count == expected => Ok(count),
            _ => {
                let beat = self.beat;
                Err(GoldenError::Beat(format!("beat {beat} has {count} products; expected {expected}")))
            }
        }
    }

    /// Checks that `ctrl`, `stim_a` and `stim_w` have enough 32-bit limbs for
    /// [`step_words`](Self::step_words), and returns the numbers of limbs that it reads.
    ///
    /// # Errors
    /// [`GoldenError::Beat`] if one of the words has too few limbs.
    pub fn check_limbs(&self, counts: [i64; 3]) -> Result<[usize; 3], GoldenError> {
        let mut limbs = [0; 3];
        for (index, (name, bits)) in self.words().into_iter().enumerate() {
            limbs[index] = bits.div_ceil(32) as usize;
            if counts[index] < limbs[index] as i64 {
                let found = counts[index];
                return Err(GoldenError::Beat(format!(
                    "{found} limbs are too few for the {bits} bits of `{name}`"
                )));
            }
        }
        Ok(limbs)
    }

    /// Returns name and width in bits of the words of a beat.
    fn words(&self) -> [(&'static str, u32); 3] {
        let (lanes, levels) = (self.interface.lanes as u32, self.states.len() as u32);
        [
            ("ctrl", RUN_LAST + levels + lanes),
            ("activations", lanes * self.interface.activation_slot),
            ("weights", lanes * self.interface.weight_slot),
        ]
    }

    /// Checks that the next [`step`](Self::step) accepts these operands.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn check_operands(&self, activations: &[i64], weights: &[i64]) -> Result<(), GoldenError> {
        for operands in [activations, weights] {
            self.check_count(i64::try_from(operands.len()).unwrap_or(i64::MAX))?;
        }
        let (a, w) = (self.arithmetic.activation.bits, self.arithmetic.weight.bits);
        for (what, values, bits) in [("activation", activations, a), ("weight", weights, w)] {
            if let Some(value) = values.iter().find(|&&v| v != sign_extend(v as u64, bits)) {
                return Err(GoldenError::Beat(format!("the {what} {value} does not fit {bits} bits")));
            }
        }
        Ok(())
    }

    /// Runs one beat of a whole dot product. Runs end where the interface contract requires.
    ///
    /// # Errors
    /// [`GoldenError::Beat`] if the number of operands differs from that of the lanes (in the last beat, from
    /// that of the remaining products), or if an operand is wider than its port. The state is unchanged then.
    pub fn step(&mut self, activations: &[i64], weights: &[i64]) -> Result<(), GoldenError> {
        self.check_operands(activations, weights)?;
        let operands: Vec<TraceOperand> = activations
            .iter()
            .zip(weights)
            .map(|(&a, &w)| TraceOperand { activation: a.into(), weight: w.into() })
            .collect();
        let run_last: Vec<bool> = self.ends.iter().map(|level| level[self.beat]).collect();
        self.beat(&operands, &run_last);
        Ok(())
    }

    /// Runs one clock cycle with the values of the ports `ctrl`, `stim_a` and `stim_w`: 32 bits per limb, the
    /// least significant limb first. Without `valid` the state does not change.
    ///
    /// # Errors
    /// [`GoldenError::Beat`] if a word is too short, if `keep` does not select consecutive lanes from lane 0
    /// on, or if a tree's run does not end. The state is unchanged then.
    pub fn step_words(
        &mut self,
        ctrl: &[u32],
        activations: &[u32],
        weights: &[u32],
    ) -> Result<(), GoldenError> {
        let (lanes, levels) = (self.interface.lanes as u32, self.states.len() as u32);
        self.check_limbs([ctrl, activations, weights].map(|limbs| limbs.len() as i64))?;
        let [ctrl, activations, weights] = [ctrl, activations, weights].map(wide_limbs);
        if field(&ctrl, VALID, 1) == 0 {
            self.hold();
            return Ok(());
        }
        let keep = field(&ctrl, RUN_LAST + levels, lanes);
        if keep == 0 || keep & (keep + 1) != 0 {
            return Err(GoldenError::Beat(format!(
                "keep is {keep:#b}; expected consecutive lanes starting at lane 0"
            )));
        }
        let run_last: Vec<bool> = (0..levels).map(|i| field(&ctrl, RUN_LAST + i, 1) == 1).collect();
        let level = &self.layer.datapath.levels[0];
        if level.reduce.takes_run_at_once() && !run_last[0] {
            let kind = level.reduce;
            return Err(GoldenError::Beat(format!(
                "run_last of a {kind} is 0, but a run of a {kind} is one beat"
            )));
        }
        if field(&ctrl, CLEAR, 1) == 1 {
            self.restart();
        }
        let value =
            |word: &[u64], lane: u32, slot: u32, bits: u32| i128::from(signed_field(word, lane * slot, bits));
        let (a, w) = (self.arithmetic.activation.bits, self.arithmetic.weight.bits);
        let operands: Vec<TraceOperand> = (0..keep.count_ones())
            .map(|lane| TraceOperand {
                activation: value(&activations, lane, self.interface.activation_slot, a),
                weight: value(&weights, lane, self.interface.weight_slot, w),
            })
            .collect();
        self.beat(&operands, &run_last);
        Ok(())
    }

    /// Returns the outputs of level `index` after the last beat; `None` if there is no such level.
    pub fn level(&self, index: usize) -> Option<LevelState> {
        self.states.get(index).copied()
    }

    /// Returns the exact sum of the dot product so far, at unit 1, including a preloaded bias.
    pub fn exact(&self) -> i128 {
        self.exact
    }

    /// Returns the sum that the last level delivered, if the last beat ended a dot product.
    pub fn sum(&self) -> Option<i64> {
        self.end.map(|end| end.delivered as i64)
    }

    /// Returns the output code, if the last beat ended a dot product.
    ///
    /// # Errors
    /// [`GoldenError::NoMultiplier`] if no multiplier was set.
    pub fn code(&self) -> Result<Option<i32>, GoldenError> {
        if self.has_multiplier { Ok(self.end.map(|end| end.code)) } else { Err(GoldenError::NoMultiplier) }
    }

    /// Runs a cycle without a beat.
    fn hold(&mut self) {
        self.states.iter_mut().for_each(|state| state.updated = false);
        self.end = None;
    }

    fn beat(&mut self, operands: &[TraceOperand], run_last: &[bool]) {
        self.hold();
        let done = self.live.beat(&self.layer, 0, operands, run_last);
        let mut shown = vec![LevelState::default(); self.states.len()];
        done.steps.iter().for_each(|step| self.display.show(step, &mut shown));
        for (held, new) in self.states.iter_mut().zip(shown) {
            if new.updated {
                *held = new;
            }
        }
        self.end = done.end;
        self.beat += 1;
        match done.end {
            Some(end) => {
                self.exact = end.exact;
                self.beat = 0;
                self.display = Display::new(&self.layer.datapath);
            }
            None => self.exact = self.live.products() + self.preloaded(),
        }
    }

    fn preloaded(&self) -> i128 {
        let is_preloaded = self.layer.datapath.bias.at == BiasPlace::Preload;
        self.layer.bias.as_ref().filter(|_| is_preloaded).map_or(0, |bias| bias[0])
    }
}

/// Returns 64-bit limbs from 32-bit limbs.
fn wide_limbs(limbs: &[u32]) -> Vec<u64> {
    limbs
        .chunks(2)
        .map(|pair| pair.iter().rev().fold(0, |wide, &limb| wide << 32 | u64::from(limb)))
        .collect()
}
