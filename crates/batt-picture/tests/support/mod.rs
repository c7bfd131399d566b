//! Reads pictures as XML.

use batt_picture::Svg;
use roxmltree::{Document, Node};

/// Returns the texts of a picture, one for each line.
pub fn texts(svg: &Svg) -> Vec<String> {
    let document = Document::parse(svg.as_str()).unwrap();
    let lines = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    lines.map(text_of).collect()
}

/// Returns the text of a line, which may have several parts.
fn text_of(line: Node<'_, '_>) -> String {
    let parts = line.descendants().filter(Node::is_text);
    parts.map(|part| part.text().unwrap()).collect()
}

/// A rectangle on the picture.
#[derive(Clone, Debug)]
struct Area {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    text: String,
}

/// Checks what must hold for every picture: it is XML, has a size and a label, refers to nothing,
/// and no text is cut off or covers another one.
pub fn check(svg: &Svg) {
    let document = Document::parse(svg.as_str()).unwrap();
    let root = document.root_element();
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    let attribute = |name: &str| root.attribute(name).unwrap().to_owned();
    assert_eq!(attribute("width"), svg.width().to_string());
    assert_eq!(attribute("height"), svg.height().to_string());
    let size = format!("0 0 {} {}", svg.width(), svg.height());
    assert_eq!(attribute("viewBox"), size);
    assert_eq!(attribute("role"), "img");
    let title = root.first_element_child().unwrap();
    assert!(title.has_tag_name("title"));
    assert_eq!(title.text(), Some(&*attribute("aria-label")));
    assert!(attribute("font-family").ends_with("monospace"));
    let known = [
        "svg", "title", "style", "rect", "g", "path", "text", "tspan",
    ];
    for node in document.descendants().filter(Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{node:?}");
        for name in node.attributes() {
            let (key, value) = (name.name(), name.value());
            assert!(
                !matches!(key, "id" | "href" | "style") && !key.starts_with("on"),
                "{key}"
            );
            if key == "class" {
                assert!(
                    value
                        .split(' ')
                        .all(|class| class.starts_with("batt-auto-")),
                    "{value}"
                );
            }
            if key != "aria-label" {
                assert!(!value.contains("url("), "{value}");
            }
        }
    }
    let mut areas = Vec::new();
    collect(root, (0.0, 0.0, 1.0), &mut areas);
    for area in &areas {
        let is_inside = area.left >= 0.0
            && area.top >= 0.0
            && area.right <= svg.width() as f32
            && area.bottom <= svg.height() as f32;
        assert!(
            is_inside,
            "cut off in {}x{}: {:?} of {area:?}",
            svg.width(),
            svg.height(),
            area.text
        );
    }
    areas.sort_by(|a, b| a.top.total_cmp(&b.top));
    for (k, a) in areas.iter().enumerate() {
        let below = areas[k + 1..].iter();
        for b in below.take_while(|b| b.top < a.bottom) {
            assert!(a.right <= b.left || b.right <= a.left, "{a:?} covers {b:?}");
        }
    }
}

/// Collects the areas of all texts, with the offsets and scales of the groups they are in.
fn collect(node: Node<'_, '_>, (dx, dy, scale): (f32, f32, f32), areas: &mut Vec<Area>) {
    let number = |name: &str| node.attribute(name).unwrap().parse::<f32>().unwrap();
    let mut inner = (dx, dy, scale);
    if let Some(transform) = node.attribute("transform") {
        for part in transform.split_inclusive(')') {
            let (name, numbers) = part.trim().trim_end_matches(')').split_once('(').unwrap();
            let numbers: Vec<f32> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
            match (name, &numbers[..]) {
                ("translate", &[x, y]) => {
                    inner = (inner.0 + x * inner.2, inner.1 + y * inner.2, inner.2);
                }
                ("scale", &[by]) => inner.2 *= by,
                _ => panic!("{transform}"),
            }
        }
    }
    if node.has_tag_name("text") {
        let text = text_of(node);
        let size = number("font-size") * scale;
        let left = dx + number("x") * scale;
        let baseline = dy + number("y") * scale;
        // Latin letters; an estimate for the wider ones is enough here.
        let width = text.chars().count() as f32 * size * 0.6;
        areas.push(Area {
            left,
            top: baseline - size * 0.8,
            right: left + width,
            bottom: baseline + size * 0.2,
            text,
        });
    }
    for child in node.children() {
        collect(child, inner, areas);
    }
}
