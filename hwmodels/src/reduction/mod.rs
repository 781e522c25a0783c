//! How a run of values becomes one: the kinds of accumulation levels.
//!
//! One file per kind. To add one: write its file and the module that it names (`rtl-vectors/rtl`), add its line to
//! `reductions!`. All that differs between kinds follows from there: what the reference engine does step by step, bounds
//! of what registers see, ports, coverage and area, the files of bundles, documents. The fast engine leaves the kinds that
//! it does not know to the reference.

use std::fmt;
use std::str::FromStr;

use crate::bounds::Range;
use crate::names::Named;

/// Registers the kinds: variant and file. Their order is that of the codes in the RTL.
macro_rules! reductions {
    ($($(#[$doc:meta])* $variant:ident = $file:ident;)*) => {
        $(mod $file;)*

        /// How a run of values becomes one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reduce {
            $($(#[$doc])* $variant,)*
        }

        impl Reduce {
            /// Every kind.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            fn kind(self) -> &'static Kind {
                match self { $(Self::$variant => &$file::KIND,)* }
            }

            /// A run before its first value.
            pub fn start<V, R>(self) -> Run<V, R> {
                match self { $(Self::$variant => Run::$variant($file::Run::default()),)* }
            }

            /// What registers see in a run of `values`, or of fewer of them.
            ///
            /// `whole` is what a value is that no product is missing of, `start` what the run begins with, and
            /// `register` what becomes of exact results in a range.
            pub fn reach(self, values: &[Range], whole: Range, start: Range, register: &impl Limits) -> RunReach {
                match self { $(Self::$variant => $file::reach(values, whole, start, register),)* }
            }
        }

        /// A run under way, of values `V` and registers `R`.
        #[derive(Debug, Clone)]
        pub enum Run<V, R> {
            $($(#[$doc])* $variant($file::Run<V, R>),)*
        }

        impl<V: Copy, R> Run<V, R> {
            /// The next value.
            pub fn push(&mut self, value: V, adders: &mut impl Adders<Value = V, Register = R>) {
                match self { $(Self::$variant(run) => run.push(value, adders),)* }
            }

            /// The end of the run: its result.
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

/// All that a kind is, beside its steps and their reach.
struct Kind {
    /// The name used in files.
    name: &'static str,
    /// What it does, in words for documents.
    meaning: &'static str,
    /// Whether all values of a run arrive together. Then no register is kept between them: a run starts from its first
    /// value, which alone is no addition.
    at_once: bool,
    /// How values are paired, where they are.
    pairing: Option<&'static str>,
    /// Its module in the reference RTL, with the parameters and ports of `gb_reduce`.
    module: Module,
    /// Whether `gb_mac.vhd` has it.
    in_vhdl: bool,
}

/// A module of the reference RTL.
#[derive(Debug, Clone, Copy)]
struct Module {
    name: &'static str,
    file: &'static str,
    text: &'static str,
}

/// A [`Module`] by its name, which is that of its file.
macro_rules! module {
    ($name:literal) => {
        $crate::reduction::Module {
            name: $name,
            file: concat!($name, ".sv"),
            text: include_str!(concat!("../../../rtl-vectors/rtl/", $name, ".sv")),
        }
    };
}
use module;

/// What a level is built from.
pub trait Adders {
    /// What is added.
    type Value: Copy;
    /// An adder with its register.
    type Register;

    /// A register at the start of a run.
    fn load(&mut self) -> Self::Register;
    /// Adds `value` to a register.
    fn add(&mut self, register: &mut Self::Register, value: Self::Value);
    /// What a register holds.
    fn held(&self, register: &Self::Register) -> Self::Value;
    /// An adder of two values, `right` the later one.
    fn node(&mut self, left: Self::Value, right: Self::Value) -> Self::Value;
    /// The result of a run of no values.
    fn nothing(&self) -> Self::Value;
}

/// The register of a level, as a function of ranges.
pub trait Limits {
    /// What it holds of exact results in `range`.
    fn fitted(&self, range: Range) -> Range;
    /// Whether some of them do not fit.
    fn misfit(&self, range: Range) -> bool;
}

/// Bounds over all runs of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunReach {
    /// Exact results that are compared with the rails.
    pub result: Range,
    /// Results of runs.
    pub out: Range,
    /// Results of runs that no value is missing of.
    pub whole: Range,
    /// Whether a value can be added after an addition that can overflow.
    pub goes_on: bool,
}

impl Reduce {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    /// The number used for it in the RTL.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Whether all values of a run arrive together. Then no register is kept between them: a run starts from its first
    /// value, which alone is no addition, and the level shows what it hands over.
    pub fn takes_run_at_once(self) -> bool {
        self.kind().at_once
    }

    /// Additions of a run of `values`.
    pub fn additions(self, values: usize) -> usize {
        if self.takes_run_at_once() { values.saturating_sub(1) } else { values }
    }

    /// How values are paired, where they are.
    pub fn pairing(self) -> Option<&'static str> {
        self.kind().pairing
    }

    /// What it does, in words for documents.
    pub fn meaning(self) -> &'static str {
        self.kind().meaning
    }

    /// Its module in the reference RTL.
    pub fn module(self) -> &'static str {
        self.kind().module.name
    }

    /// The file of that module: name and text.
    pub fn source(self) -> (&'static str, &'static str) {
        let Module { file, text, .. } = self.kind().module;
        (file, text)
    }

    /// Whether the VHDL of the reference RTL has it.
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

/// A name that is no kind of level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown reduction `{0}`; there are {kinds}", kinds = Reduce::ALL.map(Reduce::name).join(", "))]
pub struct UnknownReduce(String);
