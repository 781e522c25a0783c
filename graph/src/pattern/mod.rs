//! Patterns: parts of a graph as they are looked for.
//!
//! A [`Pattern`] says what a tensor has to be and how it has to be made, from the output of the part that is looked for
//! (its *root*) towards what it reads. [`Pattern::at`] matches it against one node and gives a [`Match`] with the tensors
//! that were given names. A [`Rewrite`] puts something else in the place of every match: it is a
//! [`Pass`](crate::passes::Pass) by itself, run to a fixed point.
//!
//! | pattern | matches |
//! |---|---|
//! | [`any`](Pattern::any) | any tensor, however it is made |
//! | [`constant`](Pattern::constant) | a constant |
//! | [`op::<T>`](Pattern::op), [`op_where`](Pattern::op_where) | what a node of that operation makes, with such attributes |
//! | [`op_named`](Pattern::op_named) | what a node makes whose operation has one of these names |
//! | [`reads`](Pattern::reads) | only where the node's operands match these patterns, one for one |
//! | [`reads_in_any_order`](Pattern::reads_in_any_order) | the same for two operands in either order |
//! | [`reads_only`](Pattern::reads_only) | only where every operand matches the pattern, however many there are |
//! | [`or_absent`](Pattern::or_absent) | as an operand: an optional one that is not there too |
//! | [`or`](Pattern::or) | one or the other, tried in that order |
//! | [`then_maybe`](Pattern::then_maybe) | the pattern, or what one more node makes of it |
//! | [`where_type`](Pattern::where_type), [`where_tensor`](Pattern::where_tensor) | only tensors of such a type, or of which something else holds |
//! | [`named`](Pattern::named) | the same, remembered under a name; twice the same name is the same tensor |
//!
//! Nodes inside a match, all but its root, may be read by nothing outside of it and be no output of the network, so that
//! the match can be replaced as a whole; [`shared`](Pattern::shared) lifts that for one of them.
//!
//! The group that quantizing tools write around an operation, dequantize, operation, quantize, with a constant that is
//! quantized too and an activation that may be there, is
//!
//! ```
//! use guardbit_graph::{DType, pattern::Pattern};
//!
//! let codes = |name| Pattern::any().where_type(|ty| ty.dtype.bits() <= 16).named(name);
//! let real = |name| Pattern::op_named(["dequantize"]).reads([codes(name)]).shared();
//! let bias = Pattern::constant().named("b").or_absent();
//! let group = Pattern::op_named(["conv2d"])
//!     .reads([real("x"), real("w"), bias])
//!     .named("conv")
//!     .then_maybe(|conv| Pattern::op_named(["relu"]).reads([conv]).named("relu"));
//! let pattern = Pattern::op_named(["quantize"]).reads([group]);
//! # let _ = pattern;
//! ```

mod fused;
mod matching;
mod rewrite;

use std::fmt;
use std::sync::Arc;

use crate::ops::OpType;
use crate::{Op, Tensor, TensorType};

pub use fused::{Expand, FusedOp};
pub use matching::Match;
pub use rewrite::Rewrite;

/// What a tensor has to be, and how it has to be made. Cheap to clone; [the module](self) lists what there is.
#[derive(Clone)]
pub struct Pattern(Arc<Part>);

#[derive(Clone)]
struct Part {
    made: Made,
    tests: Vec<TensorTest>,
    name: Option<&'static str>,
    /// Whether others may read it too.
    shared: bool,
    /// Whether an operand that is not there matches.
    optional: bool,
}

type TensorTest = Arc<dyn Fn(&Tensor) -> bool + Send + Sync>;
type OpTest = Arc<dyn Fn(&Op) -> bool + Send + Sync>;

/// How a tensor has to be made.
#[derive(Clone)]
enum Made {
    Anyhow,
    Constant,
    ByNode { what: String, test: OpTest, reads: Reads },
    Either(Vec<Pattern>),
}

/// What a node has to read.
#[derive(Clone)]
enum Reads {
    Anything,
    Each(Vec<Pattern>),
    InAnyOrder([Pattern; 2]),
    Only(Pattern),
}

impl Pattern {
    fn of(made: Made) -> Self {
        Self(Arc::new(Part { made, tests: Vec::new(), name: None, shared: false, optional: false }))
    }

    fn with(mut self, change: impl FnOnce(&mut Part)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    fn by_node(what: String, test: impl Fn(&Op) -> bool + Send + Sync + 'static) -> Self {
        Self::of(Made::ByNode { what, test: Arc::new(test), reads: Reads::Anything })
    }

    /// Any tensor, however it is made.
    pub fn any() -> Self {
        Self::of(Made::Anyhow)
    }

    /// A constant.
    pub fn constant() -> Self {
        Self::of(Made::Constant)
    }

    /// What an operation `T` makes, whatever it reads and whatever its attributes.
    pub fn op<T: OpType>() -> Self {
        Self::by_node(T::NAME.into(), |op| T::of(op).is_some())
    }

    /// What an operation makes whose attributes pass a test.
    pub fn op_where<T: OpType>(test: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Self::by_node(T::NAME.into(), move |op| T::of(op).is_some_and(&test))
    }

    /// What an operation makes whose name, as files have it, is one of these.
    pub fn op_named<const N: usize>(names: [&'static str; N]) -> Self {
        Self::by_node(names.join(" or "), move |op| names.contains(&op.name()))
    }

    /// The same, made of these operands in their order. Optional operands at the end may be left out here where the node
    /// has none. It says nothing about a pattern that is not of a node.
    pub fn reads<const N: usize>(self, operands: [Self; N]) -> Self {
        self.reading(Reads::Each(operands.into()))
    }

    /// The same, made of these two operands in either order: for operations such as add.
    pub fn reads_in_any_order(self, operands: [Self; 2]) -> Self {
        self.reading(Reads::InAnyOrder(operands))
    }

    /// The same, every operand of which matches `operand`. A name inside of it stands for all of them: see
    /// [`Match::all`].
    pub fn reads_only(self, operand: Self) -> Self {
        self.reading(Reads::Only(operand))
    }

    fn reading(self, wanted: Reads) -> Self {
        self.with(|part| {
            if let Made::ByNode { reads, .. } = &mut part.made {
                *reads = wanted;
            }
        })
    }

    /// The same, and as an operand one that is not there.
    pub fn or_absent(self) -> Self {
        self.with(|part| part.optional = true)
    }

    /// This pattern or another one; this one is tried first.
    pub fn or(self, other: Self) -> Self {
        Self::of(Made::Either(vec![self, other]))
    }

    /// What `more` makes of this pattern, or else this pattern alone: `conv.then_maybe(|conv| relu.reads([conv]))`.
    pub fn then_maybe(self, more: impl FnOnce(Self) -> Self) -> Self {
        more(self.clone()).or(self)
    }

    /// The same where the type of the tensor passes a test.
    pub fn where_type(self, test: impl Fn(&TensorType) -> bool + Send + Sync + 'static) -> Self {
        self.where_tensor(move |tensor| test(&tensor.ty))
    }

    /// The same where the tensor, with its codes if it is a constant, passes a test.
    pub fn where_tensor(self, test: impl Fn(&Tensor) -> bool + Send + Sync + 'static) -> Self {
        self.with(|part| part.tests.push(Arc::new(test)))
    }

    /// The same, remembered under a name in the [`Match`]. A name that stands twice in a pattern stands for one tensor:
    /// so are branches joined.
    pub fn named(self, name: &'static str) -> Self {
        self.with(|part| part.name = Some(name))
    }

    /// The same, also where others read it: its node stays in the graph when the match is replaced.
    pub fn shared(self) -> Self {
        self.with(|part| part.shared = true)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, patterns: &[Self], between: &str| {
            patterns.iter().enumerate().try_for_each(|(index, pattern)| {
                f.write_str(if index == 0 { "" } else { between })?;
                pattern.fmt(f)
            })
        };
        if let Some(name) = self.0.name {
            write!(f, "{name}: ")?;
        }
        match &self.0.made {
            Made::Anyhow => f.write_str("any")?,
            Made::Constant => f.write_str("constant")?,
            Made::Either(patterns) => list(f, patterns, " or ")?,
            Made::ByNode { what, reads, .. } => {
                f.write_str(what)?;
                match reads {
                    Reads::Anything => {}
                    Reads::Each(patterns) => {
                        f.write_str("(")?;
                        list(f, patterns, ", ")?;
                        f.write_str(")")?;
                    }
                    Reads::InAnyOrder(patterns) => {
                        f.write_str("{")?;
                        list(f, patterns, ", ")?;
                        f.write_str("}")?;
                    }
                    Reads::Only(pattern) => write!(f, "({pattern:?}...)")?,
                }
            }
        }
        f.write_str(if self.0.optional { "?" } else { "" })
    }
}
