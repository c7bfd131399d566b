//! The types of the primitives: from their hints, or from rows of text if the hints are too weak.

use batt_dsl::{Dialect, Op, Type};

use super::table::{ContainerKind, NAMES, Table, TypeId};

/// One row per primitive: `name: parameters -> result`, with `|` between the types of a primitive
/// that has several.
///
/// Lower-case letters are type variables. `Tuple<a>` is a tuple and `Set<a>` a set. `C<a>`, `D<a>`
/// and `E<a>` are either. The same capital letter stands for the same kind of container throughout a
/// row; different letters may stand for different kinds. So `combine: C<a>, D<a> -> C<a>` takes any
/// two containers and returns one of the kind of the first. `[a, b]` is a tuple of two, `(a -> b)` a
/// function.
pub(super) const ROWS: &str = "
identity: a -> a
equality: a, a -> Bool
contained: a, C<a> -> Bool
branch: Bool, a, a -> a
add: Int, Int -> Int | Pair, Pair -> Pair | Pair, Int -> Pair | Int, Pair -> Pair
subtract: Int, Int -> Int | Pair, Pair -> Pair | Pair, Int -> Pair | Int, Pair -> Pair
multiply: Int, Int -> Int | Pair, Pair -> Pair | Pair, Int -> Pair | Int, Pair -> Pair
divide: Int, Int -> Int | Pair, Pair -> Pair | Pair, Int -> Pair | Int, Pair -> Pair
invert: Int -> Int | Pair -> Pair
double: Int -> Int | Pair -> Pair
halve: Int -> Int | Pair -> Pair
increment: Int -> Int | Pair -> Pair
decrement: Int -> Int | Pair -> Pair
crement: Int -> Int | Pair -> Pair
sign: Int -> Int | Pair -> Pair
astuple: a, b -> [a, b]
hsplit: Grid, Int -> Tuple<Grid>
vsplit: Grid, Int -> Tuple<Grid>
numcolors: Element -> Int
colorfilter: C<Object>, Int -> Objects
size: C<a> -> Int
totuple: C<a> -> Tuple<a>
first: [a, b] -> a | C<a> -> a
last: [a, b] -> b | C<a> -> a
initset: a -> Set<a>
insert: a, Set<a> -> Set<a>
remove: a, C<a> -> C<a>
other: C<a>, a -> a
combine: C<a>, D<a> -> C<a>
intersection: Set<a>, Set<a> -> Set<a>
difference: C<a>, D<a> -> C<a>
dedupe: Tuple<a> -> Tuple<a>
order: C<a>, (a -> Key) -> Tuple<a>
repeat: a, Int -> Tuple<a>
merge: C<D<a>> -> C<a>
maximum: C<Int> -> Int | C<Pair> -> Pair
minimum: C<Int> -> Int | C<Pair> -> Pair
valmax: C<a>, (a -> Int) -> Int | C<a>, (a -> Pair) -> Pair
valmin: C<a>, (a -> Int) -> Int | C<a>, (a -> Pair) -> Pair
argmax: C<a>, (a -> Key) -> a
argmin: C<a>, (a -> Key) -> a
mostcommon: Tuple<a> -> a
leastcommon: Tuple<a> -> a
sfilter: C<a>, (a -> Bool) -> C<a>
mfilter: C<D<a>>, (D<a> -> Bool) -> C<a>
extract: C<a>, (a -> Bool) -> a
interval: Int, Int, Int -> Tuple<Int>
product: C<a>, D<b> -> Set<[a, b]>
pair: C<a>, D<b> -> Tuple<[a, b]>
sizefilter: C<D<a>>, Int -> Set<D<a>>
compose: (b -> c), (a -> b) -> (a -> c)
chain: (c -> d), (b -> c), (a -> b) -> (a -> d)
matcher: (a -> b), b -> (a -> Bool)
rbind: (a, b -> c), b -> (a -> c) | (a, b, c -> d), c -> (a, b -> d) | (a, b, c, d -> e), d -> (a, b, c -> e)
lbind: (a, b -> c), a -> (b -> c) | (a, b, c -> d), a -> (b, c -> d) | (a, b, c, d -> e), a -> (b, c, d -> e)
power: (a -> a), Int -> (a -> a)
fork: (b, c -> d), (a -> b), (a -> c) -> (a -> d)
apply: (a -> b), C<a> -> C<b>
rapply: C<(a -> b)>, a -> C<b>
mapply: (a -> D<b>), C<a> -> C<b>
papply: (a, b -> c), C<a>, D<b> -> Tuple<c>
mpapply: (a, b -> E<c>), C<a>, D<b> -> Tuple<c>
prapply: (a, b -> c), C<a>, D<b> -> Set<c>
hmirror: Grid -> Grid | Object -> Object | Indices -> Indices
vmirror: Grid -> Grid | Object -> Object | Indices -> Indices
dmirror: Grid -> Grid | Object -> Object | Indices -> Indices
cmirror: Grid -> Grid | Object -> Object | Indices -> Indices
upscale: Grid, Int -> Grid | Object, Int -> Object
shift: Object, Pair -> Object | Indices, Pair -> Indices
normalize: Object -> Object | Indices -> Indices
";

/// The rows of tokpidjin's primitives that `ROWS` does not have, or has with other types.
pub(super) const TOKPIDJIN: &str = "
c_branch: Bool, Int, Int -> Int
first_t: [a, b] -> a | Tuple<a> -> a
first_f: C<a> -> a
second: [a, b] -> b | C<a> -> a
last_t: [a, b] -> b | Tuple<a> -> a
last_f: C<a> -> a
size_t: Tuple<a> -> Int
size_f: C<a> -> Int
remove_t: a, Tuple<a> -> Tuple<a>
remove_f: a, C<a> -> C<a>
other_t: Tuple<a>, a -> a
other_f: C<a>, a -> a
combine_t: Tuple<a>, Tuple<a> -> Tuple<a>
combine_f: Set<a>, Set<a> -> Set<a>
difference_tuple: Tuple<a>, C<a> -> Tuple<a>
difference_t: Tuple<a>, C<a> -> Tuple<a>
merge_f: C<D<a>> -> C<a>
merge_t: C<D<a>> -> C<a>
valmax_t: Tuple<a>, (a -> Int) -> Int | Tuple<a>, (a -> Pair) -> Pair
valmax_f: C<a>, (a -> Int) -> Int | C<a>, (a -> Pair) -> Pair
valmin_t: Tuple<a>, (a -> Int) -> Int | Tuple<a>, (a -> Pair) -> Pair
valmin_f: C<a>, (a -> Int) -> Int | C<a>, (a -> Pair) -> Pair
argmax_t: Tuple<a>, (a -> Key) -> a
argmax_f: C<a>, (a -> Key) -> a
argmin_t: Tuple<a>, (a -> Key) -> a
argmin_f: C<a>, (a -> Key) -> a
mostcommon_t: Tuple<a> -> a
mostcommon_f: C<a> -> a
leastcommon_t: Tuple<a> -> a
leastcommon_f: C<a> -> a
sfilter_t: C<a>, (a -> Bool) -> Tuple<a>
sfilter_f: C<a>, (a -> Bool) -> Set<a>
mfilter_t: C<a>, (a -> Bool) -> Set<a>
mfilter_f: C<D<a>>, (D<a> -> Bool) -> C<a>
ascell: Pair, Int -> Cell
astriple: Int, Int, Int -> Cell
celltuple: C<Pair>, D<Int> -> Tuple<Cell>
sizefilter_t: C<D<a>>, Int -> Tuple<D<a>>
get_nth_t: Tuple<a>, Int -> a
get_nth_f: C<a>, Int -> a
get_nth_by_key_t: Tuple<a>, Int -> a | Tuple<a>, Int, (a -> Key) -> a
get_nth_by_key_f: C<a>, Int -> a | C<a>, Int, (a -> Key) -> a
get_rank: C<Int>, Int -> Int
get_arg_rank: C<a>, (a -> Key), Int -> a
get_arg_rank_t: Tuple<a>, (a -> Key), Int -> a
get_arg_rank_f: C<a>, (a -> Key), Int -> a
get_val_rank: C<a>, (a -> Int), Int -> Int | C<a>, (a -> Pair), Int -> Pair
get_val_rank_t: Tuple<a>, (a -> Int), Int -> Int | Tuple<a>, (a -> Pair), Int -> Pair
get_val_rank_f: C<a>, (a -> Int), Int -> Int | C<a>, (a -> Pair), Int -> Pair
get_common_rank: Tuple<a>, Int -> a
get_common_rank_t: Tuple<a>, Int -> a
get_common_rank_f: C<a>, Int -> a
apply_t: (a -> b), C<a> -> Tuple<b>
apply_f: (a -> b), C<a> -> C<b>
rapply_t: C<(a -> b)>, a -> Tuple<b>
rapply_f: C<(a -> b)>, a -> C<b>
mapply_t: (a -> D<b>), C<a> -> Tuple<b>
mapply_f: (a -> D<b>), C<a> -> C<b>
p_g: Grid -> Tuple<Int>
p_f: Object -> Set<Int>
p_o: Object -> Tuple<Int>
c_iz: Samples, (Grid -> C<a>) -> Tuple<a>
c_zo: Samples, (Grid -> C<a>) -> Tuple<a>
c_iz_n: Samples, (Grid -> C<a>), (Tuple<a> -> Int) -> Int
c_zo_n: Samples, (Grid -> C<a>), (Tuple<a> -> Int) -> Int
is_no_grid: a -> Bool
palette_t: Grid -> Set<Int>
palette_f: Object -> Set<Int>
height_t: Grid -> Int
width_t: Grid -> Int
height_f: Patch -> Int
width_f: Patch -> Int
normalize_t: Tuple<a> -> Tuple<a>
hmirror_f: Object -> Object | Indices -> Indices
vmirror_f: Object -> Object | Indices -> Indices
dmirror_f: Object -> Object | Indices -> Indices
cmirror_f: Object -> Object | Indices -> Indices
mir_rot_f: Object, Int -> Object | Indices, Int -> Indices
";

/// Returns the row of a primitive, if there is one.
pub(super) fn row(op: &Op) -> Option<&'static str> {
    let find = |rows: &'static str| {
        rows.lines().find_map(|line| {
            let (name, row) = line.split_once(": ")?;
            (name == op.name).then_some(row)
        })
    };
    match op.dialect {
        Dialect::ArcDsl | Dialect::ReArc => find(ROWS),
        Dialect::Tokpidjin => find(TOKPIDJIN).or_else(|| find(ROWS)),
    }
}

/// Returns whether a hint alone is specific enough.
#[cfg(test)]
pub(super) fn is_clear(ty: Type) -> bool {
    !matches!(
        ty,
        Type::Any
            | Type::Tuple
            | Type::TupleTuple
            | Type::FrozenSet
            | Type::Container
            | Type::ContainerContainer
            | Type::Callable
    )
}

/// Returns the type of a primitive, from its row or otherwise from its hints.
pub(super) fn of(table: &mut Table, op: &Op) -> TypeId {
    if let Some(row) = row(op) {
        return parse(table, row).unwrap_or(TypeId::ANY);
    }
    let params: Vec<_> = op.params.iter().map(|p| hinted(table, p.ty)).collect();
    let result = hinted(table, op.returns);
    table.fun(&params, result)
}

fn hinted(table: &mut Table, hint: Type) -> TypeId {
    match hint {
        Type::Boolean => TypeId::BOOL,
        Type::Integer => TypeId::INT,
        Type::FL | Type::F_ | Type::L_ | Type::R_ | Type::R4 | Type::R8 => TypeId::INT,
        Type::A4 | Type::A8 | Type::C_ | Type::I_ | Type::J_ => TypeId::INT,
        Type::Numerical => TypeId::NUMERICAL,
        Type::Pair | Type::IJ => TypeId::PAIR,
        Type::Cell => TypeId::CELL,
        Type::Grid => TypeId::GRID,
        Type::Object => TypeId::OBJECT,
        Type::Objects => TypeId::OBJECTS,
        Type::Indices => TypeId::INDICES,
        Type::Patch => TypeId::PATCH,
        Type::Element => TypeId::ELEMENT,
        Type::Piece => TypeId::PIECE,
        Type::Samples => TypeId::SAMPLES,
        Type::IntegerSet => table.of(ContainerKind::Set, TypeId::INT),
        Type::IndicesSet => table.of(ContainerKind::Set, TypeId::INDICES),
        Type::Tuple => table.of(ContainerKind::Tuple, TypeId::ANY),
        Type::FrozenSet => table.of(ContainerKind::Set, TypeId::ANY),
        Type::Container => table.of(ContainerKind::Either, TypeId::ANY),
        Type::TupleTuple => {
            let inner = table.of(ContainerKind::Tuple, TypeId::ANY);
            table.of(ContainerKind::Tuple, inner)
        }
        Type::TTT_iii => {
            let object = table.of(ContainerKind::Tuple, TypeId::CELL);
            table.of(ContainerKind::Tuple, object)
        }
        Type::ContainerContainer => {
            let inner = table.of(ContainerKind::Either, TypeId::ANY);
            table.of(ContainerKind::Either, inner)
        }
        Type::Any | Type::Callable => TypeId::ANY,
    }
}

/// Reads a row, `parameters -> result | ...`; `None` if it is not well formed.
pub(super) fn parse(table: &mut Table, row: &str) -> Option<TypeId> {
    let mut types = Vec::new();
    for text in row.split(" | ") {
        let mut reader = Reader {
            table,
            rest: text,
            vars: Vec::new(),
        };
        let fun = reader.function()?;
        if !reader.rest.is_empty() {
            return None;
        }
        types.push(fun);
    }
    Some(table.over(&types))
}

/// A parser of types. The names of types are those in [`NAMES`].
struct Reader<'a> {
    table: &'a mut Table,
    rest: &'a str,
    /// The letters of the variables, by number.
    vars: Vec<char>,
}

impl Reader<'_> {
    fn function(&mut self) -> Option<TypeId> {
        let mut params = vec![self.ty()?];
        while self.eat(", ") {
            params.push(self.ty()?);
        }
        self.expect(" -> ")?;
        let result = self.ty()?;
        Some(self.table.fun(&params, result))
    }

    fn ty(&mut self) -> Option<TypeId> {
        if self.eat("(") {
            let fun = self.function()?;
            self.expect(")")?;
            return Some(fun);
        }
        if self.eat("[") {
            let a = self.ty()?;
            self.expect(", ")?;
            let b = self.ty()?;
            self.expect("]")?;
            return Some(self.table.two(a, b));
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if self.eat("<") {
            let kind = match name {
                "Tuple" => ContainerKind::Tuple,
                "Set" => ContainerKind::Set,
                "Container" => ContainerKind::Either,
                _ => ContainerKind::Var(self.var(name)?),
            };
            let item = self.ty()?;
            self.expect(">")?;
            return Some(self.table.of(kind, item));
        }
        if let Some(known) = NAMES.iter().position(|&known| known == name) {
            return Some(TypeId(known as u32));
        }
        let var = self.var(name)?;
        Some(self.table.intern(super::Ty::Var(var)))
    }

    fn var(&mut self, name: &str) -> Option<u8> {
        let mut letters = name.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        if letters.next().is_some() {
            return None;
        }
        let known = self.vars.iter().position(|&var| var == letter);
        let number = known.unwrap_or_else(|| {
            self.vars.push(letter);
            self.vars.len() - 1
        });
        u8::try_from(number).ok()
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }
}
