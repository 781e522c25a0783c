//! Converts SVG to PDF, with text as text in the font that is embedded in guardbit.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use resvg::tiny_skia::{PathSegment, Point, Transform};
use resvg::usvg::{Group, Node, Paint, Path, Text};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::DrawError;
use super::png::{FONT, tree};

/// Points of a pixel.
const POINT: f32 = 0.75;
const FONT_NAME: Name<'_> = Name(b"GBFONT+DejaVuSans");
const SYSTEM: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Returns the PDF file of an SVG document: one page of its size. Equal documents give equal bytes.
///
/// Only what plots draw is converted: lines, areas and text in plain colours.
///
/// # Errors
/// [`DrawError`] if the document cannot be read.
pub fn pdf(svg: &str) -> Result<Vec<u8>, DrawError> {
    let tree = tree(svg)?;
    let font = FontRef::new(FONT)?;
    let metrics = font.metrics(Size::unscaled(), LocationRef::default());
    let mut page =
        Page { content: Content::new(), units: f32::from(metrics.units_per_em), glyphs: BTreeMap::new() };
    let (width, height) = (tree.size().width() * POINT, tree.size().height() * POINT);
    page.content.transform([POINT, 0.0, 0.0, -POINT, 0.0, height]);
    page.group(tree.root());

    let [catalog, pages, sheet, content, type0, cid, descriptor, file, cmap, info] =
        std::array::from_fn(|at| Ref::new(at as i32 + 1));
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([sheet]).count(1);
    let mut written = pdf.page(sheet);
    written.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(content);
    written.resources().fonts().pair(Name(b"F"), type0);
    written.finish();
    pdf.document_info(info).producer(TextStr("guardbit plot"));
    pdf.stream(content, &page.content.finish());

    pdf.type0_font(type0)
        .base_font(FONT_NAME)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(cid)
        .to_unicode(cmap);
    // PDF has a thousand units per em.
    let scaled = |length: f32| length * 1000.0 / page.units;
    let advances = font.glyph_metrics(Size::unscaled(), LocationRef::default());
    let mut written = pdf.cid_font(cid);
    written.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(SYSTEM).font_descriptor(descriptor);
    written.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = written.widths();
    for &glyph in page.glyphs.keys() {
        let width = advances.advance_width(GlyphId::from(glyph)).unwrap_or_default();
        widths.consecutive(glyph, [scaled(width)]);
    }
    widths.finish();
    written.finish();
    let bounds = metrics.bounds.unwrap_or_default();
    let corners = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
    pdf.font_descriptor(descriptor)
        .name(FONT_NAME)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(corners[0], corners[1], corners[2], corners[3]))
        .italic_angle(0.0)
        .ascent(scaled(metrics.ascent))
        .descent(scaled(metrics.descent))
        .cap_height(scaled(metrics.cap_height.unwrap_or(metrics.ascent)))
        .stem_v(80.0)
        .font_file2(file);
    pdf.stream(file, FONT).pair(Name(b"Length1"), FONT.len() as i32);
    let mut unicode = UnicodeCmap::new(Name(b"Glyphs"), SYSTEM);
    for (&glyph, text) in &page.glyphs {
        unicode.pair_with_multiple(glyph, text.chars());
    }
    pdf.cmap(cmap, &unicode.finish());
    Ok(pdf.finish())
}

/// Page that is being written.
struct Page {
    content: Content,
    /// Units of the font per em.
    units: f32,
    /// Glyphs that the page has, each with its text.
    glyphs: BTreeMap<u16, String>,
}

impl Page {
    fn group(&mut self, group: &Group) {
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group),
                Node::Path(path) => self.path(path),
                Node::Text(text) => self.text(text),
                Node::Image(_) => {}
            }
        }
    }

    fn path(&mut self, path: &Path) {
        let Some(data) = path.data().clone().transform(path.abs_transform()) else { return };
        let fill = path.fill().and_then(|fill| color(fill.paint()));
        let stroke = path.stroke().and_then(|stroke| Some((stroke, color(stroke.paint())?)));
        if let Some([red, green, blue]) = fill {
            self.content.set_fill_rgb(red, green, blue);
        }
        if let Some((stroke, [red, green, blue])) = stroke {
            let dashes = stroke.dasharray().unwrap_or_default();
            self.content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width().get());
            self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
        let mut from = Point::zero();
        for segment in data.segments() {
            match segment {
                PathSegment::MoveTo(to) => self.content.move_to(to.x, to.y),
                PathSegment::LineTo(to) => self.content.line_to(to.x, to.y),
                PathSegment::QuadTo(by, to) => {
                    // A quadratic curve as a cubic one.
                    let [a, b] = [from, to].map(|end| {
                        Point::from_xy(end.x + (by.x - end.x) / 1.5, end.y + (by.y - end.y) / 1.5)
                    });
                    self.content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y)
                }
                PathSegment::CubicTo(a, b, to) => self.content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
                PathSegment::Close => self.content.close_path(),
            };
            from = match segment {
                PathSegment::MoveTo(to) | PathSegment::LineTo(to) => to,
                PathSegment::QuadTo(_, to) | PathSegment::CubicTo(_, _, to) => to,
                PathSegment::Close => from,
            };
        }
        match (fill, stroke) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
    }

    /// Writes every glyph at its own place.
    fn text(&mut self, text: &Text) {
        self.content.begin_text().set_font(Name(b"F"), self.units);
        for span in text.layouted() {
            if let Some([red, green, blue]) = span.fill.as_ref().and_then(|fill| color(fill.paint())) {
                self.content.set_fill_rgb(red, green, blue);
            }
            for glyph in &span.positioned_glyphs {
                let Transform { sx, kx, ky, sy, tx, ty } =
                    text.abs_transform().pre_concat(glyph.outline_transform());
                let id = glyph.id.0 as u16;
                self.content.set_text_matrix([sx, ky, kx, sy, tx, ty]).show(Str(&id.to_be_bytes()));
                self.glyphs.entry(id).or_insert_with(|| glyph.text.clone());
            }
        }
        self.content.end_text();
    }
}

/// Returns the shares of red, green and blue of a plain colour.
fn color(paint: &Paint) -> Option<[f32; 3]> {
    match paint {
        Paint::Color(color) => Some([color.red, color.green, color.blue].map(|part| f32::from(part) / 255.0)),
        _ => None,
    }
}
