"""Exports a layer with every quantizer of `brevitas.quant`: `brevitas_quantizers.py FOLDER`.

Needs scripts/requirements/brevitas.txt. The quantizers are found by name in the package, so that new ones are not
missed. Writes FOLDER/NAME_FORM.onnx in both forms, FOLDER/NAME.npy with inputs, and FOLDER/rows.json. The rows state
per network its number of layers and the number of output codes near a tie, or Brevitas' error.
"""

import json
import pathlib
import re
import sys
import warnings

import brevitas.quant as all_of
import numpy as np
import torch
from brevitas import nn as qnn
from brevitas.export import export_onnx_qcdq, export_qonnx
from brevitas.inject import ExtendedInjector
from torch import nn

SAMPLES = 2
# Number of batches on which ranges are calibrated.
STEPS = 6
FORMS = {"qonnx": export_qonnx, "qcdq": export_onnx_qcdq}
# Parts of quantizers, which are not quantizers themselves.
PARTS = re.compile(r"Base$|Mixin$|Solver$|^None|^ExtendedInjector$|Quant$")
WHOLE = {"Int8AccumulatorAwareWeightQuant", "Int8AccumulatorAwareZeroCenterWeightQuant"}
FLOATS = re.compile(r"^Fp|^MXFloat")


def quantizers():
    kinds = {"weight": [], "act": [], "bias": [], "trunc": []}
    for name in sorted(dir(all_of)):
        it = getattr(all_of, name)
        if not isinstance(it, type(ExtendedInjector)) or PARTS.search(name) and name not in WHOLE:
            continue
        kind = next((kind for kind, word in [("weight", "Weight"), ("bias", "Bias"), ("act", "Act"), ("trunc", "To8bit")] if word in name), None)
        if kind:
            kinds[kind].append(name)
    return kinds


class Layer(nn.Module):
    """Quantizer, convolution, quantizer."""

    def __init__(self, kind, name):
        super().__init__()
        quant = getattr(all_of, name)
        act = quant if kind == "act" else all_of.Int8ActPerTensorFloat
        weight = quant if kind == "weight" else all_of.Int8WeightPerTensorFloat
        options = {"collect_stats_steps": STEPS}
        if "MaxInit" in name:
            options |= dict(min_val=-4.0, max_val=4.0)
        if "PerChannel" in name and kind == "act":
            options |= dict(per_channel_broadcastable_shape=(1, 4, 1, 1), scaling_stats_permute_dims=(1, 0, 2, 3))
        self.into = qnn.QuantIdentity(act_quant=act, return_quant_tensor=True, **options)
        bias = dict(bias_quant=quant) if kind == "bias" else {}
        self.shape = (4, 9) if name.endswith("1d") else (4, 5, 5)
        conv = qnn.QuantConv1d if len(self.shape) == 2 else qnn.QuantConv2d
        if "AccumulatorAware" in name:
            # The weights depend on the codes that the layer itself quantizes.
            bias["input_quant"] = act
        self.conv = conv(4, 4, 3, weight_quant=weight, return_quant_tensor=kind == "trunc", **bias)
        self.out = qnn.QuantIdentity(act_quant=act, return_quant_tensor=False, **options)
        if kind == "trunc":
            # A truncation reads codes of a quantizer; codes of sums have too many bits.
            self.codes = qnn.QuantIdentity(act_quant=act, bit_width=8, return_quant_tensor=True)
            self.out = qnn.TruncAvgPool2d(2, trunc_quant=quant, return_quant_tensor=False, float_to_int_impl_type="floor")

    def forward(self, x):
        x = self.conv(self.into(x))
        return self.out(self.codes(x) if hasattr(self, "codes") else x)


def plain(value):
    return (value.value if hasattr(value, "value") else value).double()


def ties(model, inputs):
    """Returns the number of outputs so close to a tie of two codes that a float32 sum may round either way. The error
    of a sum of n
    products is at most (n + 8) * 2^-24 of the sum of their magnitudes; 8 covers scales, bias and quotient."""
    if not hasattr(model.out, "act_quant") or isinstance(model.out, qnn.TruncAvgPool2d):
        return 0
    count = 0
    convolve = nn.functional.conv1d if len(model.shape) == 2 else nn.functional.conv2d
    for x in inputs:
        made = model.into(x[None])
        codes, weight = plain(made), plain(model.conv.quant_weight(made))
        sums = convolve(codes, weight, model.conv.bias.double())
        most = convolve(codes.abs(), weight.abs(), model.conv.bias.double().abs())
        scale = model.out.act_quant.scale()
        if scale is None:
            continue
        from_tie = (sums / scale.double()).remainder(1).sub(0.5).abs()
        count += int((from_tie <= (weight[0].numel() + 8) * 2.0**-24 * most / scale.double()).sum())
    return count


def export(folder, kind, name):
    torch.manual_seed(len(name))
    model = Layer(kind, name)
    nn.init.normal_(model.conv.bias, 0, 0.2)
    model.train()
    with torch.no_grad():
        for _ in range(STEPS + 2):
            model(torch.randn(2, *model.shape))
    model.eval()
    inputs = torch.randn(SAMPLES, *model.shape)
    with torch.no_grad():
        model(inputs[:1])
        near = ties(model, inputs)
    np.save(folder / f"{kind}_{name}.npy", inputs.numpy())
    made = {}
    for form, write in FORMS.items():
        label = f"{kind}_{name}_{form}"
        try:
            write(model, args=inputs[:1], export_path=str(folder / f"{label}.onnx"), opset_version=13)
            made[label] = {"layers": 0 if FLOATS.match(name) else 1, "ties": near, "inputs": f"{kind}_{name}"}
        except Exception as error:
            made[label] = {"error": said(error)}
    return made


def said(error):
    """Returns the first line of an error, without parts that change from run to run."""
    lines = str(error).strip().splitlines() or [""]
    return re.sub(r"0x[0-9a-f]+|/[\w./-]+/", "", f"{type(error).__name__}: {lines[0]}")[:200]


def main(folder):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for kind, names in quantizers().items():
        for name in names:
            try:
                made |= export(folder, kind, name)
            except Exception as error:
                made[f"{kind}_{name}"] = {"error": said(error)}
    (folder / "rows.json").write_text(json.dumps(made, indent=1))


main(pathlib.Path(sys.argv[1]))
