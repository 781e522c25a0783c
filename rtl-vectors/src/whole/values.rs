//! Expected values of every output of a layer, from the reference engine.

use guardbit_hwmodels::MacLayer;
use guardbit_num::{Direction, Overflow};
use guardbit_sim::Reads;
use guardbit_sim::trace::{StepKind, operands, trace_observed};

use crate::arithmetic::one_channel;
use crate::manifest::Arithmetic;

/// Expected values of a layer, in the order of its output tensor.
pub(super) struct Values {
    pub sums: Vec<i64>,
    pub codes: Vec<i32>,
    /// Overflows of a dot product, one bit each.
    pub overflow: Vec<i64>,
    /// Register of the last level after some products, per entry of `ends` and output; `None` if a sum of products is in
    /// another register then.
    pub partial: Vec<Option<Vec<i64>>>,
}

/// Returns the number of bits of a word of [`Values::overflow`].
pub(super) fn overflow_bits(arithmetic: &Arithmetic) -> u32 {
    2 * arithmetic.levels.len() as u32 + 2
}

/// Runs every dot product of `layer`. `ends` holds, ascending, the numbers of products after which the register of the last
/// level is asked for.
pub(super) fn values(
    layer: &MacLayer,
    reads: Reads<'_, [i32]>,
    arithmetic: &Arithmetic,
    ends: &[usize],
) -> Values {
    let window = &layer.dots.window;
    let channels: Vec<MacLayer> =
        (0..window.channels()).map(|channel| one_channel(layer, channel, None)).collect();
    let (last, info) = (arithmetic.levels.len() - 1, &arithmetic.levels[arithmetic.levels.len() - 1]);
    let is_sticky = info.register.overflow == Some(Overflow::Sticky);
    let dots = window.dots();
    let mut all = Values {
        sums: Vec::with_capacity(dots),
        codes: Vec::with_capacity(dots),
        overflow: Vec::with_capacity(dots),
        partial: vec![Some(Vec::with_capacity(dots)); ends.len()],
    };
    for index in 0..dots {
        let out = window.output_position(index);
        let operands = operands(layer, reads, out);
        let (mut flags, mut stuck, mut run) = (0, false, None);
        let mut here = vec![None; ends.len()];
        let trace = trace_observed(&channels[out.c], 0, &operands, &mut |step| {
            flags |= match step.overflow {
                Some(Direction::High) => 1 << (2 * step.level),
                Some(Direction::Low) => 2 << (2 * step.level),
                None => 0,
            };
            if step.level != last {
                return;
            }
            if run.replace(step.run) != Some(step.run) {
                stuck = false;
            }
            stuck |= is_sticky && step.overflow.is_some();
            if let (StepKind::Add, Ok(end)) = (step.kind, ends.binary_search(&(step.last_k + 1))) {
                let value = step.value as u64 & (u64::MAX >> (64 - info.acc_bits));
                here[end] = Some((u64::from(stuck) << info.acc_bits | value) as i64);
            }
        });
        let others = 2 * arithmetic.levels.len();
        flags |=
            i64::from(trace.product_events > 0) << others | i64::from(trace.bias_events > 0) << (others + 1);
        all.sums.push(trace.delivered as i64);
        all.codes.push(trace.code);
        all.overflow.push(flags);
        for (partial, here) in all.partial.iter_mut().zip(here) {
            match (partial.as_mut(), here) {
                (Some(partial), Some(here)) => partial.push(here),
                _ => *partial = None,
            }
        }
    }
    all
}
