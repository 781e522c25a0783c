"""Exports quantized networks with torch.ao: `torch_ao_export.py FOLDER`.

Runs with Debian's PyTorch 1.13 (scripts/requirements/brevitas.txt). Writes FOLDER/NAME.onnx, FOLDER/NAME.npz with
inputs and PyTorch's results, and FOLDER/rows.json: per network its number of layers, or PyTorch's error if it cannot
export the network.
"""

import copy
import json
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.ao import quantization as ao
from torch.ao.quantization import quantize_fx

SAMPLES = 2


class Image(nn.Module):
    """Convolutions with batch normalizations, depthwise ones, a residual sum, a concatenation and pools."""

    shape = (1, 3, 8, 8)

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.depthwise, self.relu2 = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU()
        self.pointwise, self.norm2 = nn.Conv2d(8, 8, 1, bias=False), nn.BatchNorm2d(8)
        self.plain = nn.Conv2d(8, 6, 3, stride=2, padding=2, dilation=2)
        self.pool = nn.MaxPool2d(2)
        self.average = nn.AvgPool2d(2)
        self.adaptive = nn.AdaptiveAvgPool2d(1)
        self.dense, self.relu3 = nn.Linear(14, 12), nn.ReLU()
        self.last = nn.Linear(12, 10)
        self.sum, self.join, self.sum_relu = (nn.quantized.FloatFunctional() for _ in range(3))
        self.into, self.out = ao.QuantStub(), ao.DeQuantStub()

    def forward(self, x):
        x = self.relu(self.norm(self.first(self.into(x))))
        y = self.norm2(self.pointwise(self.relu2(self.depthwise(x))))
        x = self.sum_relu.add_relu(x, self.sum.add(x, y))
        x = self.join.cat([self.pool(self.average(x)), self.average(self.plain(x))], 1)
        x = torch.flatten(self.adaptive(x), 1)
        return self.out(self.last(self.relu3(self.dense(x))))

    # PyTorch 1.13 cannot export a fused Linear and ReLU.
    fused = [["first", "norm", "relu"], ["depthwise", "relu2"], ["pointwise", "norm2"]]


class Branches(nn.Module):
    """Operations that FX finds without stubs: functions of torch and operators of Python."""

    shape = (1, 4, 6, 6)

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.left, self.right = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        x = self.first(x)
        y = torch.relu(self.left(x) + x)
        z = y * nn.functional.hardswish(self.right(x))
        return self.last(torch.flatten(nn.functional.adaptive_avg_pool2d(z, 1), 1))


class Joined(nn.Module):
    """Branches that meet in a concatenation."""

    shape = (1, 4, 6, 6)

    def __init__(self):
        super().__init__()
        self.left, self.right, self.last = nn.Conv2d(4, 3, 1), nn.Conv2d(4, 5, 3, padding=1), nn.Conv2d(8, 2, 1)
        self.join = nn.quantized.FloatFunctional()
        self.into, self.out = ao.QuantStub(), ao.DeQuantStub()

    def forward(self, x):
        x = self.into(x)
        return self.out(self.last(self.join.cat([self.left(x), self.right(x)], 1)))

    fused = []


class One(nn.Module):
    """Layer followed by a module."""

    def __init__(self, shape, *modules):
        super().__init__()
        self.shape, self.body = shape, nn.Sequential(*modules)
        self.into, self.out = ao.QuantStub(), ao.DeQuantStub()

    def forward(self, x):
        return self.out(self.body(self.into(x)))

    fused = []


class Product(nn.Module):
    """Product of activations."""

    shape = (1, 12)

    def __init__(self):
        super().__init__()
        self.a, self.b, self.mul = nn.Linear(12, 8), nn.Linear(12, 8), nn.quantized.FloatFunctional()
        self.into, self.out = ao.QuantStub(), ao.DeQuantStub()

    def forward(self, x):
        x = self.into(x)
        return self.out(self.mul.mul(self.a(x), self.b(x)))

    fused = []


class Recurrent(nn.Module):
    shape = (5, 1, 6)

    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(6, 4)

    def forward(self, x):
        return self.body(x)[0]


class Lookup(nn.Module):
    shape = (1, 5)

    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(12, 8), nn.Linear(8, 4)
        self.into, self.out = ao.QuantStub(), ao.DeQuantStub()
        self.table.qconfig = ao.float_qparams_weight_only_qconfig

    def forward(self, x):
        return self.out(self.last(self.into(self.table(x))))

    fused = []


def one(shape, *make):
    return lambda: One(shape, *(m() for m in make))


conv = lambda: nn.Conv2d(4, 6, 3, padding=1)
dense = lambda: nn.Linear(12, 7)
IMAGE, ROW, LINE = (1, 4, 6, 6), (1, 12), (1, 4, 9)
# Modules after a layer. Operators for which torch.ao sets no parameters keep those of their input.
PARTS = {
    "conv2d": one(IMAGE, conv),
    "conv2d_strided": one(IMAGE, lambda: nn.Conv2d(4, 6, (3, 2), stride=2, padding=(1, 0), bias=False)),
    "conv2d_groups": one(IMAGE, lambda: nn.Conv2d(4, 6, 3, groups=2)),
    "linear": one(ROW, dense),
    "linear_no_bias": one(ROW, lambda: nn.Linear(12, 7, bias=False)),
    "linear_rank3": one((1, 5, 12), dense),
    "relu": one(IMAGE, conv, nn.ReLU),
    "linear_relu": one(ROW, dense, nn.ReLU),
    "relu6": one(IMAGE, conv, nn.ReLU6),
    "hardtanh": one(IMAGE, conv, nn.Hardtanh),
    "leaky_relu": one(IMAGE, conv, lambda: nn.LeakyReLU(0.2)),
    "elu": one(IMAGE, conv, nn.ELU),
    "hardswish": one(IMAGE, conv, nn.Hardswish, lambda: nn.Conv2d(6, 3, 1)),
    "hardsigmoid": one(IMAGE, conv, nn.Hardsigmoid),
    "sigmoid": one(IMAGE, conv, nn.Sigmoid, lambda: nn.Conv2d(6, 3, 1)),
    "tanh": one(IMAGE, conv, nn.Tanh),
    "prelu": one(IMAGE, conv, nn.PReLU),
    "softmax": one(ROW, dense, lambda: nn.Softmax(1)),
    "max_pool": one(IMAGE, conv, lambda: nn.MaxPool2d(3, 2, 1), lambda: nn.Conv2d(6, 3, 1)),
    "max_pool_ceil": one(IMAGE, conv, lambda: nn.MaxPool2d(3, 2, ceil_mode=True)),
    "avg_pool": one(IMAGE, conv, lambda: nn.AvgPool2d(2), lambda: nn.Conv2d(6, 3, 1)),
    "avg_pool_padded": one(IMAGE, conv, lambda: nn.AvgPool2d(3, 2, 1)),
    "adaptive_avg": one(IMAGE, conv, lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten, lambda: nn.Linear(6, 5)),
    "adaptive_avg_2": one(IMAGE, conv, lambda: nn.AdaptiveAvgPool2d((2, 3))),
    "upsample": one(IMAGE, conv, lambda: nn.Upsample(scale_factor=2)),
    "pixel_shuffle": one(IMAGE, lambda: nn.Conv2d(4, 8, 1), lambda: nn.PixelShuffle(2)),
    "flatten": one(IMAGE, conv, nn.Flatten, lambda: nn.Linear(216, 5)),
    "dropout": one(ROW, dense, nn.Dropout),
    "batch_norm": one(IMAGE, conv, lambda: nn.BatchNorm2d(6)),
    "layer_norm": one(ROW, dense, lambda: nn.LayerNorm(7)),
    "group_norm": one(IMAGE, conv, lambda: nn.GroupNorm(2, 6)),
    "instance_norm": one(IMAGE, conv, lambda: nn.InstanceNorm2d(6)),
    "conv1d": one(LINE, lambda: nn.Conv1d(4, 6, 3)),
    "conv3d": one((1, 2, 4, 4, 4), lambda: nn.Conv3d(2, 3, 2)),
    "conv_transpose2d": one(IMAGE, lambda: nn.ConvTranspose2d(4, 6, 3, stride=2)),
    "conv_transpose1d": one(LINE, lambda: nn.ConvTranspose1d(4, 6, 3, stride=2)),
    "product": Product,
    "joined": Joined,
    "embedding": Lookup,
}
LAYERS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.Linear)


CONFIGS = {
    # Weights per channel, 7-bit activations.
    "fbgemm": ao.get_default_qconfig("fbgemm"),
    # Weights and activations per tensor, 8 bits.
    "qnnpack": ao.get_default_qconfig("qnnpack"),
    "onednn": ao.get_default_qconfig("onednn"),
    "channel": ao.QConfig(ao.MinMaxObserver.with_args(dtype=torch.quint8), ao.default_per_channel_weight_observer),
    "symmetric": ao.QConfig(
        ao.MinMaxObserver.with_args(dtype=torch.quint8, qscheme=torch.per_tensor_symmetric), ao.default_weight_observer
    ),
    "tensor_reduced": ao.QConfig(ao.HistogramObserver.with_args(reduce_range=True), ao.default_weight_observer),
    "moving_average": ao.QConfig(ao.MovingAverageMinMaxObserver.with_args(dtype=torch.quint8), ao.default_weight_observer),
}
QAT = {
    "fbgemm": ao.get_default_qat_qconfig("fbgemm", version=0),
    "qnnpack": ao.get_default_qat_qconfig("qnnpack", version=0),
    "fbgemm_fused": ao.get_default_qat_qconfig("fbgemm", version=1),
    "qnnpack_fused": ao.get_default_qat_qconfig("qnnpack", version=1),
}


# Fake-quantized networks have no quantizer after a mean: one layer reads its real values.
READS_A_MEAN = {"image", "avg_pool", "adaptive_avg"}


def layers(name, model):
    """Returns the number of layers with weights quantized by PyTorch. Before `convert`, only modules of `torch.nn.qat`
    have them."""
    if "_fake_" not in name:
        return sum(isinstance(module, LAYERS) for module in model.modules())
    count = sum(hasattr(module, "weight_fake_quant") for module in model.modules())
    return count - (name.split("_fake_")[0] in READS_A_MEAN)


def samples(model, count, seed):
    rng = torch.Generator().manual_seed(seed)
    if isinstance(model, Lookup):
        return [torch.randint(0, 12, model.shape, generator=rng) for _ in range(count)]
    return [torch.randn(model.shape, generator=rng) for _ in range(count)]


def seeded(make):
    torch.manual_seed(3)
    model = make()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.3)
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    return model


def calibrate(model, float_model):
    with torch.no_grad():
        for x in samples(float_model, 16, 5):
            model(x)


def eager(make, config):
    float_model = seeded(make).eval()
    model = copy.deepcopy(float_model)
    if model.fused:
        model = ao.fuse_modules(model, model.fused)
    model.qconfig = config
    ao.prepare(model, inplace=True)
    calibrate(model, float_model)
    return float_model, ao.convert(model)


def fx(make, config):
    float_model = seeded(make).eval()
    inputs = tuple(samples(float_model, 1, 5))
    model = quantize_fx.prepare_fx(copy.deepcopy(float_model), ao.get_default_qconfig_mapping().set_global(config), inputs)
    calibrate(model, float_model)
    return float_model, quantize_fx.convert_fx(model)


def trained(make, config, convert):
    float_model = seeded(make)
    model = copy.deepcopy(float_model).train()
    if model.fused:
        model = ao.fuse_modules_qat(model, model.fused)
    model.qconfig = config
    ao.prepare_qat(model, inplace=True)
    calibrate(model, float_model)
    model.eval()
    if convert:
        return float_model, ao.convert(model)
    model.apply(ao.disable_observer)
    return float_model, model


def dynamic(make, config):
    float_model = seeded(make).eval()
    return float_model, ao.quantize_dynamic(float_model, {nn.Linear, nn.LSTM}, dtype=config)


def rows():
    for config in CONFIGS:
        yield f"image_eager_{config}", lambda config=config: eager(Image, CONFIGS[config])
        yield f"branches_fx_{config}", lambda config=config: fx(Branches, CONFIGS[config])
    for config in QAT:
        for convert in [True, False]:
            of = "qat" if convert else "fake"
            yield f"image_{of}_{config}", lambda config=config, convert=convert: trained(Image, QAT[config], convert)
    for name, make in PARTS.items():
        yield f"{name}_eager_qnnpack", lambda make=make: eager(make, CONFIGS["qnnpack"])
        yield f"{name}_fx_fbgemm", lambda make=make: fx(make, CONFIGS["fbgemm"])
        yield f"{name}_fake_qnnpack", lambda make=make: trained(make, QAT["qnnpack"], False)
    yield "linear_dynamic_int8", lambda: dynamic(PARTS["linear"], torch.qint8)
    yield "linear_dynamic_float16", lambda: dynamic(PARTS["linear"], torch.float16)
    yield "lstm_dynamic_int8", lambda: dynamic(Recurrent, torch.qint8)


def export(folder, name, make):
    float_model, model = make()
    inputs = samples(float_model, SAMPLES, 11)
    with torch.no_grad():
        outputs = [model(x).numpy() for x in inputs]
    torch.onnx.export(model, inputs[0], str(folder / f"{name}.onnx"), opset_version=13)
    np.savez(folder / f"{name}.npz", inputs=np.stack([x.numpy() for x in inputs]), outputs=np.stack(outputs))
    return {"layers": layers(name, model if "_fake_" in name else float_model)}


def main(folder):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, make in rows():
        # Kernels for which quantized networks are prepared.
        torch.backends.quantized.engine = "qnnpack" if "qnnpack" in name else "onednn"
        try:
            made[name] = export(folder, name, make)
        except Exception as error:
            made[name] = {"error": f"{type(error).__name__}: {' '.join(str(error).splitlines()[:1])}"}
    (folder / "rows.json").write_text(json.dumps(made, indent=1))


main(pathlib.Path(sys.argv[1]))
