"""Creates networks with 16-bit activations and 8-bit weights by TensorFlow's converter: `make_tensorflow_networks.py
FOLDER`.

Needs scripts/requirements/tensorflow.txt in a separate environment (1.6 GB). Their results in LiteRT and TensorFlow
Lite Micro are recorded by the oracle's Python:

    python scripts/oracles/make_tflite_oracle.py frontends/tests/data/tflite_tensorflow.json --files FOLDER/*.tflite
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
SHAPE = (10, 9, 2)


def convolutional():
    x = image = tf.keras.Input(SHAPE, batch_size=1)
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(x)
    x = layers.ReLU()(layers.Add()([x, layers.DepthwiseConv2D(3, padding="same")(x)]))
    x = layers.MaxPooling2D(2)(x)
    x = layers.AveragePooling2D((2, 1))(layers.Conv2D(4, (2, 3), strides=2)(x))
    x = layers.Dense(7, activation="tanh")(layers.Flatten()(x))
    return tf.keras.Model(image, layers.Softmax()(layers.Dense(5)(x)))


def converted(model, seed):
    rng = np.random.default_rng(seed)
    samples = [rng.normal(0, 1, (1, *SHAPE)).astype(np.float32) for _ in range(40)]
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    ]
    converter.inference_input_type = converter.inference_output_type = tf.int16
    return converter.convert()


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for seed in range(2):
    tf.keras.utils.set_random_seed(seed)
    (folder / f"convolutional_int16x8_{seed}.tflite").write_bytes(converted(convolutional(), seed))
