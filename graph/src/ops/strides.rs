//! Index arithmetic on tensors.

/// Returns the distance between neighbours along each axis of a row-major tensor.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Returns `sum of index[i] * strides[i]` for every index into `shape`, in row-major order.
pub(crate) fn offsets<'a>(shape: &'a [usize], strides: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    let mut index = vec![0; shape.len()];
    let mut offset = 0;
    (0..shape.iter().product()).map(move |_| {
        let current = offset;
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
        current
    })
}

/// Returns `f` of every index into `shape`, in row-major order.
pub(super) fn each_index<T>(shape: &[usize], mut f: impl FnMut(&[usize]) -> T) -> Vec<T> {
    let mut index = vec![0; shape.len()];
    let mut made = Vec::with_capacity(shape.iter().product());
    for _ in 0..shape.iter().product() {
        made.push(f(&index));
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    made
}

/// Returns the flat index of `index` in a tensor with these strides.
pub(super) fn flat(index: impl IntoIterator<Item = usize>, strides: &[usize]) -> usize {
    index.into_iter().zip(strides).map(|(i, stride)| i * stride).sum()
}
