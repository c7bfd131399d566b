//! The text of a picture, and the pen that writes it.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::ops::Range;

use batt_arc::text::escaped;

use crate::layout::Block;
use crate::style::{Ink, PictureStyle, Theme};

/// The fonts of all text, from the best to the generic one. All characters of these are equally
/// wide, so the size of a text is known without the font.
const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// The blank border of a picture.
pub(crate) const MARGIN: u32 = 12;

/// What the names of classes begin with. Every picture has the same rules for them, so pictures in
/// one HTML page do not disturb each other.
const CLASS: &str = "batt-auto";

/// A picture as SVG text, with its size in pixels.
///
/// It has no ids, no scripts, and refers to nothing outside. It can stand alone in a file or inline
/// in HTML, also many times in one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Svg {
    text: String,
    width: u32,
    height: u32,
    /// The part of the text between the background and the end.
    body: Range<usize>,
    uses: BTreeSet<(Role, Ink)>,
}

/// What a colour of the theme is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Fill,
    Stroke,
}

impl Role {
    /// The name of the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Role::Fill => "fill",
            Role::Stroke => "stroke",
        }
    }
}

impl Svg {
    /// Draws a block with a margin. `label` describes the picture for people who cannot see it.
    pub(crate) fn of(block: &Block, label: &str, style: &PictureStyle) -> Svg {
        let mut pen = Pen::new(style);
        block.draw(MARGIN, MARGIN, &mut pen);
        let (width, height) = (block.width + 2 * MARGIN, block.height + 2 * MARGIN);
        let page = pen.paint(Role::Fill, Ink::Page);
        let (body, uses) = (pen.out, pen.uses);
        let label = markup(label);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" \
             font-family=\"{FONTS}\">\n<title>{label}</title>\n"
        );
        if style.theme == Theme::Auto {
            text += &style_sheet(&uses);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "<rect width=\"{width}\" height=\"{height}\"{page}/>");
        let start = text.len();
        text += &body;
        let body = start..text.len();
        text += "</svg>\n";
        Svg {
            text,
            width,
            height,
            body,
            uses,
        }
    }

    /// The text, a whole SVG document.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The drawing without the document around it: no margin, no background. With its size.
    pub(crate) fn content(&self) -> (u32, u32) {
        (self.width - 2 * MARGIN, self.height - 2 * MARGIN)
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Svg> for String {
    fn from(svg: Svg) -> String {
        svg.text
    }
}

/// The rules that replace light colours by dark ones. Attributes give the light colours, so a
/// program that ignores the rules draws a light picture.
fn style_sheet(uses: &BTreeSet<(Role, Ink)>) -> String {
    let mut out = String::from("<style>@media (prefers-color-scheme:dark){");
    for (role, ink) in uses {
        let (role, name, dark) = (role.name(), ink.name(), ink.dark());
        let _ = write!(out, ".{CLASS}-{role}-{name}{{{role}:{dark}}}");
    }
    out += "}</style>\n";
    out
}

/// Escapes a text for XML. Control characters become visible.
pub(crate) fn markup(text: &str) -> String {
    let text = escaped(text, &[]);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

/// Writes the elements of a picture.
pub(crate) struct Pen<'s> {
    pub out: String,
    pub style: &'s PictureStyle,
    uses: BTreeSet<(Role, Ink)>,
}

impl<'s> Pen<'s> {
    fn new(style: &'s PictureStyle) -> Pen<'s> {
        Pen {
            out: String::new(),
            style,
            uses: BTreeSet::new(),
        }
    }

    /// Returns the attributes that paint an element in a colour of the theme.
    pub fn paint(&mut self, role: Role, ink: Ink) -> String {
        self.paint_both(&[(role, ink)])
    }

    /// Returns the attributes that paint the inside and the border of an element.
    pub fn paint_both(&mut self, paints: &[(Role, Ink)]) -> String {
        let theme = self.style.theme;
        let mut out = String::new();
        for (role, ink) in paints {
            let color = match theme {
                Theme::Dark => ink.dark(),
                Theme::Light | Theme::Auto => ink.light(),
            };
            let _ = write!(out, " {}=\"{color}\"", role.name());
            self.uses.insert((*role, *ink));
        }
        if theme == Theme::Auto {
            let class =
                |(role, ink): &(Role, Ink)| format!("{CLASS}-{}-{}", role.name(), ink.name());
            let classes: Vec<String> = paints.iter().map(class).collect();
            let _ = write!(out, " class=\"{}\"", classes.join(" "));
        }
        out
    }

    /// Writes formatted text.
    pub fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    /// Draws the content of another picture at a place, at a scale.
    pub fn nest(&mut self, svg: &Svg, x: u32, y: u32, scale: f32) {
        let (x, y) = (
            x as f32 - MARGIN as f32 * scale,
            y as f32 - MARGIN as f32 * scale,
        );
        self.put(format_args!("<g transform=\"translate({x} {y})"));
        if scale != 1.0 {
            self.put(format_args!(" scale({scale})"));
        }
        self.put(format_args!("\">\n{}</g>\n", &svg.text[svg.body.clone()]));
        self.uses.extend(&svg.uses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            markup("<script>alert(\"a\" & 'b')</script>\u{0}\u{1b}[2J\n\u{ffff}"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;\
             \\u{0}\\u{1b}[2J\\n\\u{ffff}"
        );
        assert_eq!(markup("grün 网格"), "grün 网格");
    }
}
