//! Many pictures in one.

use batt_arc::text::counted;

use crate::layout::{Align, Block, Font, short};
use crate::style::PictureStyle;
use crate::svg::Svg;

/// Draws pictures under their titles, side by side in as many rows as needed. An empty title is
/// left out. A picture that is wider than the style allows is drawn smaller.
///
/// ```
/// use batt_arc::corpus;
/// use batt_picture::PictureStyle;
///
/// let style = PictureStyle { width: 300, ..PictureStyle::default() };
/// let tasks = corpus::tasks();
/// let pictures = tasks.iter().take(3).map(|task| (String::new(), batt_picture::task(task, &style)));
/// let all = batt_picture::gallery("three puzzles", &pictures.collect::<Vec<_>>(), &style);
/// assert!(all.as_str().contains(&tasks.tasks()[2].id));
/// ```
pub fn gallery(title: &str, pictures: &[(String, Svg)], style: &PictureStyle) -> Svg {
    let blocks = pictures.iter().map(|(title, svg)| {
        let mut parts = Vec::new();
        if !title.is_empty() {
            parts.push(Block::title(title, Font::HEADING, style.room()));
        }
        parts.push(Block::nested(svg, style.room()));
        Block::column(parts, 6, Align::Start)
    });
    let all = Block::flow(blocks.collect(), 32, style.room(), Align::Start);
    let mut parts = Vec::new();
    if !title.is_empty() {
        parts.push(Block::title(title, Font::TITLE, style.room()));
    }
    parts.push(all);
    let label = format!("{}: {}", short(title), counted(pictures.len(), "picture"));
    Svg::of(&Block::column(parts, 14, Align::Start), &label, style)
}
