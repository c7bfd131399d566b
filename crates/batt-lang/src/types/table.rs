//! The table of types: every type is stored once, under a small number.

use std::fmt;

use rustc_hash::FxHashMap;

/// A type, by its number in a [`Types`](super::Types). Equal types have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(super) u32);

/// The types with a name in the DSL. The table starts with them, in this order.
impl TypeId {
    /// Nothing is known.
    pub const ANY: TypeId = TypeId(0);
    /// True or false.
    pub const BOOL: TypeId = TypeId(1);
    /// An integer.
    pub const INT: TypeId = TypeId(2);
    /// A location or a vector: two integers.
    pub const PAIR: TypeId = TypeId(3);
    /// A location with its colour.
    pub const CELL: TypeId = TypeId(4);
    /// A grid.
    pub const GRID: TypeId = TypeId(5);
    /// A tuple of integers, such as a row of a grid.
    pub const ROW: TypeId = TypeId(6);
    /// A set of cells.
    pub const OBJECT: TypeId = TypeId(7);
    /// A set of locations.
    pub const INDICES: TypeId = TypeId(8);
    /// A set of objects.
    pub const OBJECTS: TypeId = TypeId(9);
    /// An input and its output.
    pub const SAMPLE: TypeId = TypeId(10);
    /// The demonstrations of a task.
    pub const SAMPLES: TypeId = TypeId(11);
    /// An object or a set of locations.
    pub const PATCH: TypeId = TypeId(12);
    /// An integer or a pair of them.
    pub const NUMERICAL: TypeId = TypeId(13);
    /// A grid or an object.
    pub const ELEMENT: TypeId = TypeId(14);
    /// A grid or a patch.
    pub const PIECE: TypeId = TypeId(15);
    /// A value with an order.
    pub const KEY: TypeId = TypeId(16);

    /// The number, for arrays indexed by type.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of the first types of the table.
pub(super) const NAMES: [&str; 17] = [
    "Any",
    "Bool",
    "Int",
    "Pair",
    "Cell",
    "Grid",
    "Tuple<Int>",
    "Object",
    "Indices",
    "Objects",
    "[Grid, Grid]",
    "Samples",
    "Patch",
    "Numerical",
    "Element",
    "Piece",
    "Key",
];

/// The kind of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    /// A tuple.
    Tuple,
    /// A set.
    Set,
    /// Either of them.
    Either,
    /// A variable of a signature.
    Var(u8),
}

/// A list of types; see [`Types::list`](super::Types::list).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct List {
    start: u32,
    len: u32,
}

/// The structure of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Nothing is known.
    Any,
    /// True or false.
    Bool,
    /// An integer.
    Int,
    /// A location or a vector.
    Pair,
    /// A location with its colour.
    Cell,
    /// A grid.
    Grid,
    /// A container of items of one type.
    Of(ContainerKind, TypeId),
    /// A tuple of two items.
    Two(TypeId, TypeId),
    /// One of several types.
    Union(List),
    /// A function, by parameters and result.
    Fun(List, TypeId),
    /// A function that has several types at once, such as `add`.
    Over(List),
    /// A variable of a function's type.
    Var(u8),
}

/// Cached facts about a type.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// One more than the greatest variable.
    vars: u8,
    depth: u8,
    size: u16,
    any: bool,
    function: bool,
}

/// The greatest depth of a type. Only endless nesting makes deeper types, which count as unknown.
const MAX_DEPTH: u8 = 9;
/// The most parts of a type. Larger types count as unknown, too.
const MAX_SIZE: u16 = 200;

/// The table of all types.
#[derive(Clone, Debug)]
pub(super) struct Table {
    nodes: Vec<Ty>,
    facts: Vec<Facts>,
    pool: Vec<TypeId>,
    numbers: FxHashMap<Vec<u32>, TypeId>,
    /// Whether cells are `(i, j, colour)`.
    pub triples: bool,
}

impl Table {
    pub fn new(triples: bool) -> Table {
        let mut table = Table {
            nodes: Vec::new(),
            facts: Vec::new(),
            pool: Vec::new(),
            numbers: FxHashMap::default(),
            triples,
        };
        for ty in [Ty::Any, Ty::Bool, Ty::Int, Ty::Pair, Ty::Cell, Ty::Grid] {
            table.intern(ty);
        }
        table.of(ContainerKind::Tuple, TypeId::INT);
        table.of(ContainerKind::Set, TypeId::CELL);
        table.of(ContainerKind::Set, TypeId::PAIR);
        table.of(ContainerKind::Set, TypeId::OBJECT);
        table.two(TypeId::GRID, TypeId::GRID);
        table.of(ContainerKind::Tuple, TypeId::SAMPLE);
        table.union(&[TypeId::OBJECT, TypeId::INDICES]);
        table.union(&[TypeId::INT, TypeId::PAIR]);
        table.union(&[TypeId::GRID, TypeId::OBJECT]);
        table.union(&[TypeId::GRID, TypeId::OBJECT, TypeId::INDICES]);
        let key = table.union(&[TypeId::BOOL, TypeId::INT, TypeId::PAIR]);
        debug_assert_eq!(key, TypeId::KEY);
        table
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub fn get(&self, id: TypeId) -> Ty {
        self.nodes[id.index()]
    }

    #[inline]
    pub fn list(&self, list: List) -> &[TypeId] {
        &self.pool[list.start as usize..][..list.len as usize]
    }

    /// One more than the greatest variable of a type; zero if it has none.
    #[inline]
    pub fn vars(&self, id: TypeId) -> usize {
        self.facts[id.index()].vars.into()
    }

    /// Returns whether some part of a type is unknown.
    pub fn has_any(&self, id: TypeId) -> bool {
        self.facts[id.index()].any
    }

    /// Returns whether a type is or contains a function.
    pub fn has_function(&self, id: TypeId) -> bool {
        self.facts[id.index()].function
    }

    pub fn of(&mut self, kind: ContainerKind, item: TypeId) -> TypeId {
        // A tuple of rows is a grid.
        if kind == ContainerKind::Tuple && item == TypeId::ROW {
            return TypeId::GRID;
        }
        self.intern(Ty::Of(kind, item))
    }

    pub fn two(&mut self, a: TypeId, b: TypeId) -> TypeId {
        match (a, b) {
            (TypeId::INT, TypeId::INT) => TypeId::PAIR,
            (TypeId::INT, TypeId::PAIR) if !self.triples => TypeId::CELL,
            (TypeId::ROW, TypeId::ROW) => TypeId::GRID,
            _ => self.intern(Ty::Two(a, b)),
        }
    }

    pub fn fun(&mut self, params: &[TypeId], result: TypeId) -> TypeId {
        let mut key = vec![10, result.0];
        key.extend(params.iter().map(|id| id.0));
        self.intern_list(key, params, |list| Ty::Fun(list, result))
    }

    /// Returns the type of a function that has all these types.
    pub fn over(&mut self, types: &[TypeId]) -> TypeId {
        let flat = self.flatten(types, |ty| match ty {
            Ty::Over(list) => Some(list),
            _ => None,
        });
        if let [one] = flat[..] {
            return one;
        }
        let mut key = vec![11];
        key.extend(flat.iter().map(|id| id.0));
        self.intern_list(key, &flat, Ty::Over)
    }

    /// Returns the union of these types; unknown if one of them is unknown.
    pub fn union(&mut self, types: &[TypeId]) -> TypeId {
        let mut flat = self.flatten(types, |ty| match ty {
            Ty::Union(list) => Some(list),
            _ => None,
        });
        if flat.is_empty() || flat.contains(&TypeId::ANY) {
            return TypeId::ANY;
        }
        if let [one] = flat[..] {
            return one;
        }
        flat.sort_unstable();
        let mut key = vec![12];
        key.extend(flat.iter().map(|id| id.0));
        self.intern_list(key, &flat, Ty::Union)
    }

    /// Returns the members of nested lists, each once.
    fn flatten(&self, types: &[TypeId], inner: fn(Ty) -> Option<List>) -> Vec<TypeId> {
        let mut flat = Vec::new();
        let mut add = |id| {
            if !flat.contains(&id) {
                flat.push(id);
            }
        };
        for &id in types {
            match inner(self.get(id)) {
                Some(list) => self.list(list).iter().copied().for_each(&mut add),
                None => add(id),
            }
        }
        flat
    }

    pub fn intern(&mut self, ty: Ty) -> TypeId {
        let kind = |kind| match kind {
            ContainerKind::Tuple => 0,
            ContainerKind::Set => 1,
            ContainerKind::Either => 2,
            ContainerKind::Var(n) => 3 + u32::from(n),
        };
        let key = match ty {
            Ty::Any => vec![0],
            Ty::Bool => vec![1],
            Ty::Int => vec![2],
            Ty::Pair => vec![3],
            Ty::Cell => vec![4],
            Ty::Grid => vec![5],
            Ty::Of(k, item) => vec![6, kind(k), item.0],
            Ty::Two(a, b) => vec![7, a.0, b.0],
            Ty::Var(n) => vec![8, n.into()],
            // These types have lists, so only `intern_list` adds them.
            Ty::Fun(..) | Ty::Over(_) | Ty::Union(_) => return TypeId::ANY,
        };
        self.intern_list(key, &[], |_| ty)
    }

    fn intern_list(
        &mut self,
        key: Vec<u32>,
        list: &[TypeId],
        make: impl FnOnce(List) -> Ty,
    ) -> TypeId {
        if let Some(&id) = self.numbers.get(&key) {
            return id;
        }
        let start = self.pool.len();
        self.pool.extend_from_slice(list);
        let ty = make(List {
            start: start as u32,
            len: list.len() as u32,
        });
        let facts = self.facts_of(ty);
        if facts.depth > MAX_DEPTH || facts.size > MAX_SIZE {
            self.pool.truncate(start);
            return TypeId::ANY;
        }
        let id = TypeId(self.nodes.len() as u32);
        self.nodes.push(ty);
        self.facts.push(facts);
        self.numbers.insert(key, id);
        id
    }

    fn facts_of(&self, ty: Ty) -> Facts {
        let own = Facts {
            vars: match ty {
                Ty::Var(n) | Ty::Of(ContainerKind::Var(n), _) => n + 1,
                _ => 0,
            },
            depth: 1,
            size: 1,
            any: ty == Ty::Any,
            function: matches!(ty, Ty::Fun(..) | Ty::Over(_)),
        };
        // The variables of an overloaded function are independent in each of its types.
        let closed = matches!(ty, Ty::Over(_));
        self.parts(ty).into_iter().fold(own, |all, part| {
            let part = self.facts[part.index()];
            Facts {
                vars: if closed { 0 } else { all.vars.max(part.vars) },
                depth: all.depth.max(part.depth + 1),
                size: all.size + part.size,
                any: all.any || part.any,
                function: all.function || part.function,
            }
        })
    }

    fn parts(&self, ty: Ty) -> Vec<TypeId> {
        match ty {
            Ty::Of(_, item) => vec![item],
            Ty::Two(a, b) => vec![a, b],
            Ty::Union(list) | Ty::Over(list) => self.list(list).to_vec(),
            Ty::Fun(list, result) => {
                let mut parts = self.list(list).to_vec();
                parts.push(result);
                parts
            }
            _ => Vec::new(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, id: TypeId) -> fmt::Result {
        if let Some(name) = NAMES.get(id.index()) {
            return f.write_str(name);
        }
        match self.get(id) {
            Ty::Of(kind, item) => {
                match kind {
                    ContainerKind::Tuple => f.write_str("Tuple")?,
                    ContainerKind::Set => f.write_str("Set")?,
                    ContainerKind::Either => f.write_str("Container")?,
                    ContainerKind::Var(n) => write!(f, "{}", letter(n).to_ascii_uppercase())?,
                }
                f.write_str("<")?;
                self.write(f, item)?;
                f.write_str(">")
            }
            Ty::Two(a, b) => {
                f.write_str("[")?;
                self.write(f, a)?;
                f.write_str(", ")?;
                self.write(f, b)?;
                f.write_str("]")
            }
            Ty::Union(list) => self.write_list(f, list, " or "),
            Ty::Over(list) => self.write_list(f, list, " & "),
            Ty::Fun(params, result) => {
                f.write_str("(")?;
                self.write_list(f, params, ", ")?;
                f.write_str(" -> ")?;
                self.write(f, result)?;
                f.write_str(")")
            }
            Ty::Var(n) => write!(f, "{}", letter(n)),
            Ty::Any | Ty::Bool | Ty::Int | Ty::Pair | Ty::Cell | Ty::Grid => Ok(()),
        }
    }

    fn write_list(&self, f: &mut fmt::Formatter<'_>, list: List, between: &str) -> fmt::Result {
        for (k, &id) in self.list(list).iter().enumerate() {
            if k > 0 {
                f.write_str(between)?;
            }
            self.write(f, id)?;
        }
        Ok(())
    }
}

fn letter(n: u8) -> char {
    char::from(b'a' + n % 26)
}

/// A type that can be displayed as text.
pub(super) struct Shown<'a>(pub &'a Table, pub TypeId);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}
