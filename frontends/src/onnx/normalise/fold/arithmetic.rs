//! Operators on elements, with NumPy's broadcasting.

use std::rc::Rc;

use super::{Call, Fixed};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::parts::broadcast;
use crate::onnx::parse::constant::{Constant, Data, FloatCodes, broadcast_places, rounded, short_float};
use crate::onnx::parse::integers::Integers;
use crate::onnx::parse::proto::element;
use crate::onnx::scalar::{self, pair_of};

/// Computes a function of single real values.
pub(super) fn unary(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let Some((function, parameters)) = scalar::function(call.node) else { return Ok(None) };
    let array = call.array(0)?;
    let Some(values) = array.as_reals() else { return Ok(None) };
    let values = values.iter().map(|&x| function.apply(x, &parameters)).collect();
    let made = Constant::reals(array.shape.clone(), values);
    Ok(Some(Fixed::new(Constant { of_codes: array.of_codes, ..made })))
}

/// Computes sums, products and the like of two arrays of one type.
pub(super) fn pair(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let op = call.node.proto.op.as_str();
    if call.node.proto.inputs.len() != 2 {
        return Ok(None);
    }
    let (a, b) = (call.array(0)?, call.array(1)?);
    let Some(shape) = broadcast(&a.shape, &b.shape) else { return Ok(None) };
    call.count(&shape)?;
    let places = broadcast_places(&a.shape, &shape).zip(broadcast_places(&b.shape, &shape));
    let data = match (&a.data, &b.data) {
        (Data::Integers(x), Data::Integers(y)) => {
            let truncated = call.node.int("fmod", 0) != 0;
            let value = |(i, j): (usize, usize)| integer(op, x.at(i), y.at(j), truncated);
            let narrow = |value: i64| a.element != element::INT32 || i32::try_from(value).is_ok();
            let values: Option<Integers> =
                places.map(value).map(|value| value.filter(|&value| narrow(value))).collect();
            let Some(values) = values else { return Ok(None) };
            Data::Integers(values)
        }
        (Data::Reals(x), Data::Reals(y)) => match (op, pair_of(op)) {
            (_, Some(function)) => Data::Reals(places.map(|(i, j)| function.value(x[i], y[j])).collect()),
            ("Mod", None) => Data::Reals(places.map(|(i, j)| x[i] % y[j]).collect()),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let of_codes = a.of_codes || b.of_codes;
    let floats = if op == "Mul" { scaled(&a, &b, &shape).or_else(|| scaled(&b, &a, &shape)) } else { None };
    Ok(Some(Fixed::new(Constant { element: a.element, shape, data, range: None, of_codes, floats })))
}

/// Returns the codes of values that are multiplied by scales.
fn scaled(values: &Constant, scales: &Constant, shape: &[usize]) -> Option<Rc<FloatCodes>> {
    let plain = values.floats.as_ref().filter(|floats| floats.is_plain() && values.shape == shape)?;
    let scales = match scales.as_reals()? {
        &[scale] => Constant::reals(vec![], vec![scale]),
        _ if scales.shape.len() == shape.len() => Constant::reals(scales.shape.clone(), scales.numbers()),
        _ => return None,
    };
    Some(Rc::new(FloatCodes { scales, ..FloatCodes::clone(plain) }))
}

/// Returns `None` for a result beyond 64 bits, and for a division by 0.
fn integer(op: &str, a: i64, b: i64, truncated: bool) -> Option<i64> {
    match op {
        "Add" => a.checked_add(b),
        "Sub" => a.checked_sub(b),
        "Mul" => a.checked_mul(b),
        "Div" => a.checked_div(b),
        "Mod" if truncated => a.checked_rem(b),
        // The remainder has the sign of the divisor.
        "Mod" => {
            a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        "Pow" => a.checked_pow(u32::try_from(b).ok()?),
        "Max" => Some(a.max(b)),
        "Min" => Some(a.min(b)),
        _ => None,
    }
}

/// Computes comparisons and Boolean operators.
pub(super) fn logic(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let a = call.array(0)?;
    let op = call.node.proto.op.as_str();
    if op == "Not" {
        let Some(values) = a.as_integers() else { return Ok(None) };
        let values = values.iter().map(|value| i64::from(value == 0));
        return Ok(Some(Fixed::new(Constant::integers(element::BOOL, a.shape.clone(), values))));
    }
    let b = call.array(1)?;
    let Some(shape) = broadcast(&a.shape, &b.shape) else { return Ok(None) };
    call.count(&shape)?;
    let places = broadcast_places(&a.shape, &shape).zip(broadcast_places(&b.shape, &shape));
    let order = |i: usize, j: usize| match (&a.data, &b.data) {
        (Data::Integers(a), Data::Integers(b)) => Some(a.at(i).cmp(&b.at(j))),
        (Data::Reals(a), Data::Reals(b)) => a[i].partial_cmp(&b[j]),
        _ => None,
    };
    let truth = |i: usize, j: usize| Some((a.as_integers()?.at(i) != 0, b.as_integers()?.at(j) != 0));
    let value = |(i, j): (usize, usize)| {
        let holds = match op {
            "And" => truth(i, j).map(|(a, b)| a && b)?,
            "Or" => truth(i, j).map(|(a, b)| a || b)?,
            "Equal" => order(i, j)?.is_eq(),
            "Less" => order(i, j)?.is_lt(),
            "LessOrEqual" => order(i, j)?.is_le(),
            "Greater" => order(i, j)?.is_gt(),
            _ => order(i, j)?.is_ge(),
        };
        Some(i64::from(holds))
    };
    let values: Option<Integers> = places.map(value).collect();
    Ok(values.map(|values| {
        Fixed::new(Constant { data: Data::Integers(values), ..Constant::integers(element::BOOL, shape, []) })
    }))
}

/// Computes Where, which selects elements of two arrays.
pub(super) fn chosen(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let (which, a, b) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let shape = broadcast(&a.shape, &b.shape).and_then(|shape| broadcast(&shape, &which.shape));
    let (Some(shape), Some(truths)) = (shape, which.as_integers()) else { return Ok(None) };
    call.count(&shape)?;
    let places = || {
        let of = |constant: &Constant| broadcast_places(&constant.shape, &shape);
        of(&which).zip(of(&a).zip(of(&b)))
    };
    let data = match (&a.data, &b.data) {
        (Data::Integers(a), Data::Integers(b)) => Data::Integers(
            places().map(|(w, (i, j))| if truths.at(w) != 0 { a.at(i) } else { b.at(j) }).collect(),
        ),
        (Data::Reals(a), Data::Reals(b)) => {
            Data::Reals(places().map(|(w, (i, j))| if truths.at(w) != 0 { a[i] } else { b[j] }).collect())
        }
        _ => return Ok(None),
    };
    let of_codes = a.of_codes || b.of_codes;
    Ok(Some(Fixed::new(Constant {
        element: a.element,
        shape: shape.clone(),
        data,
        range: None,
        of_codes,
        floats: None,
    })))
}

pub(super) fn cast(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let input = call.array(0)?;
    let Ok(to) = i32::try_from(call.node.int("to", 0)) else { return Ok(None) };
    let data = match (&input.data, to) {
        (data, to) if to == input.element => data.clone(),
        (data @ Data::Reals(_), element::FLOAT | element::DOUBLE) => data.clone(),
        (Data::Reals(values), to) if to != element::FLOAT8E8M0 && short_float(to).is_some() => {
            Data::Reals(rounded(values.clone(), to, call.node.int("saturate", 1) != 0))
        }
        (Data::Integers(values), element::FLOAT | element::DOUBLE) => {
            Data::Reals(values.iter().map(|value| value as f32).collect())
        }
        (data @ Data::Integers(_), element::INT64) => data.clone(),
        (Data::Integers(values), element::INT32) if values.iter().all(|v| i32::try_from(v).is_ok()) => {
            Data::Integers(values.clone())
        }
        (Data::Integers(values), element::BOOL) => {
            Data::Integers(values.iter().map(|value| i64::from(value != 0)).collect())
        }
        (Data::Reals(values), element::INT64 | element::INT32) if values.iter().all(|v| v.abs() < 2e9) => {
            Data::Integers(values.iter().map(|&value| value.trunc() as i64).collect())
        }
        _ => return Ok(None),
    };
    // Networks keep weights of 16 bits to save space, and multiply real values.
    let is_code = to == element::FLOAT && short_float(input.element).is_some_and(|dtype| dtype.bits() <= 8);
    let floats = if is_code { FloatCodes::of(&input, Constant::reals(vec![], vec![1.0])) } else { None };
    let (shape, of_codes) = (input.shape.clone(), input.of_codes);
    Ok(Some(Fixed::new(Constant { element: to, shape, data, range: None, of_codes, floats })))
}
