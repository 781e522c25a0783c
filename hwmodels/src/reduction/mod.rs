//! Kinds of accumulation levels, which reduce a run of values to one.
//!
//! There is one file per kind. To add a kind, write its file and the module that it names
//! (`rtl-vectors/rtl`), its `mod` line, its line in `reductions!` and the module's file in `LEVELS` in
//! `rtl-vectors/src/hdl`. All differences between kinds follow from there:
//! the steps of the reference engine, bounds of register values, ports, coverage and area, files of bundles,
//! and documents. The fast engine leaves kinds that it does not support to the reference engine.

mod serial;
mod tree;

use std::fmt;
use std::str::FromStr;

use crate::bounds::Range;
use crate::names::Named;

/// Registers the kinds: variant and file. Their order is that of the codes in the RTL.
macro_rules! reductions {
    ($($(#[$doc:meta])* $variant:ident = $file:ident;)*) => {
        /// Kind of reduction of a run of values to one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reduce {
            $($(#[$doc])* $variant,)*
        }

        impl Reduce {
            /// All kinds.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            fn kind(self) -> &'static Kind {
                match self { $(Self::$variant => &$file::KIND,)* }
            }

            /// Returns a run before its first value.
            pub fn start<V, R>(self) -> Run<V, R> {
                match self { $(Self::$variant => Run::$variant($file::Run::default()),)* }
            }

            /// Returns bounds of the values at registers in a run of `values`, or of fewer of them.
            ///
            /// `whole` is the range of a value that includes all of its products, `start` that of the run's
            /// initial value. `register` maps ranges of exact results to what the register holds.
            pub fn reach(self, values: &[Range], whole: Range, start: Range, register: &impl Limits) -> RunReach {
                match self { $(Self::$variant => $file::reach(values, whole, start, register),)* }
            }
        }

        /// Run in progress, of values `V` and registers `R`.
        #[derive(Debug, Clone)]
        pub enum Run<V, R> {
            $($(#[$doc])* $variant($file::Run<V, R>),)*
        }

        impl<V: Copy, R> Run<V, R> {
            /// Adds the next value.
            pub fn push(&mut self, value: V, adders: &mut impl Adders<Value = V, Register = R>) {
                match self { $(Self::$variant(run) => run.push(value, adders),)* }
            }

            /// Ends the run and returns its result.
            pub fn finish(self, adders: &mut impl Adders<Value = V, Register = R>) -> V {
                match self { $(Self::$variant(run) => run.finish(adders),)* }
            }
        }
    };
}

reductions! {
    /// One accumulator, one value after the other, from 0.
    Serial = serial;
    /// Adjacent pairs, round after round; an odd last value passes up unchanged.
    Tree = tree;
}

/// Properties of a kind, apart from its steps and their reach.
struct Kind {
    /// Name in files.
    name: &'static str,
    /// Description for documents.
    meaning: &'static str,
    /// Whether all values of a run arrive together. Then no register is kept between them: a run starts with
    /// its first value, and a single value needs no addition.
    at_once: bool,
    /// Pairing of the values, if they are paired.
    pairing: Option<&'static str>,
    /// Name of its module in the reference RTL, which has the parameters and ports of `gb_reduce`.
    module: &'static str,
    /// Whether `gb_mac.vhd` supports it.
    in_vhdl: bool,
}

/// Adders of a level.
pub trait Adders {
    /// Type of the values that are added.
    type Value: Copy;
    /// Adder with its register.
    type Register;

    /// Returns a register at the start of a run.
    fn load(&mut self) -> Self::Register;
    /// Adds `value` to a register.
    fn add(&mut self, register: &mut Self::Register, value: Self::Value);
    /// Returns the value of a register.
    fn held(&self, register: &Self::Register) -> Self::Value;
    /// Returns the sum of two values in an adder without register; `right` is the later one.
    fn node(&mut self, left: Self::Value, right: Self::Value) -> Self::Value;
    /// Returns the result of a run without values.
    fn nothing(&self) -> Self::Value;
}

/// Register of a level, as a function of ranges.
pub trait Limits {
    /// Returns the range of the register's values for exact results in `range`.
    fn fitted(&self, range: Range) -> Range;
    /// Returns whether some of them do not fit.
    fn misfit(&self, range: Range) -> bool;
}

/// Bounds over all runs of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunReach {
    /// Range of exact results that are compared with the rails.
    pub result: Range,
    /// Range of the results of runs.
    pub out: Range,
    /// Range of the results of complete runs.
    pub whole: Range,
    /// Whether a value can be added after an addition that can overflow.
    pub goes_on: bool,
}

impl Reduce {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    /// Returns its number in the RTL.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns whether all values of a run arrive together. Then no register is kept between them: a run
    /// starts with its first value, a single value needs no addition, and the level shows the value that it
    /// hands over.
    pub fn takes_run_at_once(self) -> bool {
        self.kind().at_once
    }

    /// Returns the number of additions of a run of `values`.
    pub fn additions(self, values: usize) -> usize {
        if self.takes_run_at_once() { values.saturating_sub(1) } else { values }
    }

    /// Returns how values are paired, if they are.
    pub fn pairing(self) -> Option<&'static str> {
        self.kind().pairing
    }

    /// Returns a description for documents.
    pub fn meaning(self) -> &'static str {
        self.kind().meaning
    }

    /// Returns the name of its module in the reference RTL.
    pub fn module(self) -> &'static str {
        self.kind().module
    }

    /// Returns whether the VHDL of the reference RTL supports it.
    pub fn is_in_vhdl(self) -> bool {
        self.kind().in_vhdl
    }
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reduce {
    type Err = UnknownReduce;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownReduce(name.into()))
    }
}

impl Named for Reduce {
    const WHAT: &'static str = "reduction";

    fn all() -> Vec<(&'static str, Self)> {
        Self::ALL.into_iter().map(|kind| (kind.name(), kind)).collect()
    }
}

/// Error: a name is not a kind of level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown reduction `{0}`; expected one of {kinds}", kinds = Reduce::ALL.map(Reduce::name).join(", "))]
pub struct UnknownReduce(String);
