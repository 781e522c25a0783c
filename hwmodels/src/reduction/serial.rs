//! One accumulator, one value after the other, from 0 or the preloaded bias.

use super::{Adders, Kind, Limits, RunReach};
use crate::bounds::Range;

pub(super) const KIND: Kind = Kind {
    name: "serial",
    meaning: "`s <- fit(s + v)`, starting from 0 or from the preloaded bias. Each addition is checked, \
              including the first.",
    at_once: false,
    pairing: None,
    module: "gb_level",
    in_vhdl: true,
};

/// Run in progress.
#[derive(Debug, Clone)]
pub struct Run<V, R> {
    /// Register, from its first value on.
    register: Option<R>,
    values: std::marker::PhantomData<V>,
}

impl<V, R> Default for Run<V, R> {
    fn default() -> Self {
        Self { register: None, values: std::marker::PhantomData }
    }
}

impl<V: Copy, R> Run<V, R> {
    pub(super) fn push(&mut self, value: V, adders: &mut impl Adders<Value = V, Register = R>) {
        let register = self.register.get_or_insert_with(|| adders.load());
        adders.add(register, value);
    }

    pub(super) fn finish(self, adders: &mut impl Adders<Value = V, Register = R>) -> V {
        let register = self.register.unwrap_or_else(|| adders.load());
        adders.held(&register)
    }
}

pub(super) fn reach(values: &[Range], whole: Range, start: Range, register: &impl Limits) -> RunReach {
    let mut result = start.hull(Range::ZERO);
    let mut held = register.fitted(result);
    let mut out = held;
    let mut goes_on = register.misfit(result) && !values.is_empty();
    for (index, &value) in values.iter().enumerate() {
        let last = held.plus(value);
        result = result.hull(last);
        out = out.hull(register.fitted(last));
        if index + 1 < values.len() {
            let sum = held.plus(whole);
            goes_on |= register.misfit(sum);
            held = held.hull(register.fitted(sum));
        }
    }
    RunReach { result, out, whole: out, goes_on }
}
