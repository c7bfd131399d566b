//! Pictures as PNG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use crate::Svg;

/// The most pixels of a PNG. A pixel takes four bytes while the picture is drawn.
const MOST_PIXELS: f64 = 64e6;

/// The reason why a picture cannot become a PNG.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PngError {
    /// The scale is not a positive number.
    #[error("{scale} is not a scale: write a number above 0, such as 2")]
    Scale {
        /// The scale.
        scale: f32,
    },
    /// The PNG would have too many pixels.
    #[error("{width}x{height} pixels are too many for a PNG: use a smaller scale, or SVG")]
    TooLarge {
        /// The width in pixels.
        width: u64,
        /// The height in pixels.
        height: u64,
    },
    /// The renderer failed.
    #[error("internal error: the picture cannot be rendered: {message}")]
    Renderer {
        /// What the renderer says.
        message: String,
    },
}

/// The font of all text in a PNG. The fonts of the system are not used, so a PNG is the same on
/// every machine, also on one without any font.
///
/// Hack Regular has Latin, Greek and Cyrillic letters, arrows and signs in 300 KB. All characters
/// are equally wide, as the layout assumes. The crate that ships it has other fonts too, but a
/// program contains only the ones it uses. The licences of Hack (MIT, and that of Bitstream Vera)
/// allow embedding.
static FONT: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_source(Source::Binary(Arc::new(epaint_default_fonts::HACK_REGULAR)));
    fonts.set_monospace_family("Hack");
    Arc::new(fonts)
});

impl Svg {
    /// Returns the picture as a PNG, with `scale` pixels of the PNG for one of the picture. The
    /// theme `auto` gives a light one.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(PngError::Scale { scale });
        }
        let side = |pixels: u32| (f64::from(pixels) * f64::from(scale)).ceil().max(1.0);
        let (width, height) = (side(self.width()), side(self.height()));
        let too_large = PngError::TooLarge {
            width: width as u64,
            height: height as u64,
        };
        if width * height > MOST_PIXELS {
            return Err(too_large);
        }
        let options = Options {
            font_family: "Hack".to_owned(),
            fontdb: Arc::clone(&FONT),
            ..Options::default()
        };
        let failed = |message: String| PngError::Renderer { message };
        let tree =
            Tree::from_str(self.as_str(), &options).map_err(|error| failed(error.to_string()))?;
        let mut pixels = Pixmap::new(width as u32, height as u32).ok_or(too_large)?;
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut pixels.as_mut());
        pixels
            .encode_png()
            .map_err(|error| failed(error.to_string()))
    }
}
