//! Types: what the values of a program are intended to be.
//!
//! [`check`](crate::check) knows what is certain. Types are about *intent*, so that a search makes
//! sensible programs: `fill` takes a grid, a colour and a patch, and `apply(f, objects)` expects a
//! function of an object. Types are a heuristic: a program without a type may run, and a program
//! with a type may fail.
//!
//! - [`TypeId`] is a type: a small number, equal for equal types. [`Types`] has the table and
//!   caches every answer.
//! - The types of primitives come from the hints of the op table. If the hints are too weak, as for
//!   `apply`, the types come from rows of text such as `apply: (a -> b), C<a> -> C<b>`.
//! - [`ConstantRole`] is the purpose of a constant: a colour, a count, a direction.
//!
//! ```
//! use batt_dsl::Dialect;
//! use batt_lang::SolverFile;
//! use batt_lang::types::{ConstantRole, TypeId, Types};
//!
//! let file = SolverFile::parse("
//! def solve(I):
//!     objs = objects(I, T, F, T)
//!     big = sfilter(objs, compose(rbind(greater, THREE), size))
//!     return fill(I, TWO, merge(big))
//! ", "solve.py");
//! let program = &file.programs[0];
//!
//! let mut types = Types::new(Dialect::ArcDsl);
//! let steps = types.of_program(program);
//! let shown: Vec<_> = steps.iter().map(|ty| types.show(ty.unwrap()).to_string()).collect();
//! assert_eq!(shown, ["Objects", "(Int -> Bool)", "(A<b> -> Bool)", "Objects", "Object", "Grid"]);
//!
//! // The type expected of `sfilter`'s condition: a function from objects to truth values.
//! let sfilter = types.op(Dialect::ArcDsl.op("sfilter").unwrap());
//! let wanted = types.wanted_in(sfilter, &[steps[0].unwrap(), TypeId::ANY], 1, None);
//! assert_eq!(types.show(wanted).to_string(), "(Object -> Bool)");
//! // The purpose of `fill`'s second argument.
//! let fill = Dialect::ArcDsl.op("fill").unwrap();
//! assert_eq!(ConstantRole::of_param(fill, 1), Some(ConstantRole::Colour));
//! ```

mod program;
mod role;
mod signature;
mod solve;
mod table;

use std::fmt;

use batt_dsl::{ConstId, Dialect, Literal, Op, OpId};
use rustc_hash::FxHashMap;

pub use role::ConstantRole;
pub use table::{ContainerKind, List, Ty, TypeId};

use solve::{Call, Solver};
use table::{Shown, Table};

/// How well a value fits where a type is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not fit.
    No,
    /// It may fit: too little is known about it.
    Perhaps,
    /// It fits.
    Yes,
}

/// The types of one dialect, with a cache of every answer about them.
///
/// The table grows with the queries. Every thread of a search can have its own: a new one is cheap
/// to clone. The [`TypeId`]s of one table are meaningless in another that was not cloned from it.
#[derive(Clone, Debug)]
pub struct Types {
    table: Table,
    /// The types of primitives, by the address of the entry in the op table, which is fast to look
    /// up.
    ops: FxHashMap<usize, TypeId>,
    power_and_compose: Option<(TypeId, TypeId)>,
    calls: FxHashMap<CallKey, Option<TypeId>>,
    holes: FxHashMap<(CallKey, u8, Option<TypeId>), TypeId>,
    fits: FxHashMap<(TypeId, TypeId), Fit>,
}

/// Callee and arguments of a call with at most four arguments.
type CallKey = [u32; 5];

/// Marks a missing argument in a [`CallKey`].
const ABSENT: u32 = u32::MAX;

/// The most answers in a cache. A full cache is cleared, since a search moves on to new types.
const CACHE_LIMIT: usize = 1 << 20;

impl Types {
    /// Makes the types of a dialect's primitives.
    pub fn new(dialect: Dialect) -> Types {
        let mut table = Table::new(dialect.cells_are_triples());
        let mut ops = FxHashMap::default();
        for op in dialect.ops() {
            ops.insert(address(op), signature::of(&mut table, op));
        }
        let known = |name| {
            dialect
                .op(name)
                .and_then(|op| ops.get(&address(op.op())).copied())
        };
        let power_and_compose = known("power").zip(known("compose"));
        Types {
            table,
            ops,
            power_and_compose,
            calls: FxHashMap::default(),
            holes: FxHashMap::default(),
            fits: FxHashMap::default(),
        }
    }

    /// The number of types so far.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Always false: a table starts with the named types.
    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Returns the structure of a type.
    pub fn get(&self, id: TypeId) -> Ty {
        self.table.get(id)
    }

    /// The members of a list in a [`Ty`].
    pub fn list(&self, list: List) -> &[TypeId] {
        self.table.list(list)
    }

    /// Displays a type with the DSL's own names.
    pub fn show(&self, id: TypeId) -> impl fmt::Display + '_ {
        Shown(&self.table, id)
    }

    /// The function type of a primitive; unknown for a primitive of another dialect.
    pub fn op(&self, op: OpId) -> TypeId {
        let known = self.ops.get(&address(op.op())).copied();
        known.unwrap_or(TypeId::ANY)
    }

    /// The type of a constant.
    pub fn constant(&mut self, constant: ConstId) -> TypeId {
        self.literal(&constant.value())
    }

    /// The type of a literal.
    pub fn literal(&mut self, literal: &Literal) -> TypeId {
        match literal {
            Literal::None => TypeId::ANY,
            Literal::Bool(_) => TypeId::BOOL,
            Literal::Int(_) => TypeId::INT,
            Literal::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.literal(item)).collect();
                self.tuple(&items)
            }
        }
    }

    /// The type of a tuple of these items.
    pub fn tuple(&mut self, items: &[TypeId]) -> TypeId {
        if let [a, b] = *items {
            return self.table.two(a, b);
        }
        let mut all = TypeId::ANY;
        for &item in items {
            match Solver::new(&mut self.table).join(all, item) {
                Some(joined) => all = joined,
                None => {
                    all = TypeId::ANY;
                    break;
                }
            }
        }
        self.table.of(ContainerKind::Tuple, all)
    }

    /// The type of a function.
    pub fn function(&mut self, params: &[TypeId], result: TypeId) -> TypeId {
        self.table.fun(params, result)
    }

    /// The type of a program's parameter of this name.
    pub fn param(&self, name: &str) -> TypeId {
        match name {
            "I" | "i" | "C" | "c" => TypeId::GRID,
            "S" | "s" => TypeId::SAMPLES,
            _ => TypeId::ANY,
        }
    }

    /// Returns the type of a call, or `None` if its arguments do not fit.
    pub fn call(&mut self, callee: TypeId, args: &[TypeId]) -> Option<TypeId> {
        let Some(key) = key(callee, args) else {
            return self.solve_call(callee, args);
        };
        if let Some(&known) = self.calls.get(&key) {
            return known;
        }
        let result = self.solve_call(callee, args);
        cache_answer(&mut self.calls, key, result);
        result
    }

    fn solve_call(&mut self, callee: TypeId, args: &[TypeId]) -> Option<TypeId> {
        let mut solve = |callee, args| {
            Solver::new(&mut self.table).call(Call {
                callee,
                args,
                hole: None,
                result: None,
            })
        };
        let result = solve(callee, args);
        // `power` needs a function from a type to itself, and `first` is not one. `power(first,
        // TWO)` has a type all the same, so it is tried as a composition.
        match (result, self.power_and_compose) {
            (None, Some((power, compose))) if callee == power && args.len() == 2 => {
                solve(compose, &[args[0], args[0]])
            }
            _ => result,
        }
    }

    /// Returns the type expected of argument `hole` of a call, given the other arguments and, where
    /// it matters, the type of the result. The argument in that position is ignored.
    pub fn wanted_in(
        &mut self,
        callee: TypeId,
        args: &[TypeId],
        hole: usize,
        result: Option<TypeId>,
    ) -> TypeId {
        let mut others = args.to_vec();
        if let Some(open) = others.get_mut(hole) {
            *open = TypeId::ANY;
        }
        let key = key(callee, &others).map(|key| (key, hole as u8, result));
        if let Some(&known) = key.as_ref().and_then(|key| self.holes.get(key)) {
            return known;
        }
        let mut solve = |result| {
            Solver::new(&mut self.table).call(Call {
                callee,
                args: &others,
                hole: Some(hole),
                result,
            })
        };
        let wanted = solve(result).or_else(|| result.and_then(|_| solve(None)));
        // If the other arguments do not fit, the parameter of the function alone decides.
        let wanted = wanted.unwrap_or_else(|| {
            let params = self.params_of(callee);
            params.get(hole).copied().unwrap_or(TypeId::ANY)
        });
        if let Some(key) = key {
            cache_answer(&mut self.holes, key, wanted);
        }
        wanted
    }

    /// Returns whether a value of one type can stand where another type is expected.
    #[inline]
    pub fn fits(&mut self, value: TypeId, wanted: TypeId) -> bool {
        self.fit(value, wanted) != Fit::No
    }

    /// Returns whether a value of one type fits where another is expected, and whether that is
    /// certain.
    pub fn fit(&mut self, value: TypeId, wanted: TypeId) -> Fit {
        if let Some(&known) = self.fits.get(&(value, wanted)) {
            return known;
        }
        let fit = match Solver::new(&mut self.table).fit(value, wanted) {
            None => Fit::No,
            Some(false) => Fit::Perhaps,
            Some(true) => Fit::Yes,
        };
        cache_answer(&mut self.fits, (value, wanted), fit);
        fit
    }

    /// Returns whether a type is that of a function, with one signature or several.
    pub fn is_function(&self, id: TypeId) -> bool {
        matches!(self.table.get(id), Ty::Fun(..) | Ty::Over(_))
    }

    /// The number of parameters of a function; the least number if it has several types.
    pub fn arity(&self, fun: TypeId) -> Option<usize> {
        self.functions(fun)
            .iter()
            .map(|(params, _)| params.len())
            .min()
    }

    /// The parameters of a function. If the function has several types, each parameter is a union.
    pub fn params_of(&mut self, fun: TypeId) -> Vec<TypeId> {
        let functions = self.functions(fun);
        let most = functions.iter().map(|(params, _)| params.len()).max();
        (0..most.unwrap_or(0))
            .map(|k| {
                let taken: Vec<_> = functions
                    .iter()
                    .filter_map(|(p, _)| p.get(k).copied())
                    .collect();
                self.union_outside(&taken)
            })
            .collect()
    }

    /// The result of a function, or `None` if it is not a function.
    pub fn result_of(&mut self, fun: TypeId) -> Option<TypeId> {
        let results: Vec<_> = self.functions(fun).into_iter().map(|(_, r)| r).collect();
        (!results.is_empty()).then(|| self.union_outside(&results))
    }

    /// Returns the union of types from different functions. A variable in them stands for anything.
    fn union_outside(&mut self, types: &[TypeId]) -> TypeId {
        let mut solver = Solver::new(&mut self.table);
        let types: Vec<_> = types.iter().map(|&ty| solver.outside(ty)).collect();
        self.table.union(&types)
    }

    fn functions(&self, fun: TypeId) -> Vec<(Vec<TypeId>, TypeId)> {
        let one = [fun];
        let all = match self.table.get(fun) {
            Ty::Over(list) => self.table.list(list),
            _ => &one,
        };
        let function = |&id: &TypeId| match self.table.get(id) {
            Ty::Fun(params, result) => Some((self.table.list(params).to_vec(), result)),
            _ => None,
        };
        all.iter().filter_map(function).collect()
    }
}

fn address(op: &'static Op) -> usize {
    std::ptr::from_ref(op).addr()
}

#[inline]
fn key(callee: TypeId, args: &[TypeId]) -> Option<CallKey> {
    let mut key = [ABSENT; 5];
    key[0] = callee.0;
    for (k, arg) in args.iter().enumerate() {
        *key.get_mut(k + 1)? = arg.0;
    }
    Some(key)
}

fn cache_answer<K: std::hash::Hash + Eq, V>(answers: &mut FxHashMap<K, V>, key: K, value: V) {
    if answers.len() >= CACHE_LIMIT {
        answers.clear();
    }
    answers.insert(key, value);
}

#[cfg(test)]
mod tests;
