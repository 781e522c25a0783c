//! Archives of arrays.

use std::io::Cursor;

use guardbit_graph::{DType, word_of};
use guardbit_reports::{NpzError, NpzWriter, ReportError, batch_shape, member_name};
use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{NpzReader, ReadableElement};

const NAME: &str = "exact//model/conv2d_1/Relu;model/conv2d_1/BiasAdd:0";

fn write(
    add: impl Fn(&mut NpzWriter<Cursor<Vec<u8>>>) -> Result<(), ReportError>,
) -> Result<Vec<u8>, ReportError> {
    let mut npz = NpzWriter::new(Cursor::new(Vec::new()));
    add(&mut npz)?;
    Ok(npz.finish()?.into_inner())
}

fn read<T: ReadableElement>(bytes: &[u8], name: &str) -> ArrayD<T> {
    let mut npz = NpzReader::new(Cursor::new(bytes)).unwrap();
    npz.by_name::<ndarray::OwnedRepr<T>, IxDyn>(&format!("{name}.npy")).unwrap()
}

fn array<T>(shape: &[usize], elements: Vec<T>) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(shape), elements).unwrap()
}

#[test]
fn every_dtype_comes_back() {
    let dtypes = DType::ALL.map(|dtype| (dtype, dtype.min(), dtype.max()));
    let bytes = write(|npz| {
        dtypes.iter().try_for_each(|&(dtype, min, max)| npz.add(dtype.name(), dtype, &[1, 2], [min, max]))
    });
    let bytes = bytes.unwrap();
    assert_eq!(read::<i8>(&bytes, "int4"), array(&[1, 2], vec![-8, 7]));
    assert_eq!(read::<u8>(&bytes, "uint4"), array(&[1, 2], vec![0, 15]));
    assert_eq!(read::<i8>(&bytes, "int8"), array(&[1, 2], vec![-128, 127]));
    assert_eq!(read::<u8>(&bytes, "uint8"), array(&[1, 2], vec![0, 255]));
    assert_eq!(read::<i16>(&bytes, "int16"), array(&[1, 2], vec![-32_768, 32_767]));
    assert_eq!(read::<u16>(&bytes, "uint16"), array(&[1, 2], vec![0, 65_535]));
    assert_eq!(read::<i32>(&bytes, "int32"), array(&[1, 2], vec![i32::MIN, i32::MAX]));
    let words = write(|npz| npz.add("x", DType::Float32, &[2], [0.5f32, -0.0].map(word_of))).unwrap();
    assert_eq!(read::<f32>(&words, "x"), array(&[2], vec![0.5, -0.0]));
}

#[test]
fn samples_lie_along_the_first_axis() {
    assert_eq!(batch_shape(&[1, 4, 4, 3], 5), [5, 4, 4, 3]);
    assert_eq!(batch_shape(&[1, 10], 1), [1, 10]);
    assert_eq!(batch_shape(&[2, 3], 5), [5, 2, 3]);
    assert_eq!(batch_shape(&[1], 5), [5]);
    assert_eq!(batch_shape(&[], 5), [5]);
    let samples = [[1, 2, 3], [4, 5, 6]];
    let shape = batch_shape(&[1, 3], samples.len());
    let bytes = write(|npz| npz.add(NAME, DType::Int8, &shape, samples.as_flattened().iter().copied()));
    assert_eq!(read::<i8>(&bytes.unwrap(), NAME), array(&[2, 3], vec![1, 2, 3, 4, 5, 6]));
}

#[test]
fn equal_arrays_make_equal_bytes() {
    let make = || write(|npz| npz.add(NAME, DType::Int16, &[2, 500], (0..1000).map(|i| i % 7))).unwrap();
    let bytes = make();
    assert_eq!(bytes, make());
    assert!(bytes.len() < 1000, "compressed");
}

/// The way in which the codes of an array are divided into pieces does not affect the bytes.
#[test]
fn pieces_make_the_bytes_of_the_whole() {
    let codes: Vec<i32> = (0..300_000).map(|i| i % 1009 * i % 251).collect();
    let whole = write(|npz| npz.add(NAME, DType::Int16, &[300, 1000], codes.iter().copied())).unwrap();
    for piece in [1, 77, 4096, 100_000] {
        let pieces = write(|npz| {
            let mut array = npz.begin(NAME, DType::Int16, &[300, 1000])?;
            codes.chunks(piece).try_for_each(|piece| array.write(piece))?;
            array.end()
        });
        assert!(pieces.unwrap() == whole, "pieces of {piece}");
    }
}

#[test]
fn codes_that_do_not_fit_are_errors() {
    let source = |codes: Vec<i32>| match write(|npz| npz.add("x", DType::Int4, &[2], codes.clone())) {
        Err(ReportError::Npz { array, source }) => {
            assert_eq!(array, "x");
            source
        }
        other => panic!("{other:?}"),
    };
    assert!(matches!(source(vec![0, 8]), NpzError::Code { code: 8, index: 1, dtype: DType::Int4 }));
    assert!(matches!(source(vec![0]), NpzError::Count { expected: 2, found: 1, .. }));
    let twice = write(|npz| {
        npz.add("x", DType::Int8, &[0], [])?;
        npz.add("x", DType::Int8, &[0], [])
    });
    assert!(matches!(twice, Err(ReportError::Npz { source: NpzError::Zip(_), .. })));
}

/// Returns the array name that an archive member stands for. Decoding the escapes shows that distinct names
/// have distinct members.
fn name_of(member: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = member.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(&rest[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn members_have_plain_names() {
    for (name, expected) in [
        (NAME, NAME),
        ("exact//features/0/Conv_output_0", "exact//features/0/Conv_output_0"),
        ("a.b..c/.d", "a.b..c/.d"),
        ("../../x", "%2E./%2E./x"),
        ("exact/../x", "exact/%2E./x"),
        ("a/.", "a/%2E"),
        ("/etc/x", "%2Fetc/x"),
        ("C:x", "C%3Ax"),
        ("a\\b", "a%5Cb"),
        ("100%", "100%25"),
        ("\u{1b}[2J\u{9b}", "%1B[2J%C2%9B"),
        ("x.npy", "x%2Enpy"),
        ("é雪", "é雪"),
    ] {
        assert_eq!(member_name(name), expected);
        assert_eq!(name_of(expected), name);
    }
}

/// Tests every name of up to five of the characters that are escaped.
#[test]
fn members_tell_names_apart() {
    let parts = ["", "a", "/", ".", "..", ":", "%", "\\", "\u{1}", ".npy", "é"];
    let mut seen = std::collections::HashMap::new();
    for index in 0..parts.len().pow(5) {
        let name: String = (0..5).map(|place| parts[index / parts.len().pow(place) % parts.len()]).collect();
        let member = member_name(&name);
        assert_eq!(name_of(&member), name);
        assert!(!member.starts_with('/') && (!member.ends_with(".npy") || member == ".npy"), "{member}");
        assert!(member.split('/').all(|step| step != "." && step != ".."), "{member}");
        assert!(!member.contains(|c: char| c.is_control() || c == '\\'), "{member:?}");
        assert_eq!(seen.entry(member).or_insert(name.clone()), &name);
    }
}
