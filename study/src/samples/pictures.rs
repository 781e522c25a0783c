//! Folders of PNG pictures as arrays of real values.

use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use guardbit_documents::{Document, Form as DocumentForm};
use guardbit_files::{Digest, FileHasher, npy_header};
use guardbit_graph::Tensor;
use png::{BitDepth, ColorType, Transformations};
use serde::Deserialize;

use crate::StudyError;
use crate::array::ArrayFile;
use crate::error::Wanted;

/// File of a folder that defines the conversion of its pictures to real values.
const STATEMENT: &str = "pictures.yaml";
/// Maximum bytes of this file.
const MOST_BYTES: u64 = 1 << 14;
const FORM: DocumentForm = DocumentForm { name: "a description of pictures", most_bytes: MOST_BYTES };

/// Example of its contents.
const OUTLINE: &str = "e.g. `{layout: nchw, scale: 1/255}`, with `mean: [...]` and `std: [...]` per \
                       channel if the network was trained with them";

/// Conversion of pictures to real values: `(pixel * scale - mean) / std`, with pixels from 0 to 255.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    layout: Layout,
    scale: Scale,
    #[serde(default)]
    mean: Option<Vec<f64>>,
    #[serde(default)]
    std: Option<Vec<f64>>,
}

/// Order of a sample's axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Layout {
    Nchw,
    Nhwc,
}

/// Number, or fraction such as `1/255`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scale {
    Number(f64),
    Fraction(String),
}

impl Scale {
    fn value(&self) -> Option<f64> {
        let value = match self {
            Self::Number(value) => *value,
            Self::Fraction(text) => {
                let (above, below) = text.split_once('/')?;
                above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?
            }
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

/// Size of one picture, and the layout of its values.
struct Form {
    layout: Layout,
    channels: usize,
    height: usize,
    width: usize,
}

impl Form {
    /// Returns the form of an input whose shape fits gray or RGB pictures.
    fn of(tensor: &Tensor, layout: Layout) -> Option<Self> {
        let rest = tensor.ty.shape.strip_prefix(&[1])?;
        let (channels, height, width) = match (layout, rest) {
            (Layout::Nchw, &[channels, height, width]) => (channels, height, width),
            (Layout::Nhwc, &[height, width, channels]) => (channels, height, width),
            _ => return None,
        };
        matches!(channels, 1 | 3).then_some(Self { layout, channels, height, width })
    }

    /// Returns the real values in the input's order.
    fn values(&self, pixels: &[u8], real: &[[f32; 256]]) -> Vec<u8> {
        let places = self.height * self.width;
        let value = |channel: usize, place: usize| {
            real[channel][usize::from(pixels[place * self.channels + channel])].to_le_bytes()
        };
        match self.layout {
            Layout::Nchw => (0..self.channels)
                .flat_map(|channel| (0..places).flat_map(move |place| value(channel, place)))
                .collect(),
            Layout::Nhwc => (0..places)
                .flat_map(|place| (0..self.channels).flat_map(move |channel| value(channel, place)))
                .collect(),
        }
    }
}

/// Returns all PNG files of `folder`, sorted by name, as one float32 array for `tensor`, and the SHA-256 of
/// that array as a `.npy` file. `pictures.yaml` in the folder defines the conversion of pixels to real
/// values. Pictures are read one at a time.
pub(super) fn pictures(folder: &Path, tensor: &Tensor) -> Result<(ArrayFile, Digest), StudyError> {
    let broken = |path: &Path, problem: String| {
        let help = "`guardbit help run` describes samples; a .npy file of float32 values works as well";
        StudyError::Array { path: path.into(), problem, help }
    };
    let unread = |path: &Path, source: io::Error| StudyError::read(path, Wanted::Samples, source);
    let at = folder.join(STATEMENT);
    let text = match guardbit_files::read_text(&at, MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let problem = format!(
                "a folder of pictures needs a file {STATEMENT} that describes how to read them: {OUTLINE}"
            );
            return Err(broken(folder, problem));
        }
        text => text.map_err(|error| unread(&at, error))?,
    };
    let wrong = |problem: String| broken(&at, format!("{problem}; write {OUTLINE}"));
    let statement = Document::new(FORM, STATEMENT, &text).and_then(|document| document.read::<Statement>());
    let statement = statement.map_err(|fault| wrong(fault.in_file()))?;
    let form = Form::of(tensor, statement.layout).ok_or_else(|| {
        wrong(format!(
            "input `{}` of shape {:?} cannot read pictures of this layout",
            tensor.name, tensor.ty.shape
        ))
    })?;
    let real = real_values(&statement, form.channels).map_err(wrong)?;

    let files = png_files(folder).map_err(|error| unread(folder, error))?;
    if files.is_empty() {
        return Err(broken(folder, "the folder contains no .png file".into()));
    }
    let failed = |error: io::Error| broken(folder, error.to_string());
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    let mut out = BufWriter::new(file.as_file_mut());
    let rest = tensor.ty.shape.iter().skip(1).copied();
    let shape: Vec<usize> = std::iter::once(files.len()).chain(rest).collect();
    out.write_all(&npy_header("<f4", &shape)).map_err(failed)?;
    for path in &files {
        let pixels = pixels(path, &form).map_err(|problem| broken(path, problem))?;
        out.write_all(&form.values(&pixels, &real)).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    drop(out);
    let digest = FileHasher::open(file.path()).and_then(FileHasher::finish).map_err(failed)?;
    let opened = fs::File::open(file.path()).map_err(failed)?;
    Ok((ArrayFile::opened(folder, Wanted::Samples, opened), digest))
}

/// Returns the real value of every pixel value, per channel.
fn real_values(statement: &Statement, channels: usize) -> Result<Vec<[f32; 256]>, String> {
    let scale = statement.scale.value().ok_or("`scale` must be a number above 0, or a fraction")?;
    let each = |name: &str, list: &Option<Vec<f64>>, default: f64| match list {
        None => Ok(vec![default; channels]),
        Some(list) if list.len() == channels && list.iter().all(|value| value.is_finite()) => {
            Ok(list.clone())
        }
        Some(list) => {
            Err(format!("`{name}` has {} values, but the input has {channels} channels", list.len()))
        }
    };
    let (mean, std) = (each("mean", &statement.mean, 0.0)?, each("std", &statement.std, 1.0)?);
    if std.contains(&0.0) {
        return Err("`std` must not be 0".into());
    }
    let value = |channel: usize, pixel: usize| ((pixel as f64 * scale - mean[channel]) / std[channel]) as f32;
    Ok((0..channels).map(|channel| std::array::from_fn(|pixel| value(channel, pixel))).collect())
}

/// Returns the PNG files of a folder, sorted by name.
fn png_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")));
    paths.sort();
    Ok(paths)
}

/// Returns the pixels of a picture, row by row with interleaved channels.
fn pixels(path: &Path, form: &Form) -> Result<Vec<u8>, String> {
    let file = guardbit_files::open(path).map_err(|error| error.to_string())?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let info = reader.info();
    let (height, width) = (info.height as usize, info.width as usize);
    if (height, width) != (form.height, form.width) {
        return Err(format!(
            "the picture has {height} x {width} pixels, but the network reads {} x {}",
            form.height, form.width
        ));
    }
    let (color, depth) = reader.output_color_type();
    if depth != BitDepth::Eight {
        return Err("the picture has 16 bits per channel; convert it to 8".into());
    }
    let channels = match color {
        ColorType::Grayscale => 1,
        ColorType::Rgb => 3,
        _ => return Err("the picture has an alpha channel; remove it".into()),
    };
    if channels != form.channels {
        return Err(format!("the picture has {channels} channels, but the network reads {}", form.channels));
    }
    let mut pixels = vec![0; height * width * channels];
    reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use guardbit_frontends::npy::Values;
    use guardbit_graph::{DType, TensorType};

    use super::*;

    /// Folder of pictures with 2 x 2 pixels and 1 or 3 channels; all pixels differ.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new(statement: &str) -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            fs::write(folder.0.path().join(STATEMENT), statement).unwrap();
            folder
        }

        fn add(self, name: &str, color: ColorType, [height, width]: [u32; 2], pixels: &[u8]) -> Self {
            let mut encoder =
                png::Encoder::new(fs::File::create(self.0.path().join(name)).unwrap(), width, height);
            encoder.set_color(color);
            encoder.write_header().unwrap().write_image_data(pixels).unwrap();
            self
        }

        fn read(&self, shape: &[usize]) -> Result<(Vec<usize>, Vec<f32>), String> {
            let ty = TensorType { shape: shape.to_vec(), dtype: DType::Float32, quantization: None };
            let tensor = Tensor { name: "x".into(), ty, constant: None };
            let (mut file, _) = pictures(self.0.path(), &tensor).map_err(|error| error.to_string())?;
            let (array, ()) = file.array(0, |_| Ok(())).unwrap();
            let Values::Float32(values) = array.values().unwrap() else { panic!("real values") };
            Ok((array.shape().to_vec(), values))
        }
    }

    #[test]
    fn pictures_become_real_values() {
        let rgb: Vec<u8> = (0..12).collect();
        let two = |statement: &str| {
            let folder = Folder::new(statement).add("b.png", ColorType::Rgb, [2, 2], &[255; 12]);
            folder.add("a.PNG", ColorType::Rgb, [2, 2], &rgb)
        };
        let expected = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11].map(|value| value as f32 / 255.0);
        let (shape, values) = two("{layout: nchw, scale: 1/255}").read(&[1, 3, 2, 2]).unwrap();
        assert_eq!(shape, [2, 3, 2, 2]);
        assert_eq!(values, [&expected[..], &[1.0; 12]].concat());
        let statement = "layout: nhwc\nscale: 2\nmean: [1, 2, 3]\nstd: [1, 1, 0.5]";
        let (shape, values) = two(statement).read(&[1, 2, 2, 3]).unwrap();
        assert_eq!(shape, [2, 2, 2, 3]);
        assert_eq!(values[..6], [-1.0, 0.0, 2.0, 5.0, 6.0, 14.0]);
        let gray =
            Folder::new("{layout: nhwc, scale: 1}").add("g.png", ColorType::Grayscale, [1, 2], &[7, 9]);
        assert_eq!(gray.read(&[1, 1, 2, 1]).unwrap(), (vec![1, 1, 2, 1], vec![7.0, 9.0]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = "{layout: nchw, scale: 1/255}";
        let check = |folder: Folder, shape: &[usize], problem: &str| {
            let error = folder.read(shape).unwrap_err();
            assert!(error.contains(problem), "{error}");
        };
        for (statement, problem) in [
            ("{layout: nchw}", "missing key `scale`"),
            ("{layout: chw, scale: 1}", "`layout` is `chw`; it must be one of nchw, nhwc"),
            ("{layout: nchw, scale: 0}", "`scale` must be a number above 0"),
            ("{layout: nchw, scale: a/b}", "`scale` must be a number above 0"),
            ("{layout: nchw, scale: 1, mean: [1]}", "`mean` has 1 values, but the input has 3 channels"),
            ("{layout: nchw, scale: 1, std: [1, 0, 1]}", "`std` must not be 0"),
            ("{layout: nchw, scale: 1, size: 2}", "unknown key `size`"),
            (good, "the folder contains no .png file"),
        ] {
            check(Folder::new(statement), &[1, 3, 2, 2], problem);
        }
        let picture = |color, size, pixels: &[u8]| Folder::new(good).add("p.png", color, size, pixels);
        let shape = &[1, 3, 2, 2];
        check(picture(ColorType::Rgb, [2, 1], &[0; 6]), shape, "p.png: the picture has 2 x 1 pixels");
        check(picture(ColorType::Grayscale, [2, 2], &[0; 4]), shape, "the picture has 1 channels");
        check(picture(ColorType::Rgba, [2, 2], &[0; 16]), shape, "has an alpha channel");
        check(picture(ColorType::Rgb, [2, 2], &[0; 12]), &[1, 12], "cannot read pictures of this layout");
        let damaged = picture(ColorType::Rgb, [2, 2], &[0; 12]);
        fs::write(damaged.0.path().join("p.png"), b"no picture").unwrap();
        check(damaged, shape, "p.png: ");
        let unsaid = picture(ColorType::Rgb, [2, 2], &[0; 12]);
        fs::remove_file(unsaid.0.path().join(STATEMENT)).unwrap();
        check(unsaid, shape, "needs a file pictures.yaml");
    }
}
