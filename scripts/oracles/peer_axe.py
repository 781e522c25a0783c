"""Measures the accuracy of Brevitas' accumulator-aware post-training quantization (AXE) on the network of examples/clutter.

    python scripts/oracles/peer_axe.py OUT.csv [BITS]...

AXE: Colbert et al., "Accumulator-Aware Post-Training Quantization for Large Language Models", TMLR 2025,
arXiv 2409.17092; `brevitas_examples.common.axe`. Needs scripts/requirements/brevitas.txt.

Brevitas folds batch normalizations and equalizes weight ranges. Every convolution and dense layer quantizes its input
(per tensor, any zero point, as in the paper) and its weights (per output channel, symmetric). Biases, additions and
activation functions stay in float. GPTQ or GPFQ corrects the weights so that no input overflows an accumulator of BITS,
and then biases are corrected, all on the calibration samples of the example. `certified` is the width that the
resulting integer weights need for any input codes, computed here from the weights alone.
"""

import csv
import math
import sys
import warnings

import numpy as np
import onnx
import torch
from brevitas.graph.quantize import preprocess_for_quantize
from brevitas_examples.imagenet_classification.ptq import ptq_common
from onnx import numpy_helper

import quantizer_examples

sys.path.insert(0, str(quantizer_examples.EXAMPLES / "clutter"))
from train import Network  # noqa: E402

BATCH = 32


def float_network(path):
    """Returns the network with the weights of the exported file, which have the names that PyTorch gives them."""
    network = Network()
    found = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in onnx.load(path).graph.initializer}
    missing, unexpected = network.load_state_dict(found, strict=False)
    assert not unexpected and all(name.endswith("num_batches_tracked") for name in missing), (missing, unexpected)
    return network.eval()


def batches(images):
    return [(torch.from_numpy(images[at : at + BATCH]), None) for at in range(0, len(images), BATCH)]


def quantized(example, bits, weights, activations, zero_points, method):
    """Returns the network with quantized layers; `bits` None means no bound."""
    samples = batches(example.calibration)
    network = preprocess_for_quantize(
        float_network(example.model),
        trace_model=True,
        equalize_iters=20,
        equalize_merge_bias=True,
        merge_bn=True,
    )
    network = ptq_common.quantize_model(
        network,
        backend="layerwise",
        weight_bit_width=weights,
        act_bit_width=activations,
        bias_bit_width=None,
        layerwise_first_last_bit_width=8,
        weight_quant_granularity="per_channel",
        act_quant_percentile=99.999,
        act_quant_type=zero_points,
        scale_factor_type="float_scale",
        quant_format="int",
    )
    with torch.no_grad():
        network(samples[0][0])
        ptq_common.calibrate(samples, network)
        if method == "gptq":
            ptq_common.apply_gptq(
                samples, network, act_order=True, use_quant_activations=True, create_weight_orig=True,
                max_accumulator_bit_width=bits,
            )
        else:
            ptq_common.apply_gpfq(samples, network, act_order=True, max_accumulator_bit_width=bits)
        ptq_common.apply_bias_correction(samples, network)
    return network


def certified(network, activations, zero_points):
    """Returns the bits of the two's complement accumulator that holds every sum of every layer for any input codes."""
    least, greatest = (0, 2**activations - 1) if zero_points == "asym" else (-(2 ** (activations - 1)), 2 ** (activations - 1) - 1)
    reach = 0
    for layer in network.modules():
        if not isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            continue
        quant = layer.quant_weight()
        codes = torch.round(quant.value / quant.scale).flatten(1).to(torch.int64)
        positive, negative = codes.clamp(min=0).sum(1), -codes.clamp(max=0).sum(1)
        high = positive * greatest - negative * least
        low = positive * least - negative * greatest
        reach = max(reach, int(high.max()) + 1, -int(low.min()))
    return math.ceil(math.log2(max(reach, 1))) + 1


def right(network, example):
    with torch.no_grad():
        logits = np.concatenate([network(images).numpy() for images, _ in batches(example.images)])
    return example.accuracy(logits)


CASES = [
    (weights, activations, "asym", method)
    for weights, activations in [(8, 8), (4, 4), (6, 6), (5, 5)]
    for method in ["gpfq", "gptq"]
]


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    out = open(sys.argv[1], "w", newline="")
    widths = [int(bits) for bits in sys.argv[2:]] or list(range(12, 21))
    write = csv.writer(out, lineterminator="\n").writerow
    write(["network", "weights", "activations", "zero_points", "method", "bits", "certified", "right", "images"])
    example = quantizer_examples.load("clutter")
    for weights, activations, zero_points, method in CASES:
        for bits in widths:
            torch.manual_seed(0)
            network = quantized(example, bits, weights, activations, zero_points, method)
            need = certified(network, activations, zero_points)
            row = [example.name, weights, activations, zero_points, method, bits, need, right(network, example), len(example.images)]
            write(row)
            out.flush()


if __name__ == "__main__":
    main()
