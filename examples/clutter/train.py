"""Generates the images of the clutter example, trains its network and exports it, all next to this script.

The README lists what to install. Pixels are in [0, 1], and images are NCHW.
Writes clutter_float.onnx (with separate batch normalizations), calibration.npy, test_images.npy (float32) and
test_labels.npy (uint8).
"""

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 20
SIZE = 20
TEST_IMAGES = 1000
CALIBRATION_IMAGES = 256
IMAGES_PER_EPOCH = 8192
EPOCHS = 32
BATCH = 64
HERE = Path(__file__).resolve().parent


class Clutter:
    """Images with one digit among pieces of other digits, from a set of 8x8 digits."""

    PIECES = 4

    def __init__(self, images, labels):
        self.images = images
        self.labels = labels

    def make(self, count, seed):
        """`count` images [n, 1, SIZE, SIZE] in multiples of 1/255, and the label of the digit that is whole."""
        rng = np.random.default_rng(seed)
        chosen = rng.integers(len(self.images), size=count)
        canvas = self.placed(chosen, rng, reach=2.5) * rng.uniform(0.55, 1.0, (count, 1, 1))
        for _ in range(self.PIECES):
            other = self.placed(rng.integers(len(self.images), size=count), rng, reach=5.0)
            canvas = np.maximum(canvas, self.piece(other, rng) * rng.uniform(0.4, 0.9, (count, 1, 1)))
        canvas += rng.normal(0.0, 0.07, canvas.shape)
        pixels = np.rint(np.clip(canvas, 0.0, 1.0) * 255) / 255
        return pixels[:, np.newaxis].astype(np.float32), self.labels[chosen]

    def placed(self, chosen, rng, reach):
        """The chosen digits rotated, sheared, scaled and moved by up to `reach` pixels, on an empty image each."""
        count = len(chosen)
        angle = rng.uniform(-0.45, 0.45, count)
        shear = rng.uniform(-0.25, 0.25, count)
        scale = rng.uniform(1.3, 2.0, (2, count))
        centre = rng.uniform(-reach, reach, (2, count)) + (SIZE - 1) / 2
        grid = np.arange(SIZE)
        y = grid[np.newaxis, :, np.newaxis] - centre[0][:, np.newaxis, np.newaxis]
        x = grid[np.newaxis, np.newaxis, :] - centre[1][:, np.newaxis, np.newaxis]
        cos, sin = (f(angle)[:, np.newaxis, np.newaxis] for f in (np.cos, np.sin))
        rows = (cos * y - sin * x) / scale[0][:, np.newaxis, np.newaxis] + 3.5
        columns = (sin * y + cos * x + shear[:, np.newaxis, np.newaxis] * y) / scale[1][:, np.newaxis, np.newaxis] + 3.5
        return bilinear(self.images[chosen], rows, columns)

    @staticmethod
    def piece(images, rng):
        """One rectangle of each image; the rest is empty."""
        count = len(images)
        mask = np.ones(images.shape, bool)
        for axis in (1, 2):
            shape = [count, 1, 1]
            start = rng.integers(0, SIZE - 5, count).reshape(shape)
            length = rng.integers(4, 8, count).reshape(shape)
            at = np.arange(SIZE).reshape([1, -1, 1] if axis == 1 else [1, 1, -1])
            mask &= (at >= start) & (at < start + length)
        return images * mask


def bilinear(images, rows, columns):
    """Values of images [n, h, w] at real places; 0 outside."""
    padded = np.pad(images, ((0, 0), (1, 2), (1, 2)))
    height, width = images.shape[1:]
    rows = np.clip(rows + 1, 0, height + 1)
    columns = np.clip(columns + 1, 0, width + 1)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = rows - top, columns - left
    n = np.arange(len(images))[:, np.newaxis, np.newaxis]
    upper = padded[n, top, left] * (1 - right) + padded[n, top, left + 1] * right
    lower = padded[n, top + 1, left] * (1 - right) + padded[n, top + 1, left + 1] * right
    return upper * (1 - down) + lower * down


def conv(inputs, outputs, size, stride=1, groups=1, activation=None):
    """Convolution without bias, batch normalization, activation."""
    layers = [
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, linear projection; the input is added where the shape stays."""

    def __init__(self, inputs, hidden, outputs, stride, activation):
        super().__init__()
        self.expand = conv(inputs, hidden, 1, activation=activation)
        self.depthwise = conv(hidden, hidden, 3, stride, groups=hidden, activation=activation)
        self.project = conv(hidden, outputs, 1)
        self.add = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.add else y


class Network(nn.Module):
    """MobileNetV3-like: 54,218 parameters, 1.9 M multiplications per image."""

    def __init__(self):
        super().__init__()
        self.stem = conv(1, 16, 3, activation=nn.Hardswish)
        self.reduce = nn.Sequential(conv(16, 16, 3, 2, groups=16, activation=nn.ReLU), conv(16, 32, 1))
        self.block1 = InvertedResidual(32, 64, 32, 1, nn.ReLU)
        self.block2 = InvertedResidual(32, 96, 48, 2, nn.Hardswish)
        self.block3 = InvertedResidual(48, 144, 48, 1, nn.Hardswish)
        self.block4 = InvertedResidual(48, 144, 48, 1, nn.Hardswish)
        self.head = conv(48, 128, 1, activation=nn.Hardswish)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dense = nn.Linear(128, 10)

    def forward(self, x):
        x = self.reduce(self.stem(x))
        x = self.block4(self.block3(self.block2(self.block1(x))))
        return self.dense(self.pool(self.head(x)).flatten(1))


def sources():
    """The 8x8 digits that training images are made of, and those of test images."""
    digits = load_digits()
    images, labels = digits.images / 16.0, digits.target.astype(np.uint8)
    split = train_test_split(images, labels, test_size=540, stratify=labels, random_state=SEED)
    return Clutter(split[0], split[2]), Clutter(split[1], split[3])


def train(network, training):
    """Fresh images in every epoch."""
    steps = EPOCHS * (IMAGES_PER_EPOCH // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    loss_of = nn.CrossEntropyLoss()
    network.train()
    for epoch in range(EPOCHS):
        images, labels = (torch.from_numpy(a) for a in training.make(IMAGES_PER_EPOCH, [SEED, epoch]))
        total = 0.0
        for at in range(0, IMAGES_PER_EPOCH, BATCH):
            loss = loss_of(network(images[at : at + BATCH]), labels[at : at + BATCH].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch:>2}: loss {total * BATCH / IMAGES_PER_EPOCH:.3f}", file=sys.stderr, flush=True)
    network.eval()


def accuracy(network, images, labels):
    with torch.no_grad():
        logits = network(torch.from_numpy(images))
    return float((logits.argmax(1).numpy() == labels).mean())


def export(network, path):
    """Opset 17, one image; PRESERVE keeps the batch normalizations of a network in evaluation mode."""
    torch.onnx.export(
        network,
        torch.zeros(1, 1, SIZE, SIZE),
        str(path),
        opset_version=17,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        input_names=["image"],
        output_names=["logits"],
    )


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    training, testing = sources()
    test_images, test_labels = testing.make(TEST_IMAGES, [SEED, 1_000_001])
    calibration, _ = training.make(CALIBRATION_IMAGES, [SEED, 1_000_002])

    network = Network()
    train(network, training)
    print(f"parameters:    {sum(p.numel() for p in network.parameters())}")
    print(f"calibration:   {accuracy(network, *training.make(4000, [SEED, 1_000_003])):.4f} of new images of the training digits")
    print(f"test accuracy: {accuracy(network, test_images, test_labels):.4f}")

    export(network, HERE / "clutter_float.onnx")
    np.save(HERE / "test_images.npy", test_images)
    np.save(HERE / "test_labels.npy", test_labels)
    np.save(HERE / "calibration.npy", calibration)


if __name__ == "__main__":
    main()
