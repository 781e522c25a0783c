//! SVG to PNG with the font that comes with guardbit.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::DrawError;

/// DejaVu Sans, cut down to what plots use; see `assets/README.md`.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// The PNG file of an SVG document, `scale` times its size.
///
/// # Errors
/// [`DrawError`] if the document cannot be read or has no size.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, DrawError> {
    let options = Options { font_family: "DejaVu Sans".into(), fontdb: fonts(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size().scale_by(scale);
    let pixmap = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixmap = pixmap.ok_or_else(|| DrawError::new("the picture has no size"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(pixmap.encode_png()?)
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
