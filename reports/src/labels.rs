//! Names that fit on an axis.

/// Longest short name.
const LENGTH: usize = 20;

/// Last parts of scoped names that say what is done, not where, as TensorFlow and PyTorch write them.
const OPERATIONS: &[&str] = &[
    "Add",
    "AvgPool",
    "BatchNormalization",
    "BiasAdd",
    "Clip",
    "Conv",
    "Conv2D",
    "FusedBatchNormV",
    "Gemm",
    "MatMul",
    "Mul",
    "QuantizeLinear",
    "ReadVariableOp",
    "Relu",
    "Softmax",
    "Squeeze",
    "add",
    "convolution",
    "depthwise",
    "resource",
];

/// Scopes that a converter merged into the layer before them.
const MERGED: &[&str] = &["activation", "batch_normalization", "batchnorm", "bn", "re_lu", "relu"];

/// Names that say nothing.
const EMPTY: &[&str] = &["", "identity", "output", "partitionedcall", "statefulpartitionedcall"];

/// `#3 conv2d_1`: the index, and the short name or, where that says nothing, the operation.
pub fn layer_label(index: usize, name: &str, op: &str) -> String {
    let telling = telling(name);
    let name = if EMPTY.contains(&stem(telling).as_str()) { op } else { telling };
    format!("#{index} {}", cut(name))
}

/// The telling part of a layer's name: `model/activation_1/Relu;model/conv2d_1/BiasAdd` is `conv2d_1`.
pub fn short_name(name: &str) -> String {
    cut(telling(name))
}

fn telling(name: &str) -> &str {
    let scopes: Vec<&str> = name.split(';').filter_map(scope).collect();
    let own = scopes.iter().find(|scope| !MERGED.contains(&stem(scope).as_str()));
    own.or(scopes.first()).copied().unwrap_or(name)
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LENGTH {
        return name.to_owned();
    }
    let kept: String = name.chars().take(LENGTH - 1).collect();
    format!("{kept}…")
}

/// The innermost scope of one path. The outermost of several is the network's own.
fn scope(path: &str) -> Option<&str> {
    let path = path.split(':').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let first = usize::from(parts.len() > 2);
    let own = parts.iter().rposition(|part| !is_operation(part)).unwrap_or(0).max(first);
    parts.get(own).copied()
}

/// `Conv2D1` and `Conv_output_0` are operations, `conv2d_1` is a layer.
fn is_operation(part: &str) -> bool {
    let part = part.strip_suffix("_output_0").unwrap_or(part);
    let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
    OPERATIONS.iter().any(|operation| *operation == part || *operation == name)
}

/// A name in small letters without the numbers that make it unique.
fn stem(name: &str) -> String {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converters_names_are_shortened() {
        let cases = [
            ("conv1", "conv1"),
            ("model/conv2d_1/Relu;model/conv2d_1/BiasAdd", "conv2d_1"),
            (
                "functional_1/activation_1/Relu;functional_1/batch_normalization_1/FusedBatchNormV3;\
                 functional_1/depthwise_conv2d/depthwise;functional_1/conv2d_4/Conv2D",
                "depthwise_conv2d",
            ),
            (
                "model/batch_normalization_2/FusedBatchNormV3;model/conv2d_2/BiasAdd/ReadVariableOp/resource",
                "conv2d_2",
            ),
            ("model/activation_2/Relu;model/add/add", "add"),
            ("model/conv2d/Conv2D", "conv2d"),
            ("model/dense/MatMul;model/dense/BiasAdd", "dense"),
            ("digits_1/conv_1/Relu;digits_1/conv_1/Squeeze1", "conv_1"),
            ("/features/features.0/conv1/Conv_output_0", "conv1"),
            ("StatefulPartitionedCall_1:0", "StatefulPartitioned…"),
            ("relu_1", "relu_1"),
            ("", ""),
        ];
        for (name, short) in cases {
            assert_eq!(short_name(name), short, "{name}");
        }
    }

    #[test]
    fn labels_fall_back_to_the_operation() {
        assert_eq!(layer_label(6, "StatefulPartitionedCall_1:0", "fully_connected"), "#6 fully_connected");
        assert_eq!(layer_label(2, "17", "conv2d"), "#2 conv2d");
        assert_eq!(layer_label(2, "model/conv2d_3/Conv2D", "conv2d"), "#2 conv2d_3");
    }
}
