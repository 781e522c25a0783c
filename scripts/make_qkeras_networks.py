"""Makes frontends/tests/onnx/exported/qkeras: `make_qkeras_networks.py FOLDER`.

pip install qkeras==0.9.0 tensorflow-cpu==2.15.1 tf2onnx==1.16.1 qonnx==0.4.0 pyparsing "numpy<2" protobuf==3.20.3 onnx==1.17.0 (2 GB). Files
of `alpha=auto` are left out: the converter writes their kernels without a quantizer.
"""

import os, sys, pathlib; os.environ["TF_CPP_MIN_LOG_LEVEL"]="3"
import numpy as np, onnx, tensorflow as tf
from tensorflow.keras.layers import Input, Activation, Flatten, MaxPooling2D, AveragePooling2D, BatchNormalization, Add, Dense, GlobalAveragePooling2D
from tensorflow.keras.models import Model
from qkeras import *
from qonnx.converters import from_keras
out = pathlib.Path(sys.argv[1]); out.mkdir(parents=True, exist_ok=True)
tf.keras.utils.set_random_seed(0)

def q(name): return None if name is None else name
def mlp(kq, bq, aq):
    x = x_in = Input((16,))
    x = QActivation("quantized_relu(8)")(x)
    for n in (20, 12):
        x = QDense(n, kernel_quantizer=kq, bias_quantizer=bq, use_bias=bq is not None)(x); x = QActivation(aq)(x)
    x = QDense(5, kernel_quantizer=kq, bias_quantizer=bq)(x)
    return Model(x_in, x), 3
def dense(kq, bq, aq):
    x = x_in = Input((16,))
    x = QActivation("quantized_relu(8)")(x)
    for n in (20, 12):
        x = QDense(n, kernel_quantizer=kq, bias_quantizer=bq, activation=aq, use_bias=bq is not None)(x)
    x = QDense(5, kernel_quantizer=kq, bias_quantizer=bq, activation="quantized_bits(10,3,1,alpha=1)")(x)
    return Model(x_in, x), 3
def cnn(kq, bq, aq):
    x = x_in = Input((8, 8, 2))
    x = QActivation("quantized_relu(8)")(x)
    x = QConv2D(6, (3, 3), kernel_quantizer=kq, bias_quantizer=bq, padding="same", use_bias=bq is not None)(x); x = QActivation(aq)(x)
    x = QConv2D(8, (3, 3), strides=2, kernel_quantizer=kq, bias_quantizer=bq, activation=aq, use_bias=bq is not None)(x)
    x = MaxPooling2D()(x); x = Flatten()(x)
    x = QDense(4, kernel_quantizer=kq, bias_quantizer=bq)(x)
    return Model(x_in, x), 3
def residual(kq, bq, aq):
    x = x_in = Input((8, 8, 2))
    x = QActivation("quantized_relu(8)")(x)
    x = QConv2D(6, (3, 3), kernel_quantizer=kq, use_bias=False, activation=None)(x); x = BatchNormalization()(x); x = QActivation(aq)(x)
    y = QConv2D(6, (3, 3), kernel_quantizer=kq, bias_quantizer=bq, padding="same", activation=aq)(x)
    y = QConv2D(6, (1, 1), kernel_quantizer=kq, bias_quantizer=bq, padding="same", activation="quantized_bits(8,2,1,alpha=1)")(y)
    x = Add()([x, y]); x = QActivation(aq)(x)
    x = AveragePooling2D(2)(x); x = QActivation(aq)(x)
    x = Flatten()(x)
    x = QDense(4, kernel_quantizer=kq, bias_quantizer=bq, activation="quantized_bits(10,5,1,alpha=1)")(x)
    return Model(x_in, x), 4
KQ = {"qb4": "quantized_bits(4,0,1,alpha=1)", "qb8_int2": "quantized_bits(8,2,1,alpha=1)", "qb4_auto": "quantized_bits(4,0,1,alpha='auto')", "qb4_po2": "quantized_bits(4,0,1,alpha='auto_po2')", "qb4_wide": "quantized_bits(4,0,0,alpha=1)", "ternary": "ternary(alpha=1,threshold=0.5)", "binary": "binary(alpha=1)", "unsigned": "quantized_bits(6,1,0,keep_negative=False,alpha=1)", "qb2": "quantized_bits(2,0,1,alpha=1)", "qb1": "quantized_bits(1,0,1,alpha=1)", "qb12": "quantized_bits(12,1,1,alpha=1)"}
BQ = {"qb4": "quantized_bits(4,0,1,alpha=1)", "qb8": "quantized_bits(8,3,1,alpha=1)", "qb16": "quantized_bits(16,4,1,alpha=1)", "qb20": "quantized_bits(20,4,1,alpha=1)", "none": None}
AQ = {"relu4": "quantized_relu(4)", "relu6_2": "quantized_relu(6,2)", "qb8": "quantized_bits(8,2,1,alpha=1)", "qb4": "quantized_bits(4,1,0,alpha=1)", "relu_neg": "quantized_relu(4,0,negative_slope=0.25)", "binary": "binary(alpha=1)", "ternary": "ternary(alpha=1,threshold=0.5)", "qb16": "quantized_bits(16,4,1,alpha=1)"}
rows = [("mlp", k, "qb8", "relu4") for k in KQ] + [("mlp", "qb4", b, "relu4") for b in BQ] + [("dense", "qb4", "qb8", a) for a in AQ] + [("dense", k, "qb16", "qb8") for k in KQ]+ [("dense", "qb4", b, "qb8") for b in BQ] + [(n, k, b, a) for n in ("cnn", "residual") for k, b, a in [("qb4","qb4","relu4"),("qb4","qb8","relu6_2"),("qb8_int2","qb16","relu4"),("qb8_int2","qb20","relu6_2"),("ternary","qb4","relu4"),("binary","qb8","relu4"),("qb2","qb4","relu4")]]
rows = list(dict.fromkeys(rows))
for net, k, b, a in rows:
    name = f"{net}_{k}_{b}_{a}"
    try:
        tf.keras.backend.clear_session(); tf.keras.utils.set_random_seed(1)
        model, layers = dict(mlp=mlp, cnn=cnn, dense=dense, residual=residual)[net](KQ[k], BQ[b], AQ[a])
        rng = np.random.default_rng(2)
        model.set_weights([w if "moving" in v.name or "gamma" in v.name else rng.normal(0, 0.5, w.shape).astype(np.float32) for v, w in zip(model.weights, model.get_weights())])
        p, _ = from_keras(model, name=name, opset=9)
        onnx.save(p, out / f"{name}.onnx")
        x = rng.uniform(-1, 1, (6,) + model.input_shape[1:]).astype(np.float32)
        np.savez(out / f"{name}.npz", x=x, y=np.stack([model.predict(i[None], verbose=0)[0] for i in x]), layers=layers)
        print("MADE", name, flush=True)
    except BaseException as e:
        print("NOT MADE", name, type(e).__name__, str(e)[:200].replace("\n", " "), flush=True)
