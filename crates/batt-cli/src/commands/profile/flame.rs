//! Flame graphs of calls. The width of a frame is its time; the frames above it are the calls
//! inside it.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result};
use batt::profile::ProfileNode;
use inferno::flamegraph::{self, Options};

/// The time below which the picture counts in nanoseconds, because microseconds would round frames
/// away.
const SHORT: Duration = Duration::from_millis(100);

/// Draws the flame graph of a tree of calls. Returns `None` if no time was spent.
pub fn svg(tree: &[ProfileNode], title: &str) -> Result<Option<Vec<u8>>> {
    let all: Duration = tree.iter().map(|node| node.own).sum();
    let (unit, name) = if all < SHORT { (1, "ns") } else { (1000, "us") };
    let lines = folded(tree, unit);
    if lines.is_empty() {
        return Ok(None);
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    options.count_name = name.to_owned();
    options.name_type = "Primitive:".to_owned();
    // Each primitive has the same colour in every frame and every picture.
    options.hash = true;
    options.deterministic = true;
    let mut out = Vec::new();
    flamegraph::from_lines(&mut options, lines.lines(), &mut out)
        .context("the flame graph cannot be drawn")?;
    Ok(Some(out))
}

/// Returns the stacks, each with the time spent in its last frame, in units of `unit` nanoseconds:
/// `mapply;toindices 1200`.
fn folded(tree: &[ProfileNode], unit: u128) -> String {
    let mut stacks: Vec<String> = Vec::with_capacity(tree.len());
    let mut lines = String::new();
    for node in tree {
        // A node comes after its caller.
        let stack = match node.parent {
            Some(parent) => format!("{};{}", stacks[parent], node.op),
            None => node.op.to_owned(),
        };
        let time = node.own.as_nanos() / unit;
        if time > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{stack} {time}");
        }
        stacks.push(stack);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: &'static str, parent: Option<usize>, nanos: u64) -> ProfileNode {
        ProfileNode {
            op,
            parent,
            own: Duration::from_nanos(nanos),
            calls: 1,
        }
    }

    #[test]
    fn stacks_are_folded_from_the_outside_in() {
        let tree = [
            node("mapply", None, 1500),
            node("shift", Some(0), 300),
            node("apply", Some(0), 0),
            node("shift", Some(2), 7000),
            node("shift", None, 20),
        ];
        assert_eq!(
            folded(&tree, 1),
            "mapply 1500\nmapply;shift 300\nmapply;apply;shift 7000\nshift 20\n"
        );
        assert_eq!(folded(&tree, 1000), "mapply 1\nmapply;apply;shift 7\n");
    }

    #[test]
    fn the_picture_has_a_title_and_every_frame() {
        let tree = [node("fork", None, 1500), node("o_g", Some(0), 2500)];
        let svg = svg(&tree, "a <batt> & more").unwrap().unwrap();
        let svg = String::from_utf8(svg).unwrap();
        for text in [
            "a &lt;batt&gt; &amp; more",
            "fork (4,000 ns, 100.00%)",
            "o_g (2,500 ns, 62.50%)",
        ] {
            assert!(svg.contains(text), "no {text:?} in {svg}");
        }
    }

    #[test]
    fn nothing_gives_no_picture() {
        assert!(svg(&[], "nothing").unwrap().is_none());
        assert!(svg(&[node("fork", None, 0)], "x").unwrap().is_none());
    }
}
