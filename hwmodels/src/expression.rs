//! Formulas of cost models and keys: numbers, variables, `+ - * /`, brackets and a few functions.

use std::fmt;

/// Greatest length of a formula in characters.
const MOST_CHARACTERS: usize = 1000;
/// Greatest nesting depth of brackets.
const MOST_DEEP: usize = 32;

/// Quantity on which a formula can depend.
pub trait Quantity: Copy + 'static {
    /// Returns the name in formulas.
    fn name(self) -> &'static str;
}

/// Formula over quantities.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression<Q> {
    text: String,
    node: Node<Q>,
}

#[derive(Debug, Clone, PartialEq)]
enum Node<Q> {
    Number(f64),
    Variable(Q),
    Negative(Box<Node<Q>>),
    Both(Operator, Box<[Node<Q>; 2]>),
    Call(Function, Vec<Node<Q>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Function that a formula can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Ceil,
    Floor,
    Log2,
    Sqrt,
    Min,
    Max,
    Linear,
}

/// Name of each function, and least and greatest number of its arguments.
const FUNCTIONS: [(&str, Function, [usize; 2]); 7] = [
    ("ceil", Function::Ceil, [1, 1]),
    ("floor", Function::Floor, [1, 1]),
    ("log2", Function::Log2, [1, 1]),
    ("sqrt", Function::Sqrt, [1, 1]),
    ("min", Function::Min, [2, 16]),
    ("max", Function::Max, [2, 16]),
    ("linear", Function::Linear, [5, 65]),
];

/// Error: a text is not a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpressionError(String);

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<Q: Quantity> Expression<Q> {
    /// Parses a formula over exactly these variables.
    pub(crate) fn parse(text: &str, variables: &[Q]) -> Result<Self, ExpressionError> {
        if text.chars().count() > MOST_CHARACTERS {
            return Err(ExpressionError(format!("has more than {MOST_CHARACTERS} characters")));
        }
        let mut parser = Parser { text, at: 0, deep: 0, variables };
        let node = parser.sum()?;
        match parser.peek() {
            None => Ok(Self { text: text.trim().to_owned(), node }),
            Some(_) => Err(parser.unexpected("an operator or the end")),
        }
    }

    /// Returns the value; `None` if it is undefined: a variable has no value, a division by 0, or an argument
    /// of `linear` outside its points.
    pub fn value(&self, of: &impl Fn(Q) -> Option<f64>) -> Option<f64> {
        self.node.value(of).filter(|value| value.is_finite())
    }
}

impl<Q> fmt::Display for Expression<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<Q: Quantity> Node<Q> {
    fn value(&self, of: &impl Fn(Q) -> Option<f64>) -> Option<f64> {
        Some(match self {
            Self::Number(number) => *number,
            Self::Variable(variable) => of(*variable)?,
            Self::Negative(node) => -node.value(of)?,
            Self::Both(operator, nodes) => {
                let (left, right) = (nodes[0].value(of)?, nodes[1].value(of)?);
                match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                }
            }
            Self::Call(function, arguments) => {
                let values: Option<Vec<f64>> = arguments.iter().map(|node| node.value(of)).collect();
                function.value(&values?)?
            }
        })
    }
}

impl Function {
    fn value(self, arguments: &[f64]) -> Option<f64> {
        let (&first, others) = arguments.split_first()?;
        Some(match self {
            Self::Ceil => first.ceil(),
            Self::Floor => first.floor(),
            Self::Log2 => first.log2(),
            Self::Sqrt => first.sqrt(),
            Self::Min => others.iter().copied().fold(first, f64::min),
            Self::Max => others.iter().copied().fold(first, f64::max),
            Self::Linear => linear(first, others)?,
        })
    }
}

/// Computes `linear(x, x1, y1, x2, y2, ...)`: y at x on straight lines through the points, whose x ascend;
/// `None` outside them.
fn linear(x: f64, points: &[f64]) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.chunks_exact(2).map(|point| (point[0], point[1])).collect();
    let between = points.windows(2).find(|pair| pair[0].0 <= x && x <= pair[1].0)?;
    let ((x0, y0), (x1, y1)) = (between[0], between[1]);
    Some(if x == x1 { y1 } else { y0 + (x - x0) / (x1 - x0) * (y1 - y0) })
}

struct Parser<'a, Q> {
    text: &'a str,
    at: usize,
    deep: usize,
    variables: &'a [Q],
}

impl<Q: Quantity> Parser<'_, Q> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn unexpected(&mut self, wanted: &str) -> ExpressionError {
        let found = self.peek().map_or("the end".into(), |found| format!("`{found}`"));
        let column = self.text[..self.at].chars().count() + 1;
        ExpressionError(format!("has {found} at character {column}; expected {wanted}"))
    }

    fn sum(&mut self) -> Result<Node<Q>, ExpressionError> {
        self.chain(&[('+', Operator::Add), ('-', Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node<Q>, ExpressionError> {
        self.chain(&[('*', Operator::Multiply), ('/', Operator::Divide)], Self::factor)
    }

    /// Parses operands with operators between them, from the left.
    fn chain(
        &mut self,
        operators: &[(char, Operator)],
        operand: fn(&mut Self) -> Result<Node<Q>, ExpressionError>,
    ) -> Result<Node<Q>, ExpressionError> {
        let mut left = operand(self)?;
        let mut links = 0;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.take(*sign)) {
            links += 1;
            if links > MOST_DEEP * 4 {
                return Err(ExpressionError("has too many operators in a row".into()));
            }
            left = Node::Both(operator, Box::new([left, operand(self)?]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Node<Q>, ExpressionError> {
        self.deep += 1;
        if self.deep > MOST_DEEP {
            return Err(ExpressionError(format!("is nested more than {MOST_DEEP} brackets deep")));
        }
        let node = match self.peek() {
            Some('-') => {
                self.at += 1;
                Node::Negative(Box::new(self.factor()?))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.close()?;
                inner
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => self.number()?,
            Some(letter) if letter.is_ascii_alphabetic() => self.name()?,
            _ => return Err(self.unexpected("a number, a name or a bracket")),
        };
        self.deep -= 1;
        Ok(node)
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        if self.take(')') { Ok(()) } else { Err(self.unexpected("`)`")) }
    }

    fn word(&mut self, part: impl Fn(char) -> bool) -> String {
        let word: String = self.text[self.at..].chars().take_while(|&c| part(c)).collect();
        self.at += word.len();
        word
    }

    fn number(&mut self) -> Result<Node<Q>, ExpressionError> {
        let start = self.at;
        let mut digits = self.word(|c| c.is_ascii_digit() || c == '.');
        let rest = &self.text[self.at..];
        let exponent =
            rest.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['-', '+']).unwrap_or(rest));
        if exponent.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let sign = 1 + usize::from(rest[1..].starts_with(['-', '+']));
            digits.push_str(&rest[..sign]);
            self.at += sign;
            digits.push_str(&self.word(|c| c.is_ascii_digit()));
        }
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Number(number)),
            _ => {
                self.at = start;
                Err(self.unexpected("a number"))
            }
        }
    }

    fn name(&mut self) -> Result<Node<Q>, ExpressionError> {
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if !self.take('(') {
            let variable = self.variables.iter().find(|variable| variable.name() == name);
            return variable.map(|&variable| Node::Variable(variable)).ok_or_else(|| {
                let known: Vec<&str> = self.variables.iter().map(|variable| variable.name()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                ExpressionError(format!(
                    "uses the unknown variable `{name}`; the variables here are: {known}"
                ))
            });
        }
        let Some(&(_, function, [least, most])) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(ExpressionError(format!(
                "calls the unknown function `{name}`; the functions are: {}",
                known.join(", ")
            )));
        };
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            if arguments.len() == most {
                return Err(ExpressionError(format!(
                    "calls `{name}` with too many arguments: expected at most {most}"
                )));
            }
            arguments.push(self.sum()?);
        }
        self.close()?;
        if arguments.len() < least {
            return Err(ExpressionError(format!(
                "calls `{name}` with too few arguments: expected at least {least}"
            )));
        }
        if function == Function::Linear && !ascends(&arguments[1..]) {
            let form = "expected linear(x, x1, y1, x2, y2, ...) with constant numbers and x1 < x2 < ...";
            return Err(ExpressionError(format!("calls `linear` with invalid points: {form}")));
        }
        Ok(Node::Call(function, arguments))
    }
}

/// Returns whether these are points `x1, y1, x2, y2, ...` of plain numbers whose x ascend.
fn ascends<Q>(points: &[Node<Q>]) -> bool {
    let number = |node: &Node<Q>| match node {
        Node::Number(number) => Some(*number),
        _ => None,
    };
    let all: Option<Vec<f64>> = points.iter().map(number).collect();
    all.is_some_and(|all| {
        let places: Vec<f64> = all.chunks_exact(2).map(|point| point[0]).collect();
        all.len().is_multiple_of(2) && places.windows(2).all(|pair| pair[0] < pair[1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Variable;

    const ALL: &[Variable] = &[Variable::A, Variable::B, Variable::Bits];

    fn value(text: &str) -> Option<f64> {
        let of = |variable| match variable {
            Variable::A => Some(9.0),
            Variable::B => Some(8.0),
            _ => None,
        };
        Expression::parse(text, ALL).unwrap().value(&of)
    }

    #[test]
    fn formulas_are_computed_from_the_left_with_products_first() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 3 - 2", 5.0),
            ("16 / 4 / 2", 2.0),
            ("-a + 10", 1.0),
            ("2 * -3", -6.0),
            ("1e-3 * 2.5E3", 2.5),
            ("ceil((a + b) / 6)", 3.0),
            ("floor(17/6)", 2.0),
            ("log2(b)", 3.0),
            ("sqrt(a)", 3.0),
            ("min(a, b, 12)", 8.0),
            ("max(a, b)", 9.0),
            ("linear(a, 8, 10, 32, 34)", 11.0),
            ("linear(b, 8, 10, 32, 34)", 10.0),
            ("linear(32, 8, 10, 32, 34)", 34.0),
            ("linear(20, 0, 0, 10, 1, 30, 5)", 3.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_none() {
        for text in
            ["bits", "1 / (a - 9)", "linear(7, 8, 1, 9, 2)", "linear(10, 8, 1, 9, 2)", "log2(0)", "sqrt(-1)"]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_formula_says_where() {
        let deep = "(".repeat(40);
        let long = "1+".repeat(600);
        let row = format!("1{}", "+1".repeat(300));
        for (text, says) in [
            ("", "the end at character 1"),
            ("1 +", "the end at character 4"),
            ("1 2", "`2` at character 3"),
            ("(1", "expected `)`"),
            ("1..2", "`1` at character 1; expected a number"),
            ("x", "the variables here are: a, b, bits"),
            ("exp(1)", "the functions are: ceil"),
            ("min(1)", "expected at least 2"),
            ("ceil(1, 2)", "expected at most 1"),
            ("linear(a, 2, 1, 1, 2)", "x1 < x2"),
            ("linear(a, a, 1, 2, 2)", "x1 < x2"),
            ("linear(a, 1, 1, 2, 2, 3)", "x1 < x2"),
            ("é", "`é` at character 1"),
            (&deep, "more than 32 brackets"),
            (&long, "more than 1000 characters"),
            (&row, "too many operators"),
        ] {
            let error = Expression::parse(text, ALL).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
