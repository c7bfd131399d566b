//! A JSON tree for ARC files, in which a row of colours is one byte string.
//!
//! The format of a file is known only after reading it, so there is a tree between the text and the
//! tasks. Most of such a file is rows. Packing them while reading keeps the tree about as small as
//! the tasks, and later checks can still name task, pair and row.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    /// A list of colours alone; also every empty list.
    Row(Vec<u8>),
    /// Any other list.
    List(Vec<Node>),
    /// An object, in file order.
    Map(Vec<(String, Node)>),
    /// A whole number of 64 bits.
    Int(i64),
    /// Any other number, as text for messages.
    Number(String),
    Text(String),
    Bool(bool),
    Null,
}

/// The longest excerpt of a user's text in a message.
const EXCERPT: usize = 24;

impl Node {
    /// The value of a key. If a key repeats, the last one counts, as in Python.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(entries) => entries.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value of a key that holds text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Node::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Describes the node for a message: `a list of numbers`, `the number 2.5`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Node::Row(cells) if cells.is_empty() => "an empty list".into(),
            Node::Row(_) => "a list of numbers".into(),
            Node::List(items) => match items.first() {
                Some(Node::Map(_)) => "a list of objects".into(),
                Some(Node::Row(_) | Node::List(_)) => "a list of lists".into(),
                _ => "a list".into(),
            },
            Node::Map(entries) if entries.is_empty() => "an empty object".into(),
            Node::Map(_) => "an object".into(),
            Node::Int(n) => format!("the number {n}"),
            Node::Number(n) => format!("the number {n}"),
            Node::Text(text) if text.chars().count() > EXCERPT => {
                let start: String = text.chars().take(EXCERPT).collect();
                format!("the text {:?}", start + "...")
            }
            Node::Text(text) => format!("the text {text:?}"),
            Node::Bool(b) => b.to_string(),
            Node::Null => "null".into(),
        }
    }
}

/// Reads JSON text into a tree. Fails on text that is not JSON, on more than 128 levels and on
/// more than [`MAX_NODES`] values.
pub(crate) fn parse(text: &[u8]) -> Result<Node, serde_json::Error> {
    let budget = Cell::new(MAX_NODES);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let node = Reader { budget: &budget }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(node)
}

/// The most list items and object entries of a tree, not counting packed cells: about 80 MB of task
/// files. A few bytes of text become a node of 32 bytes, so this stops hostile files.
const MAX_NODES: usize = 4_000_000;

/// The beginning of the message about [`MAX_NODES`].
pub(crate) const TOO_MANY: &str = "more than";

#[derive(Clone, Copy)]
struct Reader<'a> {
    budget: &'a Cell<usize>,
}

impl Reader<'_> {
    fn charge<E: Error>(self) -> Result<(), E> {
        match self.budget.get().checked_sub(1) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(E::custom(format_args!("{TOO_MANY} {MAX_NODES} values"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(i64::try_from(value).map_or_else(|_| Node::Number(value.to_string()), Node::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        // `{:?}` keeps the `.0` of 1.0, which shows that it is not a whole number.
        Ok(Node::Number(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut row: Vec<u8> = Vec::new();
        let mut items = loop {
            match seq.next_element_seed(self)? {
                None => return Ok(Node::Row(row)),
                Some(Node::Int(n @ 0..=9)) => row.push(n as u8),
                Some(other) => {
                    // This is not a row: the packed items become ordinary ones.
                    let mut items = Vec::new();
                    for cell in row {
                        self.charge()?;
                        items.push(Node::Int(cell.into()));
                    }
                    self.charge()?;
                    items.push(other);
                    break items;
                }
            }
        };
        while let Some(item) = seq.next_element_seed(self)? {
            self.charge()?;
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            self.charge()?;
            entries.push((key, map.next_value_seed(self)?));
        }
        Ok(Node::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Node {
        super::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn rows_are_packed_and_unpacked() {
        assert_eq!(parse("[0, 9, 5]"), Node::Row(vec![0, 9, 5]));
        assert_eq!(parse("[]"), Node::Row(vec![]));
        assert_eq!(
            parse("[1, 10, 2]"),
            Node::List(vec![Node::Int(1), Node::Int(10), Node::Int(2)])
        );
        assert_eq!(parse("[[1]]"), Node::List(vec![Node::Row(vec![1])]));
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let node = parse(r#"{"a": 1, "b": 2, "a": 3}"#);
        assert_eq!(node.get("a"), Some(&Node::Int(3)));
        assert_eq!(node.get("c"), None);
        assert_eq!(Node::Null.get("a"), None);
    }

    #[test]
    fn descriptions_are_short() {
        let describe = |text: &str| parse(text).describe();
        assert_eq!(describe("[]"), "an empty list");
        assert_eq!(describe("{}"), "an empty object");
        assert_eq!(describe("1.0"), "the number 1.0");
        assert_eq!(
            describe("18446744073709551615"),
            "the number 18446744073709551615"
        );
        assert_eq!(describe("\"a\\\"b\""), "the text \"a\\\"b\"");
        let long = format!("\"{}\"", "ä".repeat(1000));
        assert_eq!(
            describe(&long),
            format!("the text \"{}...\"", "ä".repeat(24))
        );
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for text in ["[".repeat(1_000_000), r#"{"a":"#.repeat(1_000_000)] {
            assert!(super::parse(text.as_bytes()).is_err());
        }
    }

    #[test]
    fn a_tree_that_would_fill_the_memory_is_an_error() {
        let text = format!("[{}", "[],".repeat(MAX_NODES + 2));
        let error = super::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("more than 4000000 values"), "{error}");
    }
}
