//! The header of NumPy's `.npy` files, as `numpy.save` writes it.

/// The first bytes of every `.npy` file.
pub const NPY_MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Alignment of the first element, in bytes.
const ALIGNED: usize = 64;

/// Returns the header of an array in C order. `descr` is NumPy's name of the element type (`<i4`, `|u1`).
///
/// The shape may have at most 64 axes, NumPy's own limit. Source: format version 1.0, NEP 1 and `numpy.lib.format`.
pub fn npy_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() > 1 { sizes.trim_end_matches(", ") } else { sizes.trim_end() };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let start = NPY_MAGIC.len() + 4;
    // Spaces and a line feed pad the header.
    let length = (start + dict.len() + 1).next_multiple_of(ALIGNED) - start;
    let mut header = [&NPY_MAGIC[..], &[1, 0], &(length as u16).to_le_bytes()].concat();
    header.extend(dict.bytes().chain(std::iter::repeat(b' ')).take(length - 1));
    header.push(b'\n');
    header
}
