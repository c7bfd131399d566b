//! Names of public types: each stands for one type, and each type has one name.
//!
//! ```text
//!   src/lib.rs, modules ── Crate::read ──> Module tree ── exports ──> name, definition
//!                                             `pub use`, also of other crates, is followed
//! ```
//!
//! A type is a struct, an enum, a union, a trait or a type alias. Constants and statics count too:
//! a user imports them the same way. Types that a macro defines are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Ident, Item, ItemMod, UseTree, Visibility};

/// The place of a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    krate: String,
    /// The modules it is in.
    modules: Vec<String>,
    name: String,
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::", self.krate)?;
        for module in &self.modules {
            write!(f, "{module}::")?;
        }
        f.write_str(&self.name)
    }
}

/// A module: what it defines and what it imports.
#[derive(Default)]
struct Module {
    /// Types and constants, and whether they are `pub`.
    types: BTreeMap<String, bool>,
    modules: BTreeMap<String, (Module, bool)>,
    imports: Vec<Import>,
}

/// One path of a `use` item.
struct Import {
    path: Vec<String>,
    /// The name in this module; `None` for `*`.
    name: Option<String>,
    is_public: bool,
}

/// A library crate.
pub struct Crate {
    name: String,
    root: Module,
}

/// What a path leads to: a module or a definition, and the crate and the modules it is in.
enum Target<'c> {
    Module(&'c Crate, Vec<String>),
    Definition(Definition),
}

/// Says which public names stand for two definitions, and which definitions have two names.
pub fn ambiguous(crates: &[Crate]) -> Vec<String> {
    let mut exported = BTreeSet::new();
    for krate in crates {
        let mut seen = BTreeSet::new();
        krate.export(&[], crates, &mut exported, &mut seen);
    }
    let mut of_name: BTreeMap<&str, BTreeSet<&Definition>> = BTreeMap::new();
    let mut of_definition: BTreeMap<&Definition, BTreeSet<&str>> = BTreeMap::new();
    for (name, definition) in &exported {
        of_name.entry(name).or_default().insert(definition);
        of_definition.entry(definition).or_default().insert(name);
    }
    let mut problems = Vec::new();
    for (name, definitions) in of_name.into_iter().filter(|(_, all)| all.len() > 1) {
        let places: Vec<String> = definitions.iter().map(ToString::to_string).collect();
        problems.push(format!(
            "the name {name} is public for {}",
            places.join(" and ")
        ));
    }
    for (definition, names) in of_definition.into_iter().filter(|(_, all)| all.len() > 1) {
        let names: Vec<&str> = names.into_iter().collect();
        problems.push(format!(
            "{definition} has the names {}",
            names.join(" and ")
        ));
    }
    problems
}

impl Crate {
    /// Reads a crate from its `lib.rs`.
    pub fn read(name: &str, lib: &Path) -> Result<Crate> {
        let mut root = Module::default();
        root.read(lib, &folder_of_children(lib))?;
        Ok(Crate {
            name: name.replace('-', "_"),
            root,
        })
    }

    fn module(&self, path: &[String]) -> Option<&Module> {
        let mut module = &self.root;
        for name in path {
            module = &module.modules.get(name)?.0;
        }
        Some(module)
    }

    /// Collects what users of the crate reach through a module, under the names they use.
    fn export(
        &self,
        path: &[String],
        crates: &[Crate],
        exported: &mut BTreeSet<(String, Definition)>,
        seen: &mut BTreeSet<(String, Vec<String>)>,
    ) {
        if !seen.insert((self.name.clone(), path.to_vec())) {
            return;
        }
        let Some(module) = self.module(path) else {
            return;
        };
        for (name, _) in module.types.iter().filter(|(_, is_public)| **is_public) {
            exported.insert((name.clone(), self.definition(path, name)));
        }
        for (name, _) in module
            .modules
            .iter()
            .filter(|(_, (_, is_public))| *is_public)
        {
            self.export(&joined(path, name), crates, exported, seen);
        }
        for import in module.imports.iter().filter(|import| import.is_public) {
            for target in self.resolve(path, &import.path, crates, &mut Vec::new()) {
                match (target, &import.name) {
                    (Target::Definition(definition), Some(name)) => {
                        exported.insert((name.clone(), definition));
                    }
                    (Target::Definition(_), None) => {}
                    (Target::Module(krate, path), _) => {
                        krate.export(&path, crates, exported, seen);
                    }
                }
            }
        }
    }

    fn definition(&self, modules: &[String], name: &str) -> Definition {
        Definition {
            krate: self.name.clone(),
            modules: modules.to_vec(),
            name: name.to_owned(),
        }
    }

    /// Returns what a path in a module leads to. A module and a type may have the same name.
    /// `followed` has the imports on the way here; none is followed twice.
    fn resolve<'c>(
        &'c self,
        from: &[String],
        path: &[String],
        crates: &'c [Crate],
        followed: &mut Vec<Followed>,
    ) -> Vec<Target<'c>> {
        let Some((first, rest)) = path.split_first() else {
            return vec![Target::Module(self, from.to_vec())];
        };
        match first.as_str() {
            "crate" => return self.resolve(&[], rest, crates, followed),
            "self" => return self.resolve(from, rest, crates, followed),
            "super" => {
                let outer = from.split_last().map_or(from, |(_, outer)| outer);
                return self.resolve(outer, rest, crates, followed);
            }
            _ => {}
        }
        let Some(module) = self.module(from) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if rest.is_empty() && module.types.contains_key(first) {
            found.push(Target::Definition(self.definition(from, first)));
        }
        if module.modules.contains_key(first) {
            found.extend(self.resolve(&joined(from, first), rest, crates, followed));
        }
        for (at, import) in module.imports.iter().enumerate() {
            let whole = match &import.name {
                Some(name) if name == first => [&import.path, rest].concat(),
                Some(_) => continue,
                None => [&import.path, path].concat(),
            };
            let here = (self.name.clone(), from.to_vec(), at);
            if !followed.contains(&here) {
                followed.push(here);
                found.extend(self.resolve(from, &whole, crates, followed));
                followed.pop();
            }
        }
        if found.is_empty()
            && let Some(other) = crates.iter().find(|other| other.name == *first)
        {
            return other.resolve(&[], rest, crates, followed);
        }
        found
    }
}

/// An import: its crate, its module, and its position there.
type Followed = (String, Vec<String>, usize);

fn joined(path: &[String], name: &str) -> Vec<String> {
    [path, &[name.to_owned()]].concat()
}

/// The folder in which the modules lie that a file declares.
fn folder_of_children(file: &Path) -> PathBuf {
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "mod") => file.parent().map(Path::to_owned).unwrap_or_default(),
        _ => file.with_extension(""),
    }
}

impl Module {
    fn read(&mut self, file: &Path, children: &Path) -> Result<()> {
        let text = fs::read_to_string(file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        let parsed = syn::parse_file(&text);
        let parsed = parsed.with_context(|| format!("cannot parse {}", file.display()))?;
        self.add(&parsed.items, children)
    }

    fn add(&mut self, items: &[Item], children: &Path) -> Result<()> {
        for item in items {
            match item {
                Item::Struct(item) => self.add_type(&item.ident, &item.vis),
                Item::Enum(item) => self.add_type(&item.ident, &item.vis),
                Item::Union(item) => self.add_type(&item.ident, &item.vis),
                Item::Trait(item) => self.add_type(&item.ident, &item.vis),
                Item::TraitAlias(item) => self.add_type(&item.ident, &item.vis),
                Item::Type(item) => self.add_type(&item.ident, &item.vis),
                Item::Const(item) => self.add_type(&item.ident, &item.vis),
                Item::Static(item) => self.add_type(&item.ident, &item.vis),
                Item::Mod(item) => self.add_module(item, children)?,
                Item::Use(item) => {
                    let is_public = is_public(&item.vis);
                    self.add_imports(&item.tree, &mut Vec::new(), is_public);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_type(&mut self, name: &Ident, visibility: &Visibility) {
        self.types.insert(name.to_string(), is_public(visibility));
    }

    fn add_module(&mut self, item: &ItemMod, children: &Path) -> Result<()> {
        let is_test = |attribute: &syn::Attribute| {
            let inner = attribute.parse_args::<Ident>();
            attribute.path().is_ident("cfg") && inner.is_ok_and(|inner| inner == "test")
        };
        if item.attrs.iter().any(is_test) {
            return Ok(());
        }
        let name = item.ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        let mut module = Module::default();
        match &item.content {
            Some((_, items)) => module.add(items, &children.join(&name))?,
            None => {
                let places = [format!("{name}.rs"), format!("{name}/mod.rs")];
                let mut places = places.iter().map(|place| children.join(place));
                // A `path` attribute names another file; those are for tests.
                if let Some(file) = places.find(|place| place.is_file()) {
                    module.read(&file, &folder_of_children(&file))?;
                }
            }
        }
        self.modules.insert(name, (module, is_public(&item.vis)));
        Ok(())
    }

    fn add_imports(&mut self, tree: &UseTree, path: &mut Vec<String>, is_public: bool) {
        let mut add = |path: &[String], last: Option<&Ident>, name: Option<String>| {
            // `a::{self}` imports `a`.
            let last = last.map(Ident::to_string).filter(|last| last != "self");
            let path: Vec<String> = path.iter().cloned().chain(last).collect();
            let name = match name {
                Some(name) if name == "self" => path.last().cloned(),
                name => name,
            };
            self.imports.push(Import {
                path,
                name,
                is_public,
            });
        };
        match tree {
            UseTree::Name(leaf) => add(path, Some(&leaf.ident), Some(leaf.ident.to_string())),
            UseTree::Rename(leaf) => add(path, Some(&leaf.ident), Some(leaf.rename.to_string())),
            UseTree::Glob(_) => add(path, None, None),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_imports(tree, path, is_public);
                }
            }
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.add_imports(&inner.tree, path, is_public);
                path.pop();
            }
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings about crates, each given by its name and the text of its `lib.rs`.
    fn found(crates: &[(&str, &str)]) -> Vec<String> {
        let read = |(name, text): &(&str, &str)| {
            let mut root = Module::default();
            let parsed = syn::parse_file(text).unwrap();
            root.add(&parsed.items, Path::new("")).unwrap();
            Crate {
                name: (*name).to_owned(),
                root,
            }
        };
        ambiguous(&crates.iter().map(read).collect::<Vec<_>>())
    }

    #[test]
    fn every_kind_of_item_has_a_name_of_its_own() {
        for item in [
            "pub struct X(u8);",
            "pub struct X<'a, T: Clone>(&'a T);",
            "pub enum X { A }",
            "pub union X { a: u8 }",
            "pub trait X {}",
            "pub unsafe trait X {}",
            "pub type X = u8;",
            "pub const X: u8 = 1;",
            "pub static X: u8 = 1;",
        ] {
            let problems = found(&[("a", "pub struct X;"), ("b", item)]);
            assert_eq!(
                problems,
                ["the name X is public for a::X and b::X"],
                "{item}"
            );
            assert_eq!(found(&[("a", "pub struct X;"), ("b", &item[4..])]), [""; 0]);
        }
    }

    #[test]
    fn a_name_is_followed_through_modules_and_exports() {
        for text in [
            "pub mod m { pub struct X; }",
            "mod m { pub struct X; } pub use m::X;",
            "mod m { pub struct X; } pub use self::m::*;",
            "mod m { pub struct X; } pub use crate::m;",
            "mod m { pub mod n { pub struct X; } } pub use m::{n::{self}};",
            "mod m { pub struct X; } use m as other; pub use other::X;",
            "mod m { pub mod n { pub use super::o::*; } mod o { pub struct X; } } pub use m::n;",
        ] {
            let problems = found(&[("a", "pub struct X;"), ("b", text)]);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        }
        for text in [
            "mod m { pub struct X; }",
            "pub(crate) mod m { pub struct X; }",
            "mod m { pub struct X; } pub(crate) use m::X;",
            "pub mod m { pub(super) struct X; }",
            "#[cfg(test)] pub mod tests { pub struct X; }",
            "pub use elsewhere::X;",
        ] {
            assert_eq!(
                found(&[("a", "pub struct X;"), ("b", text)]),
                [""; 0],
                "{text}"
            );
        }
    }

    #[test]
    fn another_name_for_a_type_is_found() {
        let first = ("a", "pub struct X;");
        let renamed = found(&[first, ("b", "pub use a::X as Y;")]);
        assert_eq!(renamed, ["a::X has the names X and Y"]);
        // A re-export under the name of another type.
        let taken = found(&[first, ("b", "pub struct Y;"), ("c", "pub use a::X as Y;")]);
        assert_eq!(taken[0], "the name Y is public for a::X and b::Y");
        let twice = found(&[(
            "a",
            "mod m { pub struct X; } pub use m::X; pub use m::X as Z;",
        )]);
        assert_eq!(twice, ["a::m::X has the names X and Z"]);
    }

    #[test]
    fn re_exports_of_another_crate_are_the_same_type() {
        let first = ("a", "pub mod m { pub struct X; } pub use m::X;");
        for text in [
            "pub use a::X;",
            "pub use a::m;",
            "pub use a as other;",
            "pub use ::a::*;",
            "use a::m as inner; pub use inner::{X};",
        ] {
            assert_eq!(found(&[first, ("b", text)]), [""; 0], "{text}");
        }
    }

    #[test]
    fn one_crate_may_not_use_a_name_twice() {
        let text = "pub mod m { pub struct X; } pub mod n { pub enum X {} }";
        assert_eq!(
            found(&[("a", text)]),
            ["the name X is public for a::m::X and a::n::X"]
        );
    }

    #[test]
    fn circles_of_imports_end() {
        let text = "mod m { pub use super::n::*; } mod n { pub use super::m::*; } pub use m::X;";
        assert_eq!(found(&[("a", text)]), [""; 0]);
    }
}
