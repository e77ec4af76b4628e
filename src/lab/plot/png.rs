//! SVG to PNG with the bundled font alone.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, FontResolver, fontdb};
use std::sync::Arc;

/// Roboto Regular, unmodified; its licence is [`FONT_LICENCE`].
pub const FONT: &[u8] = include_bytes!("font/Roboto-Regular.ttf");

/// The licence of [`FONT`], Apache-2.0.
pub const FONT_LICENCE: &str = include_str!("font/LICENSE.txt");

/// Pixels of the PNG for one of the SVG, so that it stays sharp on dense screens.
pub const PNG_SCALE: u16 = 2;

/// More pixels than this are refused; the largest picture drawn here has about a quarter.
const MOST_PIXELS: u64 = 100_000_000;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The text is not SVG.
    #[error("the picture is not readable as SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture is larger than is drawn.
    #[error("the picture is {width} x {height} pixels, more than the limit of {MOST_PIXELS} in all")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The picture was drawn and could not be packed.
    #[error("the picture could not be encoded: {0}")]
    Encode(String),
}

/// Renders SVG text as a PNG of [`PNG_SCALE`] times its size, with no font but the bundled one.
///
/// Any family asked for is answered with that font, so that no text is ever missing.
///
/// # Errors
/// The text is not SVG, its size is beyond the limit, or encoding failed.
///
/// ```
/// let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="4"><rect width="8" height="4"/></svg>"#;
/// assert!(flyball::lab::plot::png(svg)?.starts_with(b"\x89PNG"));
/// # Ok::<(), flyball::lab::plot::PngError>(())
/// ```
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let tree = usvg::Tree::from_str(svg, &options())?;
    let scale = f32::from(PNG_SCALE);
    let (width, height) = {
        let size = tree.size().to_int_size();
        (size.width().saturating_mul(u32::from(PNG_SCALE)), size.height().saturating_mul(u32::from(PNG_SCALE)))
    };
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(PngError::Size { width, height });
    }
    let mut page = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut page.as_mut());
    page.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

/// Options that know one font and use it for everything.
fn options() -> usvg::Options<'static> {
    let mut fonts = fontdb::Database::new();
    let known = fonts.load_font_source(fontdb::Source::Binary(Arc::new(FONT)));
    let only = known.first().copied();
    usvg::Options {
        font_resolver: FontResolver {
            select_font: Box::new(move |_, _| only),
            select_fallback: FontResolver::default_fallback_selector(),
        },
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::plot::text;

    #[test]
    fn the_table_of_widths_is_that_of_the_font() {
        let all: String = (' '..='~').collect();
        for text in ["0123456789", "The quick brown fox", "±≥·", &all] {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"20\"><text x=\"0\" y=\"15\" \
                 font-size=\"10\" font-family=\"Roboto\" style=\"font-kerning:none\">{}</text></svg>",
                text::escape(text)
            );
            let tree = usvg::Tree::from_str(&svg, &options()).unwrap();
            let drawn = f64::from(tree.root().bounding_box().width());
            let told = text::width(text, 10.0);
            assert!((drawn - told).abs() < 0.02 * told + 0.8, "{text}: drawn {drawn}, told {told}");
        }
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        assert!(matches!(png("no picture"), Err(PngError::Svg(_))));
        let huge = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90000\" height=\"90000\"/>";
        assert!(matches!(png(huge), Err(PngError::Size { .. })));
    }
}
