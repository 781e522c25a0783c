//! Draws dot products around the borders of the arithmetic: exponents that lie the fraction bits apart, pairs that cancel,
//! ends of the formats, codes that are not finite.

use guardbit_num::{FloatFormat, Incoming, Specials};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::beats::FloatDot;
use super::fault::accumulators;
use super::formats::{least_bit, magnitude, top};
use super::unit::{Scales, Unit};
use crate::manifest::CaseGroup;

/// Number of dot products that are drawn.
pub(super) const DRAWN: usize = 6000;
/// Products up to which a corner case may be longer than the layer's dot products.
const LONGEST: usize = 4096;

/// Draws dot products.
pub(super) struct Draw<'u> {
    pub(super) unit: &'u Unit,
    random: Pcg64Mcg,
    /// Greatest number of products.
    pub most: usize,
    /// Exponents of the scales of successive promotions, if the dot product that was drawn last needs them.
    pub(super) raised: Option<Vec<i32>>,
    /// Distances of exponents at which something changes.
    distances: Vec<i32>,
    /// Exponents at which something changes.
    anchors: Vec<i32>,
    /// Least and greatest exponent of a product.
    pub(super) range: [i32; 2],
    /// The part of it that the accumulator holds.
    pub(super) held: [i32; 2],
}

impl<'u> Draw<'u> {
    pub fn new(unit: &'u Unit, terms: usize, seed: u64) -> Self {
        let rule = &unit.dot.rule;
        let formats = [unit.activation, unit.weight];
        let range = [formats.map(least_bit), formats.map(top)].map(|both| both.iter().sum());
        let result = rule.result;
        let mut borders = vec![rule.fraction_bits as i32, result.fraction_bits() as i32 + 1, 24];
        if let Incoming::Apart { sum_bits, bits, reach, .. } = rule.incoming {
            borders.extend([sum_bits as i32, bits as i32]);
            borders.extend(reach.map(|reach| reach as i32));
        }
        let mut distances = vec![0, 0, 0, 0, 1, 2];
        distances.extend(borders.iter().flat_map(|border| (-2..=3).map(move |by| border + by)));
        let mut anchors = vec![range[1], range[1] - 1, range[0], range[0] + 1, 0];
        anchors.extend((-3..=2).map(|by| top(result) + by));
        anchors.extend((-3..=3).flat_map(|by| [result.least_exponent() + by, least_bit(result) + by]));
        let most = (terms + 2 * unit.lanes()).max(LONGEST);
        let held = [range[0].max(least_bit(result)), range[1].min(top(result) - 1)];
        let held = if held[0] < held[1] { held } else { range };
        Self {
            unit,
            random: Pcg64Mcg::seed_from_u64(seed),
            most,
            raised: None,
            distances,
            anchors,
            range,
            held,
        }
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.random.next_u32() as usize) % count.max(1)
    }

    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(super) fn distance(&mut self) -> i32 {
        let at = self.below(self.distances.len());
        self.distances[at]
    }

    /// Returns whether an event of one in `count` happens.
    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Returns a code whose leading bit has an exponent, as far as the format has it.
    pub(super) fn operand(&mut self, format: FloatFormat, expo: i32) -> u32 {
        let (frac, least) = (format.fraction_bits(), format.least_exponent());
        let expo = expo.clamp(least_bit(format), top(format));
        let (high, bits) = match expo - least {
            normal @ 0.. => (((normal + 1) as u32) << frac, frac),
            below => (1 << (frac as i32 + below), (frac as i32 + below) as u32),
        };
        let random = self.random.next_u32();
        let one = 1 << self.below(bits as usize);
        let low = self.pick(&[0, 0, 0, u32::MAX, random, random, 1, one]) & ((1 << bits) - 1);
        (high | low).min(format.largest())
    }

    /// Returns a product whose exponent is near one.
    pub(super) fn product(&mut self, expo: i32, negative: bool) -> [u32; 2] {
        let Unit { activation, weight, .. } = *self.unit;
        let expo = expo.clamp(self.range[0], self.range[1]);
        let (low, high) = (
            (expo - top(weight)).max(least_bit(activation)),
            (expo - least_bit(weight)).min(top(activation)),
        );
        let of_a = low + self.below((high - low + 1) as usize) as i32;
        let flip = self.one_in(2);
        let a = signed(activation, self.operand(activation, of_a), flip);
        [a, signed(weight, self.operand(weight, expo - of_a), flip != negative)]
    }

    /// Returns a product that is zero.
    fn zero(&mut self) -> [u32; 2] {
        let formats = [self.unit.activation, self.unit.weight];
        let flips = [self.one_in(4), self.one_in(4)];
        let mut codes = [0, 1].map(|side| {
            let has_negative = formats[side].specials() != Specials::NegativeZeroIsNan;
            signed(formats[side], 0, has_negative && flips[side])
        });
        if self.one_in(4) {
            let side = self.below(2);
            let expo = top(formats[side]) - self.below(4) as i32;
            codes[side] = self.operand(formats[side], expo);
        }
        codes
    }

    /// Returns a code that is not a nonzero number, if the format has such a code.
    fn special(&mut self, format: FloatFormat) -> u32 {
        let flip = self.one_in(2);
        let infinity = format.infinity(flip);
        let flip = flip && format.specials() != Specials::NegativeZeroIsNan;
        let nan = format.nan().map(|nan| signed(format, nan, flip));
        let all: Vec<u32> = nan.into_iter().chain(infinity).chain(infinity).chain([0]).collect();
        self.pick(&all)
    }

    /// Returns any code.
    pub(super) fn bits(&mut self, format: FloatFormat) -> u32 {
        self.random.next_u32() >> (32 - format.bits())
    }

    fn any(&mut self) -> [u32; 2] {
        let Unit { activation, weight, .. } = *self.unit;
        [activation, weight].map(|format| self.bits(format))
    }

    pub fn products(&mut self, number: usize) -> Vec<[u32; 2]> {
        let lanes = self.unit.lanes();
        match number % 16 {
            0 => {
                let count = 1 + self.below(3 * lanes);
                (0..count).map(|_| self.any()).collect()
            }
            // Long ones are few.
            1 if number < 16 * 8 => self.largest(),
            1 => self.far_promotions(number),
            2 => self.promoted(number),
            3 => self.promotion_tie(number),
            4 | 5 => self.tie(),
            6 | 7 => self.cancelled(),
            8 => self.specials(),
            9 => self.zero_raised(),
            10 => self.full(),
            11 => self.grown(number),
            _ => {
                let beats = self.pick(&[1, 2, 2, 2, 3, 4]);
                self.beats(beats)
            }
        }
    }

    /// Returns products as large as they can be, up to the accumulator's end.
    fn largest(&mut self) -> Vec<[u32; 2]> {
        let Unit { activation, weight, .. } = *self.unit;
        let negative = self.one_in(2);
        let product = [signed(activation, activation.largest(), negative), weight.largest()];
        let needed = top(self.unit.dot.rule.result) - self.range[1];
        // Beyond these there are too many.
        let count = if needed > 12 { 1 } else { 1usize << needed.max(0) };
        let lanes = self.unit.lanes();
        vec![product; (count * 2 + self.below(2 * lanes)).min(self.most)]
    }

    /// Returns a product of two powers of two, as far as the formats have them.
    pub(super) fn power(&mut self, expo: i32, negative: bool) -> [u32; 2] {
        let formats = [self.unit.activation, self.unit.weight];
        let mut codes = self.product(expo, negative);
        for (code, format) in codes.iter_mut().zip(formats) {
            let magnitude = *code & !(1 << (format.bits() - 1));
            let fraction = (1 << format.fraction_bits()) - 1;
            let leading = if magnitude > fraction { !fraction } else { 1 << magnitude.max(1).ilog2() };
            *code &= leading | 1 << (format.bits() - 1);
        }
        codes
    }

    /// Returns additions of the given products, with zeros in the lanes that are left.
    pub(super) fn laid(&self, additions: &[Vec<[u32; 2]>]) -> Vec<[u32; 2]> {
        let lanes = self.unit.lanes();
        let mut all = Vec::new();
        for addition in additions.iter().filter(|addition| !addition.is_empty()) {
            all.resize(all.len().next_multiple_of(lanes), [0; 2]);
            all.extend(addition);
        }
        all
    }

    /// Returns the exponent of the least products that the accumulator holds. With scales of 1 it is far above the least one.
    pub(super) fn lowest(&self) -> i32 {
        let [low, _] = accumulators(self.unit, self.most);
        match self.unit.scales {
            None => low,
            // A group with scales of 1 has exponent 0: smaller bits are cut.
            Some(Scales { group: Some(_), .. }) => {
                low.max(self.held[0]).max(-(self.unit.dot.rule.fraction_bits as i32))
            }
            Some(_) => low.max(self.held[0]),
        }
    }

    /// Returns an exponent that leaves room for `below` bits.
    pub(super) fn high(&mut self, below: i32) -> i32 {
        let [low, high] = self.held;
        let least = (low + below).min(high);
        let near = self.pick(&[0, 0, 1, 2, 3, 5, 8]);
        self.pick(&[high - near, least + near])
    }

    /// Returns a small product, and one that lies half between two numbers of the accumulator.
    fn lone_tie(&mut self) -> Option<Vec<[u32; 2]>> {
        let Unit { activation, weight, dot, .. } = *self.unit;
        let (own, result) = (activation.fraction_bits(), dot.rule.result.fraction_bits());
        let last = own.checked_sub(result)?;
        let distance = self.distance();
        let top = self.high(distance + 1);
        let (negative, flip) = (self.one_in(2), self.one_in(2));
        let [a, w] = self.power(top, negative);
        let one = [a | 1 << last, w | 1 << (weight.fraction_bits() - 1)];
        let small = self.product(top - distance, flip);
        Some(self.laid(&[vec![small], vec![one]]))
    }

    /// Returns a sum that lies half between two numbers of the accumulator, or near it.
    fn tie(&mut self) -> Vec<[u32; 2]> {
        if self.one_in(4)
            && let Some(products) = self.lone_tie()
        {
            return products;
        }
        let (rule, lanes) = (self.unit.dot.rule, self.unit.lanes());
        let half = rule.result.fraction_bits() as i32 + 1;
        let bits = rule.fraction_bits as i32;
        let distance = self.pick(&[half, half, bits, bits - 1, bits + 1]).min(half);
        let top = self.high(distance + 3);
        let negative = self.one_in(2);
        // Equal products raise the sum to where the last one is half of its last bit.
        let copies = 1usize << (half - distance).clamp(0, 12);
        let mut large: Vec<_> = (0..copies.min(lanes)).map(|_| self.power(top, negative)).collect();
        if self.one_in(2) {
            let odd = self.power(top - distance + 1, negative);
            large.push(odd);
        }
        let flip = self.one_in(4);
        let mut small = vec![self.power(top - distance, negative != flip)];
        if self.one_in(2) {
            let below = self.pick(&[1, 2, 3, 8]);
            let flip = self.one_in(2);
            let tail = self.product(top - distance - below, negative != flip);
            small.push(tail);
        }
        match self.one_in(2) {
            true => self.laid(&[large, small]),
            false => self.laid(&[[large, small].concat()]),
        }
    }

    /// Returns products that cancel, and one that lies far below them.
    fn cancelled(&mut self) -> Vec<[u32; 2]> {
        let distance = self.distance();
        let top = self.high(distance + 2);
        let (negative, other, flip) = (self.one_in(2), self.one_in(2), self.one_in(2));
        let one = if other { self.power(top, negative) } else { self.product(top, negative) };
        let back = [flipped(self.unit.activation, one[0]), one[1]];
        // Equal products reach beyond a product's largest exponent.
        let copies = 1usize << self.below((self.unit.lanes() / 2).max(1).ilog2() as usize + 1);
        let raised = copies.ilog2() as i32;
        let far = self.product(top + raised - distance, flip);
        match self.below(6) {
            0 => self.laid(&[vec![one; copies], [vec![back; copies], vec![far]].concat()]),
            1 => self.laid(&[vec![one; copies], vec![far], vec![back; copies]]),
            2 => self.laid(&[vec![far], [vec![one], vec![back]].concat()]),
            3 => self.laid(&[vec![one, [0; 2], back, [0; 2], far]]),
            4 => self.laid(&[vec![one; copies], vec![far]]),
            _ => self.laid(&[vec![one, far, back]]),
        }
    }

    /// Returns a product with all bits of the fractions 1, or all but one each.
    pub(super) fn dense(&mut self, mut codes: [u32; 2]) -> [u32; 2] {
        let formats = [self.unit.activation, self.unit.weight];
        for (code, format) in codes.iter_mut().zip(formats) {
            let ones = (1 << format.fraction_bits()) - 1;
            let hole = if self.one_in(2) { 0 } else { 1 << self.below(format.fraction_bits() as usize) };
            let full = *code | (ones ^ hole);
            if full & !(1 << (format.bits() - 1)) <= format.largest() {
                *code = full;
            }
        }
        codes
    }

    /// Returns additions of products of one size and sign in every lane.
    fn full(&mut self) -> Vec<[u32; 2]> {
        let distance = self.below(3) as i32;
        let (high, negative) = (self.high(distance + 2), self.one_in(2));
        // Or where the result has its last bit.
        let last = least_bit(self.unit.dot.rule.result) + self.below(4) as i32 - 2;
        let top = if self.one_in(4) { last } else { high };
        let count = self.unit.lanes() * (1 + self.below(2));
        let dense = self.one_in(2);
        let product = |_| {
            let below = if dense { 0 } else { self.below(3) as i32 };
            let codes = self.product(top - below, negative);
            if dense { self.dense(codes) } else { codes }
        };
        (0..count).map(product).collect()
    }

    /// Returns equal products that make the accumulator large, and then a small one.
    fn grown(&mut self, number: usize) -> Vec<[u32; 2]> {
        let (lanes, negative, flip) = (self.unit.lanes(), self.one_in(2), self.one_in(2));
        // Long ones come late, where no shorter one shows anything new.
        let longest = self.most / lanes - 2;
        let most = if number > DRAWN / 3 { longest } else { 32 };
        let additions = self.pick(&[1, 2, 4, 8, 16, 32, 64, 256, longest]).min(most);
        let Unit { activation, weight, .. } = *self.unit;
        let largest = [signed(activation, activation.largest(), negative), weight.largest()];
        let power = self.power(self.held[1], negative);
        let one = self.pick(&[power, largest]);
        let mut all = vec![one; additions * lanes];
        let reached = self.held[1] + all.len().ilog2() as i32;
        let distance = self.distance();
        let (back, far) =
            ([flipped(self.unit.activation, one[0]), one[1]], self.product(reached - distance, flip));
        let least = self.product(self.range[0] + 1, flip);
        let small = self.pick(&[far, least]);
        all.extend(self.laid(&[vec![small], vec![back; lanes]]));
        all
    }

    /// Returns infinities and NaN, with numbers and each other.
    fn specials(&mut self) -> Vec<[u32; 2]> {
        let formats = [self.unit.activation, self.unit.weight];
        let mut parts: Vec<[u32; 2]> = Vec::new();
        for _ in 0..2 {
            let side = self.below(2);
            let flip = self.one_in(2);
            let code =
                formats[side].infinity(flip).or(formats[side].nan()).unwrap_or(formats[side].largest());
            let other = 1 - side;
            let number = self.pick(&[formats[other].largest(), 0, 1, formats[other].largest()]);
            let mut codes = [signed(formats[0], formats[0].largest(), flip), formats[1].largest()];
            if !self.one_in(4) {
                (codes[side], codes[other]) = (code, number);
            }
            parts.push(codes);
        }
        let last = self.product(0, false);
        match self.one_in(2) {
            true => self.laid(&[vec![parts[0]], vec![parts[1]], vec![last]]),
            false => self.laid(&[parts, vec![last]]),
        }
    }

    /// Returns a zero next to a large operand, and products far below it.
    fn zero_raised(&mut self) -> Vec<[u32; 2]> {
        let formats = [self.unit.activation, self.unit.weight];
        let mut zero = [0; 2];
        let side = self.below(2);
        let above = self.pick(&[0, 0, 1, 4]);
        zero[side] = self.operand(formats[side], top(formats[side]) - above);
        let raised = top(formats[side]) - above + formats[1 - side].least_exponent();
        let count = 1 + self.below(3);
        let small: Vec<_> = (0..count)
            .map(|_| {
                let (far, above, negative) = (self.distance(), self.below(10) as i32, self.one_in(2));
                let expo = self.pick(&[self.range[0] + above, raised - far]);
                self.product(expo, negative)
            })
            .collect();
        match self.one_in(2) {
            true => self.laid(&[[vec![zero], small].concat()]),
            false => self.laid(&[small, vec![zero]]),
        }
    }

    /// Returns promotions whose float32 sum lies half between two float32 numbers, or near it.
    fn promotion_tie(&mut self, number: usize) -> Vec<[u32; 2]> {
        let lanes = self.unit.lanes();
        let every = self.unit.promotion().unwrap_or(usize::MAX);
        let rare = (every / 8).max(1);
        if every.saturating_add(1).saturating_mul(lanes) > self.most || !(number / 16).is_multiple_of(rare) {
            return self.tie();
        }
        let (low, [_, high]) = (self.lowest(), self.held);
        let below = self.pick(&[0, 0, 3, 3, 4, 5, 6, 7, 8]);
        let mut top = (low + 24 + below).max(high - self.below(6) as i32);
        let (negative, flip) = (self.one_in(2), self.one_in(4));
        // Several products, if one is not large enough.
        let copies = 1usize << (top - high).clamp(0, 12);
        let mut first: Vec<_> =
            (0..copies.min(self.most / 4)).map(|_| self.power(top.min(high), negative)).collect();
        let Unit { activation, weight, .. } = *self.unit;
        let reached = (lanes as f64 * magnitude(activation) * magnitude(weight)).log2().floor() as i32;
        if self.one_in(4) && reached < self::top(self.unit.dot.rule.result) {
            // Or the largest sum of one addition.
            first = vec![[signed(activation, activation.largest(), negative), weight.largest()]; lanes];
            top = reached;
        }
        let mut small = vec![self.normal_power(top - 24, negative != flip)];
        if self.one_in(2) {
            let few = 1 + self.below(lanes);
            let (count, same) = (self.pick(&[few, lanes]), self.pick(&[8, 3, 3, 4]));
            let dense = self.one_in(2);
            small = (0..count)
                .map(|_| {
                    let far = if same == 8 { self.below(8) as i32 } else { same };
                    let codes = self.product(top - 24 - far, negative != flip);
                    if dense { self.dense(codes) } else { codes }
                })
                .collect();
        } else if below > 0 {
            let flip = self.one_in(4);
            let tail = self.normal_power(top - 24 - below, negative != flip);
            small.push(tail);
        }
        // The float32 sum is the larger one, or the smaller one. That one may come in promotions of its own.
        let parts = match (self.one_in(2), self.one_in(2) && small.len() < 4) {
            (true, _) => vec![first, small],
            (_, true) => small.into_iter().map(|codes| vec![codes]).chain([first]).collect(),
            _ => vec![small, first],
        };
        self.promotions(parts)
    }

    /// Returns promotions whose accumulators lie 32 exponents or more apart, in both orders.
    fn far_promotions(&mut self, number: usize) -> Vec<[u32; 2]> {
        let lanes = self.unit.lanes();
        let every = self.unit.promotion().unwrap_or(usize::MAX);
        let size = every.saturating_mul(lanes);
        let rare = (every / 8).max(1);
        if size.saturating_add(lanes) > self.most || !(number / 16).is_multiple_of(rare) {
            return self.beats(2);
        }
        let (negative, flip, is_reversed) = (self.one_in(2), self.one_in(2), self.one_in(2));
        let (low, [_, high]) = (self.lowest(), self.held);
        let (far, above) =
            (32 + self.pick(&[0, 0, 1, 2, 4, 8, 16, 32]), self.pick(&[0, 0, 1, 2, 3, 6, 12, 18, 24]));
        // A further one may make the sum odd before.
        let mut small = vec![vec![self.normal_power(low + above, flip)]];
        if self.one_in(2) {
            small.insert(0, vec![self.normal_power(low + above + 1, flip)]);
        }
        let missing = low + above + far - high;
        if missing > 0 && self.unit.scales.is_some() {
            // Scales make up for what is missing.
            let down = self.below(missing as usize + 1) as i32;
            let mut raised = vec![-down; small.len()];
            raised.push(missing - down);
            let mut parts = [small, vec![vec![self.power(high, negative)]]].concat();
            if !is_reversed {
                parts.reverse();
                raised.reverse();
            }
            self.raised = Some(raised);
            return self.promotions(parts);
        }
        let large = if low + above + far <= high {
            vec![vec![self.power(low + above + far, negative)]]
        } else {
            // As many promotions as it takes, or as fit, of products that the accumulator holds.
            let fit = (self.most / size).max(3) - 2;
            let parts = if is_reversed { 1 } else { self.pick(&[1, 1, 2, fit]).min(fit) };
            let most = top(self.unit.dot.rule.result);
            let Unit { activation, weight, .. } = *self.unit;
            let largest = [signed(activation, activation.largest(), negative), weight.largest()];
            let power = self.power(high, negative);
            let (powers, products) = ((power, most - high), (largest, most - self.range[1] - 1));
            let (one, room) = if products.1 >= 0 { self.pick(&[powers, products]) } else { powers };
            vec![vec![one; size.min(1 << room.clamp(0, 12))]; parts]
        };
        self.promotions(if is_reversed { [small, large] } else { [large, small] }.concat())
    }

    /// Returns promotions of the given products each.
    pub(super) fn promotions(&self, parts: Vec<Vec<[u32; 2]>>) -> Vec<[u32; 2]> {
        let size = self.unit.promotion().unwrap_or(1).saturating_mul(self.unit.lanes());
        let mut all = Vec::new();
        for part in parts {
            all.resize(all.len().next_multiple_of(size), [0; 2]);
            all.extend(part);
        }
        all.truncate(self.most);
        all
    }

    /// Returns a product of powers of two that are normal numbers, so that no alignment cuts it on its own.
    pub(super) fn normal_power(&mut self, expo: i32, negative: bool) -> [u32; 2] {
        let formats = [self.unit.activation, self.unit.weight];
        let mut codes = self.power(expo, negative);
        for _ in 0..8 {
            let mask = |at: usize| (1 << (formats[at].bits() - 1)) - 1;
            if (0..2).all(|at| codes[at] & mask(at) >= 1 << formats[at].fraction_bits()) {
                break;
            }
            codes = self.power(expo, negative);
        }
        codes
    }

    /// Returns additions beyond a promotion, if a case may have so many.
    fn promoted(&mut self, number: usize) -> Vec<[u32; 2]> {
        let Some(every) = self.unit.promotion() else { return self.beats(2) };
        let rare = (every / 8).max(1);
        if every.saturating_add(2).saturating_mul(self.unit.lanes()) > self.most
            || !(number / 16).is_multiple_of(rare)
        {
            return self.beats(2);
        }
        let further = self.pick(&[0, 1, 1, 2, every, every + 1]);
        self.beats((every + further).min(self.most / self.unit.lanes()))
    }

    fn beats(&mut self, count: usize) -> Vec<[u32; 2]> {
        let lanes = self.unit.lanes();
        let [low, high] = self.range;
        let inside = low + self.below((high - low + 1) as usize) as i32;
        let at = self.below(self.anchors.len());
        let border = self.anchors[at];
        let anchor = self.pick(&[inside, inside, border]);
        let specials = self.one_in(8);
        let every = self.unit.promotion().unwrap_or(1);
        let mut shift = 0;
        let mut all: Vec<[u32; 2]> = Vec::new();
        for beat in 0..count {
            if count <= 4 || beat % every == 0 {
                let far = self.distance();
                shift = self.pick(&[0, 0, 0, far, -far]);
            }
            let used = self.pick(&[1, 1, 2, 2, 3, 4, lanes]).min(lanes);
            let sent = if beat + 1 == count { used + self.below(lanes - used + 1) } else { lanes };
            let start = all.len();
            for _ in 0..sent {
                let zero = self.zero();
                all.push(zero);
            }
            for _ in 0..used {
                let at = start + self.below(sent);
                let before = self.below(at.max(1));
                all[at] = if self.one_in(4) && at > 0 {
                    let [a, w] = all[before];
                    [flipped(self.unit.activation, a), w]
                } else {
                    let distance = self.distance();
                    let negative = self.one_in(2);
                    self.product(anchor + shift - distance, negative)
                };
            }
            if specials && self.one_in(2) {
                let (at, side) = (start + self.below(sent), self.below(2));
                all[at][side] = self.special([self.unit.activation, self.unit.weight][side]);
            }
        }
        all
    }

    /// Returns dot products that a clear cuts off, one with a bubble, and the ones that follow.
    pub fn control(&mut self) -> Vec<FloatDot> {
        let lanes = self.unit.lanes();
        let mut dots = Vec::new();
        for round in 0..3 {
            for (class, is_cut, bubble) in
                [("clear_mid", true, None), ("after_clear", false, None), ("bubble", false, Some(1))]
            {
                // The accumulator must not be promoted where it is cut off.
                let additions = if self.unit.promotion() == Some(2) && is_cut { 1 } else { 2 };
                let count = additions * lanes + usize::from(!is_cut);
                // Normal numbers of one size, so that none vanishes.
                let formats = [self.unit.activation, self.unit.weight];
                let product = |_| {
                    let mut codes = self.plain(false);
                    codes[round % 2] = signed(formats[round % 2], codes[round % 2], class == "after_clear");
                    codes
                };
                let products: Vec<_> = (0..count).map(product).collect();
                let (group, class) = (CaseGroup::Corner, class.into());
                dots.push(FloatDot {
                    id: String::new(),
                    group,
                    class,
                    place: None,
                    blocks: self.unit.blocks_of_one(&products),
                    products,
                    bubble,
                    is_cut,
                });
            }
        }
        dots.extend(self.cut_promoted());
        dots
    }

    /// Returns dot products that are cut off after a promotion, each with one of a single addition after it.
    fn cut_promoted(&mut self) -> Vec<FloatDot> {
        let (lanes, most) = (self.unit.lanes(), self.most);
        let Some(every) = self.unit.promotion().filter(|&every| every <= most / lanes) else {
            return Vec::new();
        };
        let mut dots = Vec::new();
        for further in [0, 1] {
            let count = (every + further).min(most / lanes) * lanes;
            for (is_cut, count) in [(true, count), (false, 1)] {
                let products: Vec<_> = (0..count).map(|_| self.plain(!is_cut)).collect();
                dots.push(FloatDot {
                    id: String::new(),
                    group: CaseGroup::Corner,
                    class: "total_of_cut".into(),
                    place: None,
                    blocks: self.unit.blocks_of_one(&products),
                    products,
                    bubble: None,
                    is_cut,
                });
            }
        }
        dots
    }

    /// Returns a product of normal numbers in the middle of their formats.
    pub(super) fn plain(&mut self, negative: bool) -> [u32; 2] {
        let formats = [self.unit.activation, self.unit.weight];
        let [a, w] = formats.map(|format| self.operand(format, (format.least_exponent() + top(format)) / 2));
        [signed(formats[0], a, negative), w]
    }
}

/// Returns every product of an infinity or NaN of either sign and the largest number, the least one and zero.
pub(super) fn lone_specials(unit: &Unit) -> Vec<[u32; 2]> {
    let formats = [unit.activation, unit.weight];
    let mut all = Vec::new();
    for side in [0, 1] {
        let (own, other) = (formats[side], formats[1 - side]);
        let nans = own.nan().into_iter().flat_map(|nan| match own.specials() {
            Specials::NegativeZeroIsNan => vec![nan],
            _ => vec![nan, signed(own, nan, true)],
        });
        let infinities = [false, true].into_iter().filter_map(|negative| own.infinity(negative));
        for code in nans.chain(infinities) {
            for number in [other.largest(), 1, 0] {
                let mut codes = [number; 2];
                codes[side] = code;
                all.push(codes);
            }
        }
    }
    all
}

/// Returns a code with its sign.
pub(super) fn signed(format: FloatFormat, code: u32, negative: bool) -> u32 {
    code | u32::from(negative) << (format.bits() - 1)
}

/// Returns the code of the opposite number, zero itself in a format without negative zero.
pub(super) fn flipped(format: FloatFormat, code: u32) -> u32 {
    match format.specials() {
        Specials::NegativeZeroIsNan if format.is_zero(code) => code,
        _ => code ^ 1 << (format.bits() - 1),
    }
}
