//! Conditions that exclude points of a sweep: a small grammar over axes and values.
//!
//! ```text
//! condition  = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" condition ")" | operand comparison operand
//! comparison = "==" | "!=" | "<" | "<=" | ">" | ">="
//! operand    = an axis, a number, a word, 'text', "text", a list in brackets, or `axis`
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use super::{Axis, AxisError, may_be_path};

/// Maximum nesting of parentheses and `not` around a comparison.
const DEPTH: usize = 64;
/// Maximum number of values and axes that a message lists.
const LISTED: usize = 8;

/// Condition on points: comparisons of axes and values, joined by `and`, `or`, `not` and parentheses.
///
/// Numbers are compared numerically. A value that is not a number can only equal another value or differ from
/// it; it is neither less nor greater.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    text: String,
    root: Expression,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expression {
    Compare(Operand, Comparison, Operand),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

/// Operators of other languages, and their equivalents here.
const FOREIGN: [(&str, &str); 7] =
    [("=", "=="), ("===", "=="), ("<>", "!="), ("=<", "<="), ("=>", ">="), ("&&", "and"), ("||", "or")];

impl Comparison {
    fn name(self) -> &'static str {
        COMPARISONS.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }

    fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Unequal => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// Operand: one side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Operand {
    text: String,
    kind: Kind,
    /// Position in the condition, in bytes.
    at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Axis or value.
    Word,
    /// Axis, written in backquotes.
    Name,
    /// Value, written in quotes or brackets.
    Text,
}

/// Value in the form in which it is compared.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Integer(i128),
    Real(f64),
    /// Any other value, without white space, so that lists compare equal regardless of spacing.
    Text(String),
}

impl Value {
    fn of(text: &str) -> Self {
        if let Ok(integer) = text.parse() {
            return Self::Integer(integer);
        }
        let real = text.parse::<f64>().ok().filter(|number| number.is_finite());
        real.map_or_else(|| Self::Text(text.split_whitespace().collect()), Self::Real)
    }

    fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Real(b)) => (*a as f64).partial_cmp(b),
            (Self::Real(a), Self::Integer(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(b),
            (a, b) => (a == b).then_some(Ordering::Equal),
        }
    }
}

impl Condition {
    /// Returns whether the condition holds if axis `i` of `axes` has the value `values[i]`.
    pub(super) fn holds(&self, axes: &[Axis], values: &[&str]) -> bool {
        self.root.holds(&|operand: &Operand| operand.axis(axes).map(|at| (&axes[at], values[at])))
    }

    /// Fails unless every comparison compares an axis with another axis, or with a value that it can have.
    pub(super) fn check(&self, axes: &[Axis]) -> Result<(), AxisError> {
        self.root.check(axes).map_err(|(at, problem)| self.wrong(at, problem))
    }

    fn wrong(&self, at: Range<usize>, problem: String) -> AxisError {
        AxisError::Where { condition: self.text.clone(), at, problem }
    }
}

/// Position and description of a problem.
type Fault = (Range<usize>, String);

impl Expression {
    fn holds<'a>(&self, of: &impl Fn(&Operand) -> Option<(&'a Axis, &'a str)>) -> bool {
        match self {
            Self::Not(one) => !one.holds(of),
            Self::All(all) => all.iter().all(|one| one.holds(of)),
            Self::Any(any) => any.iter().any(|one| one.holds(of)),
            Self::Compare(left, comparison, right) => {
                let order = match (of(left), of(right)) {
                    (Some((_, left)), Some((_, right))) => Value::of(left).order(&Value::of(right)),
                    (Some((axis, value)), None) => right.beside(axis, value),
                    (None, Some((axis, value))) => left.beside(axis, value).map(Ordering::reverse),
                    (None, None) => None,
                };
                comparison.holds(order)
            }
        }
    }

    fn check(&self, axes: &[Axis]) -> Result<(), Fault> {
        let (left, comparison, right) = match self {
            Self::Not(one) => return one.check(axes),
            Self::All(all) | Self::Any(all) => return all.iter().try_for_each(|one| one.check(axes)),
            Self::Compare(left, comparison, right) => (left, *comparison, right),
        };
        for operand in [left, right] {
            if operand.kind == Kind::Name && operand.axis(axes).is_none() {
                return Err((
                    operand.at.clone(),
                    format!("`{}` is not an axis: {}", operand.text, names(axes)),
                ));
            }
        }
        match (left.axis(axes), right.axis(axes)) {
            (None, None) => {
                let at = left.at.start..right.at.end;
                Err((at, format!("neither side is an axis: {}", names(axes))))
            }
            (Some(own), None) => right.check_value(&axes[own], comparison, axes),
            (None, Some(own)) => left.check_value(&axes[own], comparison, axes),
            (Some(one), Some(other)) => {
                let both = [(left, &axes[one]), (right, &axes[other])];
                if comparison.is_order() {
                    let wordy = both.iter().find(|(_, axis)| !has_numbers(axis));
                    return wordy.map_or(Ok(()), |(operand, axis)| Err(no_order(operand, axis, comparison)));
                }
                let apart = both.map(|(_, axis)| (has_numbers(axis), has_words(axis)));
                match apart {
                    [(true, false), (false, true)] | [(false, true), (true, false)] => Err((
                        left.at.start..right.at.end,
                        "one of these axes has numbers and the other has not, so they are never equal".into(),
                    )),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Operand {
    /// Returns the index of the axis that the operand names.
    fn axis(&self, axes: &[Axis]) -> Option<usize> {
        let named = matches!(self.kind, Kind::Word | Kind::Name);
        let key = super::full_key(self.text.clone());
        axes.iter().position(|axis| named && axis.key() == key)
    }

    /// Compares a value of an axis with this value. Files are equal if one path ends with the other.
    fn beside(&self, axis: &Axis, value: &str) -> Option<Ordering> {
        let is_file = may_be_path(axis.key());
        if is_file && Path::new(value).ends_with(&self.text) {
            return Some(Ordering::Equal);
        }
        Value::of(value).order(&Value::of(&self.text))
    }

    /// Fails unless the operand can be compared with the values of an axis.
    fn check_value(&self, axis: &Axis, comparison: Comparison, axes: &[Axis]) -> Result<(), Fault> {
        let (text, key) = (&self.text, axis.key());
        if Value::of(text).is_number() {
            let wrong = || format!("`{text}` is a number; {}", values(axis));
            return if has_numbers(axis) { Ok(()) } else { Err((self.at.clone(), wrong())) };
        }
        let problem = match () {
            () if comparison.is_order() && !has_numbers(axis) => {
                return Err(no_order(self, axis, comparison));
            }
            () if comparison.is_order() => {
                format!(
                    "`{}` compares numbers, and `{text}` is not a number and not an axis",
                    comparison.name()
                )
            }
            () if axis.values().iter().any(|value| self.beside(axis, value) == Some(Ordering::Equal)) => {
                return Ok(());
            }
            () => format!("`{text}` is not a value of `{key}` and not an axis; {}", values(axis)),
        };
        Err((self.at.clone(), format!("{problem}; {}", names(axes))))
    }
}

fn has_numbers(axis: &Axis) -> bool {
    axis.values().iter().any(|value| Value::of(value).is_number())
}

fn has_words(axis: &Axis) -> bool {
    axis.values().iter().any(|value| !Value::of(value).is_number())
}

fn no_order(operand: &Operand, axis: &Axis, comparison: Comparison) -> Fault {
    let problem = format!("`{}` compares numbers; {}: use == or !=", comparison.name(), values(axis));
    (operand.at.clone(), problem)
}

fn names(axes: &[Axis]) -> String {
    format!("the axes are {}", some(axes.iter().map(Axis::key)))
}

fn values(axis: &Axis) -> String {
    format!("the values of `{}` are {}", axis.key(), some(axis.values().iter().map(String::as_str)))
}

/// Returns the first items of a list as text.
fn some<'a>(items: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = items.len().saturating_sub(LISTED);
    let shown = items.take(LISTED).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

impl FromStr for Condition {
    type Err = AxisError;

    fn from_str(text: &str) -> Result<Self, AxisError> {
        let parsed = tokens(text).and_then(|tokens| {
            let mut parser = Parser { tokens: &tokens, end: text.len() };
            let root = parser.any(0)?;
            parser.end()?;
            Ok(root)
        });
        let wrong = |(at, problem)| AxisError::Where { condition: text.into(), at, problem };
        Ok(Self { text: text.into(), root: parsed.map_err(wrong)? })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Compare(Comparison),
    Operand(Operand),
}

/// Returns the tokens of a condition with their positions.
fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, at, first)?;
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

/// Returns the token that starts at `at` with the character `first`, and its length in bytes.
fn token(text: &str, at: usize, first: char) -> Result<(Token, usize), Fault> {
    let rest = &text[at..];
    let run = |ends: fn(char) -> bool| rest.find(ends).unwrap_or(rest.len());
    let operand = |text: &str, kind, length: usize| {
        (Token::Operand(Operand { text: text.into(), kind, at: at..at + length }), length)
    };
    Ok(match first {
        '(' => (Token::Open, 1),
        ')' => (Token::Close, 1),
        '\'' | '"' | '`' => {
            let inside = &rest[1..];
            let end = inside.find(first).ok_or_else(|| (at..text.len(), format!("unclosed `{first}`")))?;
            let kind = if first == '`' { Kind::Name } else { Kind::Text };
            operand(&inside[..end], kind, end + 2)
        }
        '[' | '{' => {
            let length = list(rest).ok_or_else(|| (at..text.len(), format!("unclosed `{first}`")))?;
            operand(&rest[..length], Kind::Text, length)
        }
        _ if is_sign(first) => {
            let length = run(|c| !is_sign(c));
            (Token::Compare(comparison(&rest[..length], at)?), length)
        }
        _ => {
            let length = run(|c| c.is_whitespace() || is_sign(c) || "()'\"`".contains(c));
            match &rest[..length] {
                "and" => (Token::And, length),
                "or" => (Token::Or, length),
                "not" => (Token::Not, length),
                word => operand(word, Kind::Word, length),
            }
        }
    })
}

fn is_sign(c: char) -> bool {
    "=!<>&|".contains(c)
}

fn comparison(sign: &str, at: usize) -> Result<Comparison, Fault> {
    if let Some(&(_, comparison)) = COMPARISONS.iter().find(|(name, _)| *name == sign) {
        return Ok(comparison);
    }
    let here = FOREIGN.iter().find(|(foreign, _)| *foreign == sign).map(|(_, here)| *here);
    let write = match (here, sign) {
        (Some(here), _) => format!("write {here}"),
        (None, "!") => "write not".into(),
        (None, _) => "use ==, !=, <, <=, > or >=".into(),
    };
    Err((at..at + sign.len(), format!("`{sign}` is not an operator: {write}")))
}

/// Returns the length of a bracketed list at the start of a text, if it is closed.
fn list(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + character.len_utf8());
        }
    }
    None
}

/// Parser over the remaining tokens.
struct Parser<'a> {
    tokens: &'a [(Token, Range<usize>)],
    /// End position of the text.
    end: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.first().map(|(token, _)| token)
    }

    /// Consumes a token if it is the next one.
    fn takes(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    /// Returns an error about the next token.
    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let at = self.tokens.first().map_or(self.end..self.end, |(_, at)| at.clone());
        Err((at, format!("expected {what} here")))
    }

    fn any(&mut self, depth: usize) -> Result<Expression, Fault> {
        let first = self.all(depth)?;
        let mut any = vec![first];
        while self.takes(&Token::Or) {
            any.push(self.all(depth)?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Expression::Any(any) })
    }

    fn all(&mut self, depth: usize) -> Result<Expression, Fault> {
        let first = self.one(depth)?;
        let mut all = vec![first];
        while self.takes(&Token::And) {
            all.push(self.one(depth)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expression::All(all) })
    }

    fn one(&mut self, depth: usize) -> Result<Expression, Fault> {
        if depth > DEPTH {
            let at = self.tokens.first().map_or(self.end..self.end, |(_, at)| at.clone());
            return Err((at, format!("more than {DEPTH} parentheses and `not` around a comparison")));
        }
        if self.takes(&Token::Not) {
            return Ok(Expression::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes(&Token::Open) {
            let inside = self.any(depth + 1)?;
            return if self.takes(&Token::Close) { Ok(inside) } else { self.expected("`)`, `and` or `or`") };
        }
        let left = self.operand()?;
        let Some(&Token::Compare(comparison)) = self.peek() else {
            return self.expected("a comparison (==, !=, <, <=, > or >=)");
        };
        self.tokens = &self.tokens[1..];
        let right = self.operand()?;
        if let Some(Token::Compare(_)) = self.peek() {
            return self.expected("`and` or `or`: a comparison has two sides, which");
        }
        Ok(Expression::Compare(left, comparison, right))
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        match self.peek() {
            Some(Token::Operand(operand)) => {
                let operand = operand.clone();
                self.tokens = &self.tokens[1..];
                Ok(operand)
            }
            _ => self.expected("an axis or a value"),
        }
    }

    fn end(&self) -> Result<(), Fault> {
        if self.tokens.is_empty() { Ok(()) } else { self.expected("`and`, `or` or the end") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axes() -> Vec<Axis> {
        let texts = [
            "a=8..=10",
            "b=9,10",
            "m=wrap,saturate",
            "o=[kh, kw],[kw, kh]",
            "w=auto,12",
            "model=x/n.onnx,k.onnx",
        ];
        texts.map(|text| text.parse().unwrap()).into()
    }

    fn checked(text: &str) -> Result<Condition, AxisError> {
        let condition: Condition = text.parse()?;
        condition.check(&axes())?;
        Ok(condition)
    }

    fn check(text: &str, expected: bool) {
        let values = ["9", "10", "wrap", "[kh, kw]", "auto", "x/n.onnx"];
        assert_eq!(checked(text).unwrap().holds(&axes(), &values), expected, "{text}");
    }

    #[test]
    fn conditions_hold() {
        for (text, expected) in [
            ("a < b", true),
            ("a<=9", true),
            ("9.0 >= a", true),
            ("10 < a", false),
            ("a != 14 and a != 15", true),
            ("a != 9 and a != 15", false),
            ("a == 9 or a == 8 and b == 9", true),
            ("(a == 9 or a == 8) and b == 9", false),
            ("not a == 9", false),
            ("not (a == 8 or b == 9)", true),
            ("m == wrap", true),
            ("m == 'saturate'", false),
            ("`m` != \"wrap\"", false),
            ("o == [kh,kw]", true),
            ("w == auto or w > 12", true),
            ("w <= 12", false),
            ("model == n.onnx", true),
            ("model != k.onnx", true),
        ] {
            check(text, expected);
        }
    }

    /// Each message, and the part of the condition that it points at.
    #[test]
    fn errors_point_at_the_place() {
        for (text, marked, says) in [
            ("a << 14", "<<", "`<<` is not an operator: use ==, !=, <, <=, > or >="),
            ("a = 14", "=", "write =="),
            ("a == 8 && b == 9", "&&", "write and"),
            ("!a == 8", "!", "write not"),
            (
                "a == fourteen",
                "fourteen",
                "`fourteen` is not a value of `a` and not an axis; the values of `a` are 8, 9, 10",
            ),
            (
                "a < array.row",
                "array.row",
                "`array.row` is not a number and not an axis; the axes are a, b, m, o, w, model",
            ),
            ("a < m", "m", "the values of `m` are wrap, saturate: use == or !="),
            ("a == m", "a == m", "never equal"),
            ("m == warp", "warp", "`warp` is not a value of `m`"),
            ("m == 14", "14", "`14` is a number; the values of `m`"),
            ("m < saturate", "saturate", "use == or !="),
            ("3 < 4", "3 < 4", "neither side is an axis"),
            ("`c` == 4", "`c`", "`c` is not an axis"),
            ("a", "", "expected a comparison (==, !=, <, <=, > or >=) here"),
            ("a <", "", "expected an axis or a value here"),
            ("", "", "expected an axis or a value here"),
            ("8 < a < 10", "<", "a comparison has two sides"),
            ("(a == 8", "", "expected `)`, `and` or `or` here"),
            ("a == 8)", ")", "expected `and`, `or` or the end here"),
            ("a == 8 b == 9", "b", "expected `and`, `or` or the end here"),
            ("a == 8 and or b == 9", "or", "expected an axis or a value here"),
            ("a == '8", "'8", "unclosed `'`"),
            ("o == [kh", "[kh", "unclosed `[`"),
        ] {
            let Err(AxisError::Where { at, problem, .. }) = checked(text) else { panic!("{text}") };
            assert!(problem.contains(says), "{text}: {problem}");
            let place = text.get(at.clone()).unwrap();
            let is_there = place == marked && (text != "8 < a < 10" || at.start == 6);
            assert!(is_there, "{text}: {at:?} {place}");
        }
        let deep = format!("{}a == 8{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(checked(&deep).is_err());
        assert!(checked(&format!("{} a == 8", "not ".repeat(100_000))).is_err());
    }

    /// Generates a tree of comparisons as text, and its truth value for each pair of a and b.
    fn tree() -> impl Strategy<Value = (String, Vec<bool>)> {
        type Meaning = fn(i32, i32) -> bool;
        let leaves: [(&str, Meaning); 6] = [
            ("a == 9", |a, _| a == 9),
            ("b != 9", |_, b| b != 9),
            ("a < b", |a, b| a < b),
            ("8 <= a", |a, _| 8 <= a),
            ("a > b", |a, b| a > b),
            ("b >= 10", |_, b| b >= 10),
        ];
        let points: Vec<(i32, i32)> = (8..=10).flat_map(|a| (9..=10).map(move |b| (a, b))).collect();
        let leaf = prop::sample::select(leaves.to_vec()).prop_map(move |(text, holds)| {
            (text.to_owned(), points.iter().map(|&(a, b)| holds(a, b)).collect())
        });
        leaf.prop_recursive(6, 40, 3, |inner| {
            let several = prop::collection::vec(inner.clone(), 1..4);
            let join = |word: &'static str, both: fn(bool, bool) -> bool| {
                move |parts: Vec<(String, Vec<bool>)>| {
                    let text: Vec<String> = parts.iter().map(|(text, _)| format!("({text})")).collect();
                    let fold = |at: usize| parts.iter().map(|(_, holds)| holds[at]).reduce(both).unwrap();
                    (text.join(word), (0..parts[0].1.len()).map(fold).collect())
                }
            };
            prop_oneof![
                several.clone().prop_map(join(" and ", |a, b| a && b)),
                several.prop_map(join(" or ", |a, b| a || b)),
                inner.prop_map(|(text, holds)| (
                    format!("not ({text})"),
                    holds.iter().map(|holds| !holds).collect()
                )),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(400)))]

        #[test]
        fn trees_mean_what_they_say((text, expected) in tree()) {
            let condition = checked(&text).unwrap();
            let points = (8..=10).flat_map(|a| (9..=10).map(move |b| (a, b)));
            for ((a, b), expected) in points.zip(expected) {
                let (a, b) = (a.to_string(), b.to_string());
                prop_assert_eq!(condition.holds(&axes()[..2], &[&a, &b]), expected, "{}", text);
            }
        }

        /// Any text produces at most an error, whose position lies in the text.
        #[test]
        fn any_text_is_read_or_refused(text in "[ab()<>=!&|'`\\[\\]{} notrd0-9é]{0,40}") {
            if let Err(AxisError::Where { at, condition, .. }) = checked(&text) {
                prop_assert!(condition.get(at).is_some());
            }
        }
    }
}
