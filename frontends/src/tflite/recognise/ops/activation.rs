//! Functions of one code: rectifiers, LOGISTIC, TANH, HARD_SWISH, ABS, NEG, EXP, RSQRT; also SOFTMAX and
//! L2_NORMALIZATION.

use guardbit_graph::Op;
use guardbit_graph::ops::{
    Abs, Exp, HardSwish, L2Normalization, LeakyRelu, Logistic, Neg, Prelu, Relu, Relu0To1, Relu6, ReluN1To1,
    Rsqrt, Softmax, Tanh,
};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{MICRO_MOVES_NOTHING, NewNode, OperatorReader};

pub(super) fn relu(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Relu { requantize: reader.profile().relu() }.into(), inputs: reader.one_input()? })
}

pub(super) fn relu6(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let inputs = reader.one_input()?;
    let same = inputs[0].is_none_or(|x| reader.tensor(x).ty.quantization == reader.output.quantization);
    if reader.profile().is_micro() && !same {
        return Err(reader.error(MICRO_MOVES_NOTHING.into()));
    }
    Ok(NewNode { op: Relu6 { requantize: reader.profile().relu() }.into(), inputs })
}

pub(super) fn softmax(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let beta = reader.options(9)?.scalar(Field(0, "SoftmaxOptions.beta"), 0.0)?;
    Ok(NewNode { op: Softmax { beta }.into(), inputs: reader.one_input()? })
}

pub(super) fn relu_n1_to_1(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, ReluN1To1 { requantize: reader.profile().relu() }.into())
}

pub(super) fn relu_0_to_1(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Relu0To1 { requantize: reader.profile().relu() }.into())
}

pub(super) fn leaky_relu(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let alpha = reader.options(75)?.scalar(Field(0, "LeakyReluOptions.alpha"), 0.0)?;
    one(reader, LeakyRelu { alpha, requantize: reader.profile().absolute() }.into())
}

pub(super) fn prelu(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let op = Prelu { requantize: reader.profile().prelu() }.into();
    Ok(NewNode { op, inputs: vec![Some(reader.input(0)?), Some(reader.input(1)?)] })
}

pub(super) fn hard_swish(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, HardSwish.into())
}

pub(super) fn logistic(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Logistic { arithmetic: reader.profile().curves() }.into())
}

pub(super) fn tanh(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Tanh { arithmetic: reader.profile().curves() }.into())
}

pub(super) fn abs(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Abs { requantize: reader.profile().absolute() }.into())
}

pub(super) fn neg(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Neg.into())
}

pub(super) fn exp(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Exp.into())
}

pub(super) fn rsqrt(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    one(reader, Rsqrt.into())
}

pub(super) fn l2_normalization(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let activation = reader.options(12)?.activation(Field(0, "L2NormOptions.fused_activation_function"))?;
    if activation != guardbit_graph::Activation::None {
        return Err(reader.error(format!("the fused activation {} is not supported", activation.name())));
    }
    one(reader, L2Normalization.into())
}

fn one(reader: &mut OperatorReader<'_, '_>, op: Op) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op, inputs: reader.one_input()? })
}
