//! Blocks: rectangles of drawings, placed beside and below each other.

use std::ops::Range;

use batt_arc::text::escaped;
use unicode_width::UnicodeWidthStr;

use crate::board::Board;
use crate::style::Ink;
use crate::svg::{Pen, Role, Svg, markup};

/// A size of text, in pixels.
pub(crate) const SMALL: u32 = 11;
pub(crate) const NORMAL: u32 = 12;
pub(crate) const LARGE: u32 = 15;

/// The look of a line of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub size: u32,
    pub ink: Ink,
    pub bold: bool,
}

impl Font {
    pub const TITLE: Font = Font {
        size: LARGE,
        ink: Ink::Text,
        bold: true,
    };
    pub const HEADING: Font = Font {
        size: NORMAL,
        ink: Ink::Text,
        bold: true,
    };
    pub const BODY: Font = Font {
        size: NORMAL,
        ink: Ink::Text,
        bold: false,
    };
    pub const DETAIL: Font = Font {
        size: SMALL,
        ink: Ink::Dim,
        bold: false,
    };

    pub fn ink(self, ink: Ink) -> Font {
        Font { ink, ..self }
    }

    /// The width of some columns of text. A character of a monospaced font is at most 0.61 times as
    /// wide as its size.
    pub fn columns(self, columns: usize) -> u32 {
        (columns as u32 * self.size * 61).div_ceil(100)
    }

    /// The number of columns that fit into a width.
    pub fn fitting(self, width: u32) -> usize {
        (width * 100 / (self.size * 61)).max(1) as usize
    }

    fn line_height(self) -> u32 {
        self.size * 4 / 3
    }
}

/// How blocks of different size are placed in a row or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Center,
    End,
}

impl Align {
    fn offset(self, free: u32) -> u32 {
        match self {
            Align::Start => 0,
            Align::Center => free / 2,
            Align::End => free,
        }
    }
}

/// A rectangle with drawings at places inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub width: u32,
    pub height: u32,
    shapes: Vec<(u32, u32, Shape)>,
}

#[derive(Clone, Debug)]
enum Shape {
    /// The parts of a line.
    Text(Vec<(String, Ink)>, Font),
    Board(Board),
    /// A rectangle with round corners.
    Frame(u32, u32, Frame),
    /// A vertical line of this length.
    Rule(u32),
    Arrow(Arrow),
    Nested(Box<Svg>, f32),
}

/// The look of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Filled, around the parts that belong together.
    Panel,
    /// The same with a border in a colour of its own.
    Marked(Ink),
    /// A dashed line in place of a grid that is not known.
    Missing,
}

/// The direction of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrow {
    Right,
    Down,
}

/// The length and the width of an arrow.
const ARROW: (u32, u32) = (22, 12);

impl Block {
    fn of(width: u32, height: u32, shape: Shape) -> Block {
        Block {
            width,
            height,
            shapes: vec![(0, 0, shape)],
        }
    }

    /// One line of text.
    pub fn text(text: &str, font: Font) -> Block {
        Block::spans(&[(text, font.ink)], font)
    }

    /// One line of text in several colours.
    pub fn spans(spans: &[(&str, Ink)], font: Font) -> Block {
        let spans = spans
            .iter()
            .map(|(text, ink)| (escaped(text, &[]).into_owned(), *ink));
        let spans: Vec<(String, Ink)> = spans.collect();
        let columns = spans.iter().map(|(text, _)| text.width()).sum();
        let shape = Shape::Text(spans, font);
        Block::of(font.columns(columns), font.line_height(), shape)
    }

    /// Text in as many lines as it needs, of at most this many columns.
    pub fn paragraph(text: &str, font: Font, columns: usize) -> Block {
        let lines = wrapped(&escaped(text, &['\n']), columns);
        let lines = lines.iter().map(|line| Block::text(line, font));
        Block::column(lines, 0, Align::Start)
    }

    /// A title in as many lines as it needs.
    pub fn title(text: &str, font: Font, width: u32) -> Block {
        Block::paragraph(&short(text), font, font.fitting(width))
    }

    /// A board of cells.
    pub fn board(board: Board) -> Block {
        let (width, height) = board.size();
        Block::of(width, height, Shape::Board(board))
    }

    /// An arrow.
    pub fn arrow(arrow: Arrow) -> Block {
        let (width, height) = match arrow {
            Arrow::Right => ARROW,
            Arrow::Down => (ARROW.1, ARROW.0),
        };
        Block::of(width, height, Shape::Arrow(arrow))
    }

    /// A vertical line.
    pub fn rule(height: u32) -> Block {
        Block::of(1, height, Shape::Rule(height))
    }

    /// The content of another picture, smaller if it is too wide.
    pub fn nested(svg: &Svg, widest: u32) -> Block {
        let (width, height) = svg.content();
        let scale = match width > widest {
            true => widest as f32 / width as f32,
            false => 1.0,
        };
        let scaled = |side: u32| (side as f32 * scale).ceil() as u32;
        let shape = Shape::Nested(Box::new(svg.clone()), scale);
        Block::of(scaled(width), scaled(height), shape)
    }

    /// A block in the middle of a rectangle.
    pub fn centered(self, width: u32, height: u32) -> Block {
        let mut out = Block {
            width: width.max(self.width),
            height: height.max(self.height),
            shapes: Vec::new(),
        };
        let (x, y) = ((out.width - self.width) / 2, (out.height - self.height) / 2);
        out.place(x, y, self);
        out
    }

    /// The block with a frame around it.
    pub fn framed(self, frame: Frame, padding: u32) -> Block {
        let (width, height) = (self.width + 2 * padding, self.height + 2 * padding);
        let mut out = Block::of(width, height, Shape::Frame(width, height, frame));
        out.place(padding, padding, self);
        out
    }

    /// The block, at least this wide.
    pub fn at_least(mut self, width: u32) -> Block {
        self.width = self.width.max(width);
        self
    }

    /// The block at the bottom of a rectangle of this height.
    pub fn lowered(self, height: u32) -> Block {
        let mut out = Block {
            width: self.width,
            height: height.max(self.height),
            shapes: Vec::new(),
        };
        let y = out.height - self.height;
        out.place(0, y, self);
        out
    }

    /// Adds another block at a place. It must fit.
    fn place(&mut self, x: u32, y: u32, other: Block) {
        let moved = other.shapes.into_iter();
        self.shapes
            .extend(moved.map(|(dx, dy, shape)| (x + dx, y + dy, shape)));
    }

    /// Blocks side by side. Empty ones are left out.
    pub fn row(blocks: impl IntoIterator<Item = Block>, gap: u32, align: Align) -> Block {
        let blocks: Vec<Block> = blocks.into_iter().filter(|b| b.width > 0).collect();
        let mut out = Block {
            height: blocks.iter().map(|block| block.height).max().unwrap_or(0),
            ..Block::default()
        };
        for block in blocks {
            if out.width > 0 {
                out.width += gap;
            }
            let (x, y) = (out.width, align.offset(out.height - block.height));
            out.width += block.width;
            out.place(x, y, block);
        }
        out
    }

    /// Blocks below each other. Empty ones are left out.
    pub fn column(blocks: impl IntoIterator<Item = Block>, gap: u32, align: Align) -> Block {
        let blocks: Vec<Block> = blocks.into_iter().filter(|b| b.height > 0).collect();
        let mut out = Block {
            width: blocks.iter().map(|block| block.width).max().unwrap_or(0),
            ..Block::default()
        };
        for block in blocks {
            if out.height > 0 {
                out.height += gap;
            }
            let (x, y) = (align.offset(out.width - block.width), out.height);
            out.height += block.height;
            out.place(x, y, block);
        }
        out
    }

    /// Blocks side by side, in as many rows as a width needs.
    pub fn flow(blocks: Vec<Block>, gap: u32, width: u32, align: Align) -> Block {
        let blocks: Vec<Block> = blocks.into_iter().filter(|b| b.width > 0).collect();
        let widths: Vec<u32> = blocks.iter().map(|block| block.width).collect();
        let mut blocks = blocks.into_iter();
        let rows = bands(&widths, gap, width);
        let rows = rows
            .into_iter()
            .map(|band| Block::row(blocks.by_ref().take(band.len()), gap, align));
        Block::column(rows, gap, Align::Start)
    }

    /// Draws the block at a place.
    pub fn draw(&self, x: u32, y: u32, pen: &mut Pen<'_>) {
        for (dx, dy, shape) in &self.shapes {
            shape.draw(x + dx, y + dy, pen);
        }
    }
}

/// Splits blocks of these widths into rows that fit into a width.
pub(crate) fn bands(widths: &[u32], gap: u32, width: u32) -> Vec<Range<usize>> {
    let mut bands: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (at, block) in widths.iter().enumerate() {
        let wanted = used + gap + block;
        match bands.last_mut() {
            Some(band) if wanted <= width => {
                used = wanted;
                band.end = at + 1;
            }
            _ => {
                used = *block;
                bands.push(at..at + 1);
            }
        }
    }
    bands
}

impl Shape {
    fn draw(&self, x: u32, y: u32, pen: &mut Pen<'_>) {
        match self {
            Shape::Text(spans, font) => draw_text(spans, *font, x, y, pen),
            Shape::Board(board) => board.draw(x, y, pen),
            Shape::Frame(width, height, frame) => {
                let paint = match frame {
                    Frame::Panel => {
                        pen.paint_both(&[(Role::Fill, Ink::Panel), (Role::Stroke, Ink::Line)])
                    }
                    Frame::Marked(ink) => {
                        pen.paint_both(&[(Role::Fill, Ink::Panel), (Role::Stroke, *ink)])
                    }
                    Frame::Missing => {
                        let paint = pen.paint(Role::Stroke, Ink::Dim);
                        format!("{paint} fill=\"none\" stroke-dasharray=\"4 3\"")
                    }
                };
                // A line of one pixel is sharp if it runs through the middle of pixels.
                pen.put(format_args!(
                    "<rect x=\"{x}.5\" y=\"{y}.5\" width=\"{}\" height=\"{}\" rx=\"6\"{paint}/>\n",
                    width - 1,
                    height - 1
                ));
            }
            Shape::Rule(length) => {
                let paint = pen.paint(Role::Stroke, Ink::Line);
                pen.put(format_args!("<path d=\"M{x}.5 {y}v{length}\"{paint}/>\n"));
            }
            Shape::Arrow(arrow) => {
                let (long, wide) = ARROW;
                let (half, shaft) = (wide / 2, long - 2);
                let paint = pen.paint(Role::Stroke, Ink::Dim);
                let path = match arrow {
                    Arrow::Right => format!("M{x} {}h{shaft}m-5 -5l5 5l-5 5", y + half),
                    Arrow::Down => format!("M{} {y}v{shaft}m-5 -5l5 5l5 -5", x + half),
                };
                pen.put(format_args!(
                    "<path d=\"{path}\" fill=\"none\" stroke-width=\"1.5\"{paint}/>\n"
                ));
            }
            Shape::Nested(svg, scale) => pen.nest(svg, x, y, *scale),
        }
    }
}

fn draw_text(spans: &[(String, Ink)], font: Font, x: u32, y: u32, pen: &mut Pen<'_>) {
    let (baseline, size) = (y + font.size, font.size);
    let weight = if font.bold {
        " font-weight=\"600\""
    } else {
        ""
    };
    let is_aligned = |(text, _): &(String, Ink)| text.contains("  ") || text.starts_with(' ');
    // Otherwise several blanks count as one.
    let blanks = match spans.len() > 1 || spans.iter().any(is_aligned) {
        true => " xml:space=\"preserve\"",
        false => "",
    };
    pen.put(format_args!(
        "<text x=\"{x}\" y=\"{baseline}\" font-size=\"{size}\"{weight}{blanks}"
    ));
    match spans {
        [(text, ink)] => {
            let paint = pen.paint(Role::Fill, *ink);
            pen.put(format_args!("{paint}>{}</text>\n", markup(text)));
        }
        _ => {
            pen.put(format_args!(">"));
            for (text, ink) in spans {
                let paint = pen.paint(Role::Fill, *ink);
                pen.put(format_args!("<tspan{paint}>{}</tspan>", markup(text)));
            }
            pen.put(format_args!("</text>\n"));
        }
    }
}

/// Returns a title in printable form, cut if it is very long. Titles are made of several names.
pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = escaped(text, &[]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Splits a text into lines of at most this many columns, between words if possible. Lines of the
/// text stay lines.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.split('\n') {
        let mut current = String::new();
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let width = word.trim_end().width();
            if used > 0 && used + width > columns {
                out.push(std::mem::take(&mut current).trim_end().to_owned());
                used = 0;
            }
            for c in word.chars() {
                let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
                if used + wide > columns && c != ' ' {
                    out.push(std::mem::take(&mut current));
                    used = 0;
                }
                current.push(c);
                used += wide;
            }
        }
        out.push(current.trim_end().to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("one two", 7), ["one two"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("a\nb", 9), ["a", "b"]);
        assert_eq!(wrapped("", 9), [""]);
        assert_eq!(wrapped("网格网格", 4), ["网格", "网格"]);
    }

    #[test]
    fn rows_wrap() {
        let block = |width| Block {
            width,
            height: 10,
            shapes: Vec::new(),
        };
        let flow = Block::flow(vec![block(40), block(50), block(60)], 10, 100, Align::End);
        assert_eq!((flow.width, flow.height), (100, 30));
        let wide = Block::flow(vec![block(400), block(50)], 10, 100, Align::Start);
        assert_eq!((wide.width, wide.height), (400, 30));
        assert_eq!(Block::flow(Vec::new(), 10, 100, Align::Start).height, 0);
    }
}
