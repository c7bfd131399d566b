//! The look of pictures: palettes, themes and sizes.

use std::fmt;
use std::str::FromStr;

use batt_arc::render::PALETTE;

use crate::svg::MARGIN;

/// The look of a picture.
///
/// ```
/// use batt_picture::{Palette, PictureStyle, Theme};
///
/// let style = PictureStyle {
///     palette: "colour-blind".parse()?,
///     theme: Theme::Dark,
///     ..PictureStyle::default()
/// };
/// assert_eq!(style.palette, Palette::ColourBlind);
/// # Ok::<(), batt_picture::UnknownStyle>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PictureStyle {
    /// The colours of cells.
    pub palette: Palette,
    /// The colours around the cells.
    pub theme: Theme,
    /// The side of a cell in pixels. `None` chooses one that suits the grids.
    pub cell: Option<u32>,
    /// The width in pixels at which pictures wrap into rows. A picture is only wider if one of its
    /// parts is.
    pub width: u32,
}

impl Default for PictureStyle {
    /// The official colours, light or dark as the reader prefers, at most 960 pixels wide.
    fn default() -> PictureStyle {
        PictureStyle {
            palette: Palette::Official,
            theme: Theme::Auto,
            cell: None,
            width: 960,
        }
    }
}

impl PictureStyle {
    /// The side of a cell for parts of these widths and heights in cells, of which the longest
    /// row should take no more than `room` pixels: as large as `most` if possible, but at least
    /// `least`.
    pub(crate) fn cell_in(&self, cells: usize, room: u32, least: u32, most: u32) -> u32 {
        match self.cell {
            Some(side) => side.clamp(1, 100),
            None => (room / cells.max(1) as u32).clamp(least, most),
        }
    }

    /// The width at which to wrap, without the margins.
    pub(crate) fn room(&self) -> u32 {
        self.width.clamp(200, 20_000) - 2 * MARGIN
    }
}

/// The ten colours of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Palette {
    /// Those of the official ARC testing interface.
    #[default]
    Official,
    /// Those of arcprize.org.
    ArcPrize,
    /// Colours that stay distinct with any kind of colour blindness. They keep their names: 2 is a
    /// red, 3 a green. Neighbouring hues differ in lightness.
    ColourBlind,
}

/// The colours that arcprize.org uses.
const ARC_PRIZE: [[u8; 3]; 10] = [
    [0x00, 0x00, 0x00],
    [0x1e, 0x93, 0xff],
    [0xf9, 0x3c, 0x31],
    [0x4f, 0xcc, 0x30],
    [0xff, 0xdc, 0x00],
    [0x99, 0x99, 0x99],
    [0xe5, 0x3a, 0xa3],
    [0xff, 0x85, 0x1b],
    [0x88, 0xd8, 0xf1],
    [0x92, 0x12, 0x31],
];

/// Found by a search that kept each hue near its official one and maximised the smallest distance
/// between two colours, for normal sight and for the three kinds of dichromacy. The tests measure
/// the distances.
const COLOUR_BLIND: [[u8; 3]; 10] = [
    [0x00, 0x00, 0x00], // black
    [0x1c, 0x3c, 0x88], // dark blue
    [0xb9, 0x16, 0x23], // red
    [0x4b, 0xd4, 0x9c], // sea green
    [0xfb, 0xe2, 0x20], // yellow
    [0x89, 0x8e, 0x94], // grey
    [0xef, 0x85, 0xfd], // light magenta
    [0xea, 0x6e, 0x04], // orange
    [0xbc, 0xfa, 0xfe], // pale blue
    [0x47, 0x17, 0x18], // maroon
];

impl Palette {
    /// All palettes.
    pub const ALL: [Palette; 3] = [Palette::Official, Palette::ArcPrize, Palette::ColourBlind];

    /// Returns the colours as red, green and blue, by cell value.
    pub fn colors(self) -> &'static [[u8; 3]; 10] {
        match self {
            Palette::Official => &PALETTE,
            Palette::ArcPrize => &ARC_PRIZE,
            Palette::ColourBlind => &COLOUR_BLIND,
        }
    }

    /// Returns the name: `official`, `arcprize` or `colour-blind`.
    pub fn name(self) -> &'static str {
        match self {
            Palette::Official => "official",
            Palette::ArcPrize => "arcprize",
            Palette::ColourBlind => "colour-blind",
        }
    }
}

/// The colours of the page, of text and of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark text on white.
    Light,
    /// Light text on nearly black.
    Dark,
    /// Light or dark, as the reader's system prefers. A PNG cannot ask, so it is light.
    #[default]
    Auto,
}

impl Theme {
    /// All themes.
    pub const ALL: [Theme; 3] = [Theme::Light, Theme::Dark, Theme::Auto];

    /// Returns the name: `light`, `dark` or `auto`.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Auto => "auto",
        }
    }
}

/// The error for a text that names no palette or theme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a {what}: write {choices}")]
pub struct UnknownStyle {
    text: String,
    what: &'static str,
    choices: &'static str,
}

impl FromStr for Palette {
    type Err = UnknownStyle;

    /// Reads a name; spellings such as `colorblind` count too.
    fn from_str(text: &str) -> Result<Palette, UnknownStyle> {
        let plain = text.to_ascii_lowercase().replace("color", "colour");
        let plain = plain.replace(['-', '_', ' '], "");
        let found = Palette::ALL
            .into_iter()
            .find(|palette| palette.name().replace('-', "") == plain);
        found.ok_or_else(|| UnknownStyle {
            text: text.to_owned(),
            what: "palette",
            choices: "official, arcprize or colour-blind",
        })
    }
}

impl FromStr for Theme {
    type Err = UnknownStyle;

    fn from_str(text: &str) -> Result<Theme, UnknownStyle> {
        let plain = text.to_ascii_lowercase();
        let found = Theme::ALL.into_iter().find(|theme| theme.name() == plain);
        found.ok_or_else(|| UnknownStyle {
            text: text.to_owned(),
            what: "theme",
            choices: "light, dark or auto",
        })
    }
}

impl fmt::Display for Palette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A colour of the theme, by its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ink {
    /// The background.
    Page,
    /// The background of a framed part.
    Panel,
    /// Names and values.
    Text,
    /// Sizes, places and other details.
    Dim,
    /// Frames, rules and the lines of cells that are not there.
    Line,
    /// Equal cells of a difference, and dots for cells that are not there.
    Quiet,
    /// Right answers.
    Good,
    /// Wrong answers and errors.
    Bad,
    /// Words of Python in a source text.
    Keyword,
    /// Called functions in a source text.
    Call,
    /// Numbers and constants in a source text.
    Constant,
}

impl Ink {
    /// The name in the classes of the theme `auto`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ink::Page => "page",
            Ink::Panel => "panel",
            Ink::Text => "text",
            Ink::Dim => "dim",
            Ink::Line => "line",
            Ink::Quiet => "quiet",
            Ink::Good => "good",
            Ink::Bad => "bad",
            Ink::Keyword => "keyword",
            Ink::Call => "call",
            Ink::Constant => "constant",
        }
    }

    /// The colour on a light page.
    pub(crate) fn light(self) -> &'static str {
        match self {
            Ink::Page => "#ffffff",
            Ink::Panel => "#f6f8fa",
            Ink::Text => "#1f2328",
            Ink::Dim => "#59636e",
            Ink::Line => "#d1d9e0",
            Ink::Quiet => "#dfe4e9",
            Ink::Good => "#1a7f37",
            Ink::Bad => "#cf222e",
            Ink::Keyword => "#8250df",
            Ink::Call => "#0550ae",
            Ink::Constant => "#953800",
        }
    }

    /// The colour on a dark page.
    pub(crate) fn dark(self) -> &'static str {
        match self {
            Ink::Page => "#0d1117",
            Ink::Panel => "#161b22",
            Ink::Text => "#e6edf3",
            Ink::Dim => "#9198a1",
            Ink::Line => "#3d444d",
            Ink::Quiet => "#2a313b",
            Ink::Good => "#3fb950",
            Ink::Bad => "#f85149",
            Ink::Keyword => "#d2a8ff",
            Ink::Call => "#79c0ff",
            Ink::Constant => "#ffa657",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];
    type Matrix = [Rgb; 3];

    fn times(matrix: &Matrix, v: Rgb) -> Rgb {
        matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    /// Converts a colour from sRGB to linear light.
    fn linear(color: [u8; 3]) -> Rgb {
        color.map(|byte| match f64::from(byte) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        })
    }

    /// Converts linear light to Oklab, in which distances match what people see.
    fn oklab(light: Rgb) -> Rgb {
        const CONES: Matrix = [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ];
        const LAB: Matrix = [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ];
        times(&LAB, times(&CONES, light).map(f64::cbrt))
    }

    /// How people with a kind of sight see linear light: Machado, Oliveira and Fernandes (2009),
    /// complete dichromacy.
    const SIGHTS: [(&str, Matrix); 4] = [
        (
            "normal",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    /// The smallest distance between two colours of a palette.
    fn closest(palette: Palette, sight: &Matrix) -> f64 {
        let seen = palette
            .colors()
            .map(|color| oklab(times(sight, linear(color)).map(|light| light.clamp(0.0, 1.0))));
        let mut least = f64::INFINITY;
        for (k, a) in seen.iter().enumerate() {
            for b in &seen[..k] {
                let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                least = least.min(squares.sqrt());
            }
        }
        least
    }

    #[test]
    fn colour_blind_people_can_tell_the_colours_apart() {
        for (name, sight) in &SIGHTS {
            let (ours, official) = (
                closest(Palette::ColourBlind, sight),
                closest(Palette::Official, sight),
            );
            assert!(ours > 0.13, "{name}: {ours}");
            assert!(
                ours > official,
                "{name}: {ours}, the official one {official}"
            );
        }
        // The measure finds the problem that the palette is for.
        assert!(closest(Palette::Official, &SIGHTS[2].1) < 0.05);
    }

    fn luminance(hex: &str) -> f64 {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let [r, g, b] = linear([byte(1), byte(3), byte(5)]);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn text_has_enough_contrast() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
            a.max(b) / a.min(b)
        };
        let inks = [
            Ink::Text,
            Ink::Dim,
            Ink::Good,
            Ink::Bad,
            Ink::Keyword,
            Ink::Call,
            Ink::Constant,
        ];
        for ink in inks {
            for page in [Ink::Page, Ink::Panel] {
                // The accessibility guidelines of the web ask for 4.5.
                assert!(contrast(ink.light(), page.light()) >= 4.5, "{ink:?}, light");
                assert!(contrast(ink.dark(), page.dark()) >= 4.5, "{ink:?}, dark");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for palette in Palette::ALL {
            assert_eq!(palette.name().parse(), Ok(palette));
        }
        for theme in Theme::ALL {
            assert_eq!(theme.name().parse(), Ok(theme));
        }
        for text in ["colourblind", "color-blind", "ColorBlind"] {
            assert_eq!(text.parse(), Ok(Palette::ColourBlind));
        }
        let error = "grey".parse::<Palette>().unwrap_err().to_string();
        assert!(
            error.ends_with("write official, arcprize or colour-blind"),
            "{error}"
        );
    }
}
