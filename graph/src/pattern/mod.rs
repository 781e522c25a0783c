//! Patterns that describe parts of a graph.
//!
//! A [`Pattern`] describes a tensor and the node that computes it, from the output of a part (its *root*) towards its
//! inputs. [`Pattern::at`] matches it against one node and returns a [`Match`] with the named tensors. A [`Rewrite`]
//! replaces every match. It is a [`Pass`](crate::passes::Pass) and runs to a fixed point.
//!
//! | pattern | matches |
//! |---|---|
//! | [`any`](Pattern::any) | any tensor, however it is computed |
//! | [`constant`](Pattern::constant) | a constant |
//! | [`op::<T>`](Pattern::op), [`op_where`](Pattern::op_where) | the output of a node of this operation, with such attributes |
//! | [`op_named`](Pattern::op_named) | the output of a node whose operation has one of these names |
//! | [`reads`](Pattern::reads) | only if the node's operands match these patterns one by one |
//! | [`reads_in_any_order`](Pattern::reads_in_any_order) | only if the node's two operands match these patterns in either order |
//! | [`reads_only`](Pattern::reads_only) | only if every operand matches the pattern, whatever their number |
//! | [`or_absent`](Pattern::or_absent) | as an operand: also an absent optional one |
//! | [`or`](Pattern::or) | one or the other, tried in this order |
//! | [`then_maybe`](Pattern::then_maybe) | the pattern, or the output of one more node after it |
//! | [`where_type`](Pattern::where_type), [`where_tensor`](Pattern::where_tensor) | only tensors whose type, or which themselves, satisfy a test |
//! | [`named`](Pattern::named) | the pattern, stored under a name; a name that occurs twice stands for one tensor |
//!
//! Nodes inside a match, all except its root, must not be read from outside or be outputs of the network, so that the
//! match can be replaced as a whole. [`shared`](Pattern::shared) lifts this restriction for one of them.
//!
//! Quantizing tools write a group of nodes around an operation: dequantize, operation, quantize, with a quantized
//! constant and an optional activation. Its pattern is
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

/// The description of a tensor and of the node that computes it. It is cheap to clone; [the module](self) lists all
/// patterns.
#[derive(Clone)]
pub struct Pattern(Arc<Part>);

#[derive(Clone)]
struct Part {
    made: Made,
    tests: Vec<TensorTest>,
    name: Option<&'static str>,
    /// Whether nodes outside of the match may read it.
    shared: bool,
    /// Whether an absent operand matches.
    optional: bool,
}

type TensorTest = Arc<dyn Fn(&Tensor) -> bool + Send + Sync>;
type OpTest = Arc<dyn Fn(&Op) -> bool + Send + Sync>;

/// The required origin of a tensor.
#[derive(Clone)]
enum Made {
    Anyhow,
    Constant,
    ByNode { what: String, test: OpTest, reads: Reads },
    Either(Vec<Pattern>),
}

/// The required operands of a node.
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

    /// Returns the pattern of any tensor, however it is computed.
    pub fn any() -> Self {
        Self::of(Made::Anyhow)
    }

    /// Returns the pattern of a constant.
    pub fn constant() -> Self {
        Self::of(Made::Constant)
    }

    /// Returns the pattern of the output of an operation `T`, with any operands and attributes.
    pub fn op<T: OpType>() -> Self {
        Self::by_node(T::NAME.into(), |op| T::of(op).is_some())
    }

    /// Returns the pattern of the output of an operation whose attributes pass a test.
    pub fn op_where<T: OpType>(test: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Self::by_node(T::NAME.into(), move |op| T::of(op).is_some_and(&test))
    }

    /// Returns the pattern of the output of an operation that has one of these names, as used in files.
    pub fn op_named<const N: usize>(names: [&'static str; N]) -> Self {
        Self::by_node(names.join(" or "), move |op| names.contains(&op.name()))
    }

    /// Restricts the pattern to nodes with these operands, in this order. Has no effect on a pattern that is not of a
    /// node.
    ///
    /// Optional operands at the end may be left out if the node has none.
    pub fn reads<const N: usize>(self, operands: [Self; N]) -> Self {
        self.reading(Reads::Each(operands.into()))
    }

    /// Restricts the pattern to nodes with these two operands in either order, for operations such as add.
    pub fn reads_in_any_order(self, operands: [Self; 2]) -> Self {
        self.reading(Reads::InAnyOrder(operands))
    }

    /// Restricts the pattern to nodes whose operands all match `operand`. A name inside it stands for all of them:
    /// see [`Match::all`].
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

    /// Extends the pattern so that it also matches an absent operand.
    pub fn or_absent(self) -> Self {
        self.with(|part| part.optional = true)
    }

    /// Returns the pattern that matches this one or `other`. This one is tried first.
    pub fn or(self, other: Self) -> Self {
        Self::of(Made::Either(vec![self, other]))
    }

    /// Returns the pattern that `more` builds from this one, or else this pattern alone: `conv.then_maybe(|conv|
    /// relu.reads([conv]))`.
    pub fn then_maybe(self, more: impl FnOnce(Self) -> Self) -> Self {
        more(self.clone()).or(self)
    }

    /// Restricts the pattern to tensors whose type passes a test.
    pub fn where_type(self, test: impl Fn(&TensorType) -> bool + Send + Sync + 'static) -> Self {
        self.where_tensor(move |tensor| test(&tensor.ty))
    }

    /// Restricts the pattern to tensors that pass a test. A constant has its codes.
    pub fn where_tensor(self, test: impl Fn(&Tensor) -> bool + Send + Sync + 'static) -> Self {
        self.with(|part| part.tests.push(Arc::new(test)))
    }

    /// Gives the tensor a name in the [`Match`]. A name that occurs twice in a pattern stands for one tensor, which
    /// joins branches.
    pub fn named(self, name: &'static str) -> Self {
        self.with(|part| part.name = Some(name))
    }

    /// Extends the pattern to a node that others read, too. The node stays in the graph when the match is replaced.
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
