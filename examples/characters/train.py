"""Trains the transformer of the characters example on the sentences of this documentation, and exports it next to this script.

The README lists what to install. A sample is 32 one-hot characters, and its label is the next character.
Writes characters_float.onnx, calibration.npz and test.npz (float32, compressed), and test_labels.npy (uint8).
"""

import re
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

SEED = 20
ALPHABET = " abcdefghijklmnopqrstuvwxyz.,:-'"
TOKENS = 32
WIDTH = 48
HIDDEN = 128
HEADS = 4
BLOCKS = 2
STEPS = 2500
BATCH = 32
TEST_SAMPLES = 400
CALIBRATION_SAMPLES = 64
HERE = Path(__file__).resolve().parent


def sentences(page):
    """The prose of a page: no code, tables, links or digits, and letters of one case."""
    text = re.sub(r"```.*?```|<!--.*?-->|^\|.*?$|^!.*?$", " ", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)|https?://\S*", " ", text).lower().replace(";", ",").replace("?", ".")
    return re.sub(r" +", " ", "".join(c if c in ALPHABET else " " for c in text)).replace(" .", ".")


def corpus():
    """Characters of the pages for training, and of every eighth page for tests, as indices into ALPHABET."""
    pages = sorted((HERE / "../../docs").resolve().rglob("*.md"))
    join = lambda pages: np.array([ALPHABET.index(c) for page in pages for c in sentences(page.read_text())], np.int64)
    return join(p for i, p in enumerate(pages) if i % 8 != 3), join(p for i, p in enumerate(pages) if i % 8 == 3)


class Block(nn.Module):
    """Attention over earlier characters and a multilayer perceptron, each with a residual."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.register_buffer("mask", torch.full((TOKENS, TOKENS), -1e4).triu(1))

    def forward(self, x):
        h = self.norm1(x)
        split = lambda y: y.reshape(-1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)
        q, k, v = split(self.query(h)), split(self.key(h)), split(self.value(h))
        p = torch.softmax(q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + self.mask, -1)
        x = x + self.out((p @ v).transpose(1, 2).reshape(-1, TOKENS, WIDTH))
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(len(ALPHABET), WIDTH, bias=False)
        self.place = nn.Parameter(torch.randn(TOKENS, WIDTH) * 0.1)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(ALPHABET))

    def all(self, x):
        """Scores of the next character after each of the characters."""
        return self.head(self.norm(self.blocks(self.embed(x) + self.place)))

    def forward(self, x):
        x = self.blocks(self.embed(x) + self.place)
        return self.head(self.norm(x[:, TOKENS - 1]))


def draw(text, count, rng):
    """`count` samples [n, TOKENS, classes] from places of a text, and the TOKENS next characters of each."""
    starts = rng.integers(0, len(text) - TOKENS - 1, count)
    at = text[starts[:, np.newaxis] + np.arange(TOKENS + 1)]
    return np.eye(len(ALPHABET), dtype=np.float32)[at[:, :-1]], at[:, 1:]


def train(network, text):
    rng = np.random.default_rng(SEED)
    optimizer = torch.optim.AdamW(network.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=STEPS)
    loss_of = nn.CrossEntropyLoss()
    network.train()
    mean = 0.0
    for step in range(STEPS):
        x, y = (torch.from_numpy(a) for a in draw(text, BATCH, rng))
        loss = loss_of(network.all(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        mean += loss.item() / 500
        if step % 500 == 499:
            print(f"step {step + 1}: loss {mean:.3f}", file=sys.stderr, flush=True)
            mean = 0.0
    network.eval()


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    training, testing = corpus()
    print(f"characters: {len(training)} for training, {len(testing)} for tests")
    network = Network()
    train(network, training)
    print(f"parameters: {sum(p.numel() for p in network.parameters())}")

    test, next_ones = draw(testing, TEST_SAMPLES, np.random.default_rng([SEED, 1]))
    labels = next_ones[:, -1]
    with torch.no_grad():
        logits = network(torch.from_numpy(test))
        loss = nn.functional.cross_entropy(logits, torch.from_numpy(labels)).item()
    print(f"test: {(logits.argmax(1).numpy() == labels).mean():.4f} right, cross entropy {loss:.4f}")

    torch.onnx.export(
        network,
        torch.zeros(1, TOKENS, len(ALPHABET)),
        str(HERE / "characters_float.onnx"),
        opset_version=17,
        input_names=["characters"],
        output_names=["logits"],
    )
    np.savez_compressed(HERE / "test.npz", characters=test)
    np.save(HERE / "test_labels.npy", labels.astype(np.uint8))
    calibration, _ = draw(training, CALIBRATION_SAMPLES, np.random.default_rng([SEED, 2]))
    np.savez_compressed(HERE / "calibration.npz", characters=calibration)


if __name__ == "__main__":
    main()
