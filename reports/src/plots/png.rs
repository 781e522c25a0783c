//! Converts SVG to PNG with the font that is embedded in guardbit.

use std::sync::{Arc, OnceLock};

use png::{BitDepth, ColorType, Encoder, EncodingError, Filter, PixelDimensions, Unit};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::DrawError;

/// DejaVu Sans, reduced to the characters that plots use; see `assets/README.md`.
pub(super) const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Greatest number of pixels of a picture, which then takes 32 MiB while it is drawn.
const MOST_PIXELS: f32 = 8e6;

/// Pixels of an SVG document per inch.
const PIXELS_PER_INCH: f32 = 96.0;

/// Returns the PNG file of an SVG document at `dpi` dots per inch, where the document has 96 pixels per inch,
/// or at fewer dots if it would otherwise have more than eight million. The file states them.
///
/// # Errors
/// [`DrawError`] if the document cannot be read or has no size.
pub fn png(svg: &str, dpi: u32) -> Result<Vec<u8>, DrawError> {
    let tree = tree(svg)?;
    let scale = dpi as f32 / PIXELS_PER_INCH;
    let most = MOST_PIXELS / (tree.size().width() * tree.size().height());
    let scale = scale.min(most.sqrt());
    let size = tree.size().to_int_size().scale_by(scale);
    let pixmap = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixmap = pixmap.ok_or_else(|| DrawError::new("the picture has no size"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(encode(pixmap, scale * PIXELS_PER_INCH)?)
}

/// Encodes the picture with the "up" filter. Most rows of a plot equal the row above, so the filter leaves
/// zeros, and it takes a fraction of the time of trying every filter on every row.
fn encode(pixmap: Pixmap, dpi: f32) -> Result<Vec<u8>, EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_filter(Filter::Up);
    let per_meter = (dpi / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_meter, yppu: per_meter, unit: Unit::Meter }));
    encoder.add_text_chunk("Software".into(), "guardbit plot".into())?;
    encoder.write_header()?.write_image_data(&pixmap.take_demultiplied())?;
    Ok(file)
}

/// Reads an SVG document with the embedded font.
pub(super) fn tree(svg: &str) -> Result<Tree, DrawError> {
    let options = Options { font_family: "DejaVu Sans".into(), fontdb: fonts(), ..Options::default() };
    Ok(Tree::from_str(svg, &options)?)
}

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    };
    Arc::clone(FONTS.get_or_init(load))
}
