//! The solver for types: whether a value fits an expected type, and the type of a call.
//!
//! The solver unifies in one direction: a value *flows* from where it is made to where it is used.
//! Values of several types may flow into a variable, which widens the variable. A variable that
//! flows into several places must fit all of them, which narrows it.

use super::table::{ContainerKind, Table, Ty, TypeId};

/// A type whose variables count from `base`, so that two uses of the same type have different
/// variables.
#[derive(Clone, Copy, Debug)]
struct Term {
    id: TypeId,
    base: u32,
}

/// The value of a variable.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Free,
    Type(Term),
    /// A kind of container that is not a variable.
    ContainerKind(ContainerKind),
    /// The same kind as another variable.
    Same(u32),
}

/// A call, perhaps with one argument left open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub callee: TypeId,
    pub args: &'a [TypeId],
    pub hole: Option<usize>,
    /// The required type of the result, if that matters.
    pub result: Option<TypeId>,
}

/// The most types that a function can have; further ones are dropped.
const MAX_RESULTS: usize = 8;
/// The most combinations to try. Compositions of functions with many types have very many.
const MAX_TRIES: u32 = 3000;

pub(super) struct Solver<'t> {
    table: &'t mut Table,
    bound: Vec<Bound>,
    trail: Vec<(u32, Bound)>,
    /// The number of assumptions that need not hold.
    loose: u32,
    tries: u32,
    /// Whether the first member of a union was taken although others would fit as well.
    one_of_many: bool,
    /// Whether a function that takes a union is split into one function per member.
    split: bool,
    found: Vec<(TypeId, bool)>,
}

/// A state to go back to.
#[derive(Clone, Copy)]
struct Mark {
    trail: usize,
    vars: usize,
    loose: u32,
}

impl<'t> Solver<'t> {
    pub fn new(table: &'t mut Table) -> Solver<'t> {
        Solver {
            table,
            bound: Vec::new(),
            trail: Vec::new(),
            loose: 0,
            tries: 0,
            one_of_many: false,
            split: false,
            found: Vec::new(),
        }
    }

    /// Returns `Some` if a value of this type fits; the content is true if that is certain.
    pub fn fit(&mut self, value: TypeId, wanted: TypeId) -> Option<bool> {
        let value = self.fresh(value);
        let wanted = self.fresh(wanted);
        self.flow(value, wanted).then_some(self.loose == 0)
    }

    /// Returns a part of a function's type as seen from outside the function, where its variables
    /// are unknown.
    pub fn outside(&mut self, id: TypeId) -> TypeId {
        let term = self.fresh(id);
        self.resolve(term, false, &mut Vec::new())
    }

    /// Returns the type of a call, or the type expected in its hole.
    pub fn call(&mut self, call: Call<'_>) -> Option<TypeId> {
        self.search_all(call);
        // `size` takes containers and `height` takes pieces. Several types fit both, and only the
        // first of them was found, so unions are split into their members.
        let function = |&(ty, _): &(TypeId, bool)| self.is_function(ty);
        let many = call.hole.is_some() || self.found.iter().all(function);
        if self.one_of_many && many {
            self.found.clear();
            self.split = true;
            self.search_all(call);
        }
        self.outcome(call)
    }

    fn search_all(&mut self, call: Call<'_>) {
        for alternative in self.alternatives(call.callee) {
            let Ty::Fun(params, result) = self.table.get(alternative) else {
                if alternative == TypeId::ANY || matches!(self.table.get(alternative), Ty::Var(_)) {
                    self.found.push((TypeId::ANY, true));
                }
                continue;
            };
            let params = self.table.list(params).to_vec();
            if params.len() != call.args.len() {
                continue;
            }
            let mark = self.mark();
            let base = self.fresh(alternative).base;
            let mut order: Vec<usize> = (0..params.len())
                .filter(|&k| Some(k) != call.hole)
                .collect();
            // Plain arguments come first, because they determine the types of functions. Functions
            // follow from the last to the first, since `compose(f, g)` applies `g` first. Functions
            // passed where no function is expected, as the second argument of `lbind(lbind, f)`,
            // come last.
            order.sort_by_key(|&k| {
                let back = params.len() - k;
                match self.table.has_function(params[k]) {
                    true => (1, back),
                    false if self.is_function(call.args[k]) => (2, k),
                    false => (0, k),
                }
            });
            self.search(call, &params, Term { id: result, base }, &order);
            self.undo(mark);
            if self.is_done(call) {
                break;
            }
        }
    }

    fn is_done(&self, call: Call<'_>) -> bool {
        // All types of a function may be used later. For other results, the first certain one is
        // taken.
        let certain = |&(ty, loose): &(TypeId, bool)| !loose && !self.table.has_function(ty);
        self.tries > MAX_TRIES
            || self.found.len() >= MAX_RESULTS
            || call.hole.is_none() && self.found.last().is_some_and(certain)
    }

    fn outcome(&mut self, call: Call<'_>) -> Option<TypeId> {
        let certain = self.found.iter().any(|&(_, loose)| !loose);
        let keep = |&&(_, loose): &&(TypeId, bool)| call.hole.is_some() || loose != certain;
        let found: Vec<TypeId> = self.found.iter().filter(keep).map(|&(ty, _)| ty).collect();
        match found[..] {
            [] => None,
            [one] => Some(one),
            _ if call.hole.is_some() => Some(self.table.union(&found)),
            _ => Some(self.combine_results(&found, certain)),
        }
    }

    /// Combines the results of a call that can be typed in several ways. A function, or a container
    /// of functions, gets all of the types. Any other result gets the first certain type, or the
    /// join of all types.
    fn combine_results(&mut self, found: &[TypeId], certain: bool) -> TypeId {
        if found.iter().all(|&ty| self.is_function(ty)) {
            return self.table.over(found);
        }
        if let Ty::Of(kind, _) = self.table.get(found[0]) {
            let item = |&ty| match self.table.get(ty) {
                Ty::Of(k, item) if k == kind && self.is_function(item) => Some(item),
                _ => None,
            };
            if let Some(items) = found.iter().map(item).collect::<Option<Vec<_>>>() {
                let item = self.table.over(&items);
                return self.table.of(kind, item);
            }
        }
        if certain {
            return found[0];
        }
        let mut all = found[0];
        for &ty in &found[1..] {
            all = self.join(all, ty).unwrap_or(TypeId::ANY);
        }
        all
    }

    fn search(&mut self, call: Call<'_>, params: &[TypeId], result: Term, order: &[usize]) {
        let Some((&k, rest)) = order.split_first() else {
            return self.record_result(call, params, result);
        };
        let param = Term {
            id: params[k],
            base: result.base,
        };
        let choices = match self.table.get(self.walk(param).id) {
            Ty::Fun(..) => self.choices(call.args[k]),
            _ => vec![call.args[k]],
        };
        for choice in choices {
            let mark = self.mark();
            let arg = self.fresh(choice);
            if self.flow(arg, param) {
                self.search(call, params, result, rest);
            }
            self.undo(mark);
            if self.is_done(call) {
                return;
            }
        }
    }

    /// Records a result after all arguments fit.
    fn record_result(&mut self, call: Call<'_>, params: &[TypeId], result: Term) {
        if let Some(wanted) = call.result {
            let wanted = self.fresh(wanted);
            if !self.flow(result, wanted) {
                return;
            }
        }
        let term = match call.hole {
            Some(k) => Term {
                id: params[k],
                ..result
            },
            None => result,
        };
        let ty = self.resolve(term, false, &mut Vec::new());
        let entry = (ty, self.loose > 0);
        if !self.found.contains(&entry) {
            self.found.push(entry);
        }
    }

    fn alternatives(&self, id: TypeId) -> Vec<TypeId> {
        match self.table.get(id) {
            Ty::Over(list) | Ty::Union(list) => self.table.list(list).to_vec(),
            _ => vec![id],
        }
    }

    /// Returns the types of a function, split by the members of unions if `split` is set.
    fn choices(&mut self, id: TypeId) -> Vec<TypeId> {
        let all = self.alternatives(id);
        if !self.split {
            return all;
        }
        let mut split = Vec::new();
        for id in all {
            let Ty::Fun(list, result) = self.table.get(id) else {
                split.push(id);
                continue;
            };
            let mut params = vec![self.table.list(list).to_vec()];
            for k in 0..params[0].len() {
                if let Ty::Union(list) = self.table.get(params[0][k]) {
                    let members = self.table.list(list).to_vec();
                    let with = |params: Vec<TypeId>| {
                        let members = members.clone().into_iter();
                        members.map(move |member| {
                            let mut params = params.clone();
                            params[k] = member;
                            params
                        })
                    };
                    params = params.into_iter().flat_map(with).collect();
                }
            }
            for params in params {
                split.push(self.table.fun(&params, result));
            }
        }
        split
    }

    fn is_function(&self, id: TypeId) -> bool {
        matches!(self.table.get(id), Ty::Fun(..) | Ty::Over(_))
    }

    fn fresh(&mut self, id: TypeId) -> Term {
        let base = self.bound.len();
        self.bound.resize(base + self.table.vars(id), Bound::Free);
        Term {
            id,
            base: base as u32,
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len(),
            vars: self.bound.len(),
            loose: self.loose,
        }
    }

    fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            if let Some((var, before)) = self.trail.pop() {
                self.bound[var as usize] = before;
            }
        }
        self.bound.truncate(mark.vars);
        self.loose = mark.loose;
    }

    fn set(&mut self, var: u32, bound: Bound) {
        self.trail.push((var, self.bound[var as usize]));
        self.bound[var as usize] = bound;
    }

    /// Returns the variable that a term is, if it is one.
    fn var(&self, term: Term) -> Option<u32> {
        match self.table.get(term.id) {
            Ty::Var(n) => Some(term.base + u32::from(n)),
            _ => None,
        }
    }

    /// Follows a term to its value: a type that is not a variable, or a free variable.
    fn walk(&self, mut term: Term) -> Term {
        while let Some(var) = self.var(term) {
            match self.bound[var as usize] {
                Bound::Type(bound) => term = bound,
                _ => break,
            }
        }
        term
    }

    /// Binds a variable, unless it would contain itself.
    fn bind(&mut self, var: u32, term: Term) -> bool {
        let end = self.walk(term);
        if self.var(end) == Some(var) {
            return true;
        }
        if self.occurs(var, end) {
            return false;
        }
        self.set(var, Bound::Type(end));
        true
    }

    fn occurs(&self, var: u32, term: Term) -> bool {
        if self.table.vars(term.id) == 0 {
            return false;
        }
        let part = |id| {
            let part = Term { id, ..term };
            self.occurs(var, part)
        };
        match self.table.get(term.id) {
            Ty::Var(n) => {
                let own = term.base + u32::from(n);
                own == var
                    || match self.bound[own as usize] {
                        Bound::Type(bound) => self.occurs(var, bound),
                        _ => false,
                    }
            }
            Ty::Of(_, item) => part(item),
            Ty::Two(a, b) => part(a) || part(b),
            Ty::Fun(list, result) => {
                part(result) || self.table.list(list).iter().any(|&id| part(id))
            }
            Ty::Union(list) => self.table.list(list).iter().any(|&id| part(id)),
            _ => false,
        }
    }

    /// Tries `f`, and undoes its bindings if it fails.
    fn attempt(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.mark();
        let done = f(self);
        if !done {
            self.undo(mark);
        }
        done
    }

    fn flow(&mut self, from: Term, to: Term) -> bool {
        self.tries += 1;
        if let Some(var) = self.var(to) {
            return self.flow_to_var(from, var);
        }
        if let Some(var) = self.var(from) {
            return self.flow_from_var(var, to);
        }
        if from.id == to.id && self.table.vars(to.id) == 0 {
            return true;
        }
        let part = |term: Term, id| Term { id, ..term };
        let plain = |id| Term { id, base: 0 };
        let (int, row) = (plain(TypeId::INT), plain(TypeId::ROW));
        match (self.table.get(from.id), self.table.get(to.id)) {
            (_, Ty::Any) => true,
            (Ty::Any, _) => {
                self.loose += 1;
                true
            }
            (_, Ty::Union(list)) => {
                let members = self.table.list(list).to_vec();
                let before = self.loose;
                let certain = members
                    .iter()
                    .any(|&id| self.attempt(|s| s.flow(from, part(to, id)) && s.loose == before));
                if certain && self.table.vars(from.id) > 0 {
                    self.one_of_many = true;
                }
                certain
                    || members
                        .iter()
                        .any(|&id| self.attempt(|s| s.flow(from, part(to, id))))
            }
            (Ty::Union(list), _) => {
                let members = self.table.list(list).to_vec();
                let closed = self.table.vars(to.id) == 0;
                let suits = |s: &mut Self, id| s.attempt(|s| s.flow(part(from, id), to));
                if closed && members.iter().all(|&id| suits(self, id)) {
                    return true;
                }
                self.one_of_many |= !closed;
                self.loose += 1;
                members.iter().any(|&id| suits(self, id))
            }
            (_, Ty::Over(list)) => {
                let members = self.table.list(list).to_vec();
                members.iter().any(|&id| {
                    self.attempt(|s| {
                        let to = s.fresh(id);
                        s.flow(from, to)
                    })
                })
            }
            (Ty::Over(list), Ty::Fun(..)) => {
                let members = self.table.list(list).to_vec();
                members.iter().any(|&id| {
                    self.attempt(|s| {
                        let from = s.fresh(id);
                        s.flow(from, to)
                    })
                })
            }
            (Ty::Fun(given, gives), Ty::Fun(wants, wanted)) => {
                let given = self.table.list(given).to_vec();
                let wants = self.table.list(wants).to_vec();
                if given.len() != wants.len() {
                    return false;
                }
                // Plain parameters come first: they say which type of a function among them is
                // meant.
                let mut params: Vec<_> = wants.into_iter().zip(given).collect();
                params.sort_by_key(|&(_, give)| self.table.has_function(give));
                params
                    .into_iter()
                    .all(|(want, give)| self.flow(part(to, want), part(from, give)))
                    && self.flow(part(from, gives), part(to, wanted))
            }
            (Ty::Of(k, a), Ty::Of(l, b)) => {
                let (a, b) = (part(from, a), part(to, b));
                self.attempt(|s| s.flow_kind((k, from.base), (l, to.base)) && s.flow(a, b))
                    || l == ContainerKind::Set
                        && is_spread(b.id)
                        && self.flow_kind((k, from.base), (ContainerKind::Tuple, 0))
                        && self.flow(a, b)
            }
            (Ty::Grid, Ty::Of(k, item)) => {
                self.flow_kind((ContainerKind::Tuple, 0), (k, to.base))
                    && self.flow(row, part(to, item))
            }
            (Ty::Of(k, item), Ty::Grid) => {
                self.flow_kind((k, from.base), (ContainerKind::Tuple, 0))
                    && self.flow_row(part(from, item))
            }
            (Ty::Pair, Ty::Of(k, item)) => {
                self.flow_kind((ContainerKind::Tuple, 0), (k, to.base))
                    && self.flow(int, part(to, item))
            }
            (Ty::Of(k, item), Ty::Pair) => {
                self.flow_kind((k, from.base), (ContainerKind::Tuple, 0))
                    && self.flow(part(from, item), int)
            }
            (Ty::Cell, Ty::Of(k, item)) => {
                let items = match self.table.triples {
                    true => int,
                    false => plain(TypeId::NUMERICAL),
                };
                self.flow_kind((ContainerKind::Tuple, 0), (k, to.base))
                    && self.flow(items, part(to, item))
            }
            (Ty::Of(k, item), Ty::Cell) => {
                let item = part(from, item);
                self.flow_kind((k, from.base), (ContainerKind::Tuple, 0))
                    && self.flow(item, int)
                    && (self.table.triples || self.flow(item, plain(TypeId::PAIR)))
            }
            (Ty::Two(a, b), Ty::Of(ContainerKind::Set, item)) if is_spread(item) => {
                let item = part(to, item);
                self.flow(part(from, a), item) && self.flow(part(from, b), item)
            }
            (Ty::Two(a, b), Ty::Of(k, item)) => {
                let (a, b, item) = (part(from, a), part(from, b), part(to, item));
                self.flow_kind((ContainerKind::Tuple, 0), (k, to.base))
                    && (self.attempt(|s| s.flow(a, item) && s.flow(b, item))
                        || self.flow(plain(TypeId::ANY), item))
            }
            (Ty::Of(k, item), Ty::Two(a, b)) => {
                let item = part(from, item);
                self.flow_kind((k, from.base), (ContainerKind::Tuple, 0))
                    && self.flow(item, part(to, a))
                    && self.flow(item, part(to, b))
            }
            (Ty::Two(a, b), Ty::Two(c, d)) => {
                self.flow(part(from, a), part(to, c)) && self.flow(part(from, b), part(to, d))
            }
            (Ty::Two(a, b), Ty::Pair) => {
                self.flow(part(from, a), int) && self.flow(part(from, b), int)
            }
            (Ty::Pair, Ty::Two(a, b)) => self.flow(int, part(to, a)) && self.flow(int, part(to, b)),
            (Ty::Two(a, b), Ty::Cell) if !self.table.triples => {
                self.flow(part(from, a), int) && self.flow(part(from, b), plain(TypeId::PAIR))
            }
            (Ty::Cell, Ty::Two(a, b)) if !self.table.triples => {
                self.flow(int, part(to, a)) && self.flow(plain(TypeId::PAIR), part(to, b))
            }
            (Ty::Two(a, b), Ty::Grid) => {
                self.flow_row(part(from, a)) && self.flow_row(part(from, b))
            }
            (Ty::Grid, Ty::Two(a, b)) => self.flow(row, part(to, a)) && self.flow(row, part(to, b)),
            _ => false,
        }
    }

    /// Tries to use a type as a row of a grid. A location looks like a row, but is not one.
    fn flow_row(&mut self, from: Term) -> bool {
        self.walk(from).id != TypeId::PAIR
            && self.flow(
                from,
                Term {
                    id: TypeId::ROW,
                    base: 0,
                },
            )
    }

    fn flow_to_var(&mut self, from: Term, var: u32) -> bool {
        let Bound::Type(now) = self.bound[var as usize] else {
            return self.bind(var, from);
        };
        if self.attempt(|s| s.flow(from, now)) {
            let from = self.walk(from);
            if self.table.has_any(now.id) && !self.table.has_any(from.id) {
                return self.bind(var, from);
            }
            return true;
        }
        if self.attempt(|s| s.flow(now, from)) {
            return self.bind(var, from);
        }
        let from = self.walk(from);
        let closed = self.table.vars(from.id) == 0 && self.table.vars(now.id) == 0;
        match closed.then(|| self.join_alike(now.id, from.id)).flatten() {
            Some(id) => self.bind(var, Term { id, base: 0 }),
            None => false,
        }
    }

    fn flow_from_var(&mut self, var: u32, to: Term) -> bool {
        let Bound::Type(now) = self.bound[var as usize] else {
            return self.bind(var, to);
        };
        if !self.flow(now, to) {
            return false;
        }
        let wide = match self.table.get(now.id) {
            Ty::Union(list) => match self.table.get(to.id) {
                Ty::Union(narrow) => self.table.list(narrow).len() < self.table.list(list).len(),
                _ => true,
            },
            _ => self.table.has_any(now.id) && !self.table.has_any(to.id),
        };
        if wide && to.id != TypeId::ANY {
            return self.bind(var, to);
        }
        true
    }

    /// Returns the kind of a container, or the variable that stands for it.
    fn kind(&self, (kind, base): (ContainerKind, u32)) -> Result<ContainerKind, u32> {
        let ContainerKind::Var(n) = kind else {
            return Ok(kind);
        };
        let mut var = base + u32::from(n);
        loop {
            match self.bound[var as usize] {
                Bound::Same(other) => var = other,
                Bound::ContainerKind(kind) => return Ok(kind),
                _ => return Err(var),
            }
        }
    }

    /// Returns the last variable in the chain of variables that stand for a kind.
    fn kind_var(&self, (kind, base): (ContainerKind, u32)) -> Option<u32> {
        let ContainerKind::Var(n) = kind else {
            return None;
        };
        let mut var = base + u32::from(n);
        while let Bound::Same(other) = self.bound[var as usize] {
            var = other;
        }
        Some(var)
    }

    fn flow_kind(&mut self, from: (ContainerKind, u32), to: (ContainerKind, u32)) -> bool {
        match (self.kind(from), self.kind(to)) {
            (Err(a), Err(b)) => {
                if a != b {
                    self.set(a, Bound::Same(b));
                }
                true
            }
            (Err(var), Ok(kind)) | (Ok(kind), Err(var)) => {
                self.set(var, Bound::ContainerKind(kind));
                true
            }
            (Ok(a), Ok(b)) if a == b => true,
            // A container of either kind is now known to have this kind.
            (Ok(ContainerKind::Either), Ok(kind)) => {
                match self.kind_var(from) {
                    Some(var) => self.set(var, Bound::ContainerKind(kind)),
                    None => self.loose += 1,
                }
                true
            }
            (Ok(kind), Ok(ContainerKind::Either)) => {
                if let Some(var) = self.kind_var(to) {
                    self.set(var, Bound::ContainerKind(kind));
                }
                true
            }
            _ => false,
        }
    }

    /// Returns the type with its variables replaced. Free variables stay inside functions and
    /// become unknown elsewhere. `names` has the remaining variables in the order of their new
    /// numbers.
    fn resolve(&mut self, term: Term, inside: bool, names: &mut Vec<u32>) -> TypeId {
        if self.table.vars(term.id) == 0 {
            return term.id;
        }
        let part = |id| Term { id, ..term };
        match self.table.get(term.id) {
            Ty::Var(n) => {
                let var = term.base + u32::from(n);
                match self.bound[var as usize] {
                    Bound::Type(bound) => self.resolve(bound, inside, names),
                    _ if inside => {
                        let n = number(names, var);
                        self.table.intern(Ty::Var(n))
                    }
                    _ => TypeId::ANY,
                }
            }
            Ty::Of(kind, item) => {
                let kind = match self.kind((kind, term.base)) {
                    Ok(kind) => kind,
                    Err(var) if inside => ContainerKind::Var(number(names, var)),
                    Err(_) => ContainerKind::Either,
                };
                let item = self.resolve(part(item), inside, names);
                self.table.of(kind, item)
            }
            Ty::Two(a, b) => {
                let a = self.resolve(part(a), inside, names);
                let b = self.resolve(part(b), inside, names);
                self.table.two(a, b)
            }
            Ty::Fun(list, result) => {
                let mut params = self.table.list(list).to_vec();
                for param in &mut params {
                    *param = self.resolve(part(*param), true, names);
                }
                let result = self.resolve(part(result), true, names);
                self.table.fun(&params, result)
            }
            Ty::Union(list) => {
                let mut members = self.table.list(list).to_vec();
                for member in &mut members {
                    *member = self.resolve(part(*member), inside, names);
                }
                self.table.union(&members)
            }
            _ => term.id,
        }
    }

    /// Returns the type of a value that has one type or the other, if they can be joined.
    pub fn join(&mut self, a: TypeId, b: TypeId) -> Option<TypeId> {
        if let Some(alike) = self.join_alike(a, b) {
            return Some(alike);
        }
        let classes = [TypeId::PATCH, TypeId::NUMERICAL, TypeId::PIECE, TypeId::KEY];
        let holds_both = |&class: &TypeId| self.fits(a, class) && self.fits(b, class);
        classes.into_iter().find(holds_both)
    }

    /// Joins two types as [`join`](Self::join) does, but without unions: a set of integers does not
    /// take pairs.
    fn join_alike(&mut self, a: TypeId, b: TypeId) -> Option<TypeId> {
        if a == b || b == TypeId::ANY {
            return Some(a);
        }
        if a == TypeId::ANY {
            return Some(b);
        }
        let (a, b) = match self.table.has_any(a) {
            true => (b, a),
            false => (a, b),
        };
        // If the types may be the same, the more specific one is the result.
        if self.fits(b, a) || self.table.has_any(b) && self.may_fit(b, a) {
            return Some(a);
        }
        if self.fits(a, b) {
            return Some(b);
        }
        match (self.table.get(a), self.table.get(b)) {
            (Ty::Of(k, x), Ty::Of(l, y)) => {
                let item = self.join_alike(x, y)?;
                Some(
                    self.table
                        .of(if k == l { k } else { ContainerKind::Either }, item),
                )
            }
            (Ty::Two(a, b), Ty::Two(c, d)) => {
                let (first, second) = (self.join_alike(a, c)?, self.join_alike(b, d)?);
                Some(self.table.two(first, second))
            }
            _ if self.is_function(a) && self.is_function(b) => self.join_functions(a, b),
            _ => None,
        }
    }

    /// Returns the type of a function that is one or the other: it takes the arguments that both
    /// take.
    fn join_functions(&mut self, a: TypeId, b: TypeId) -> Option<TypeId> {
        let mut arity = None;
        for x in self.alternatives(a) {
            for y in self.alternatives(b) {
                let (Ty::Fun(p, r), Ty::Fun(q, s)) = (self.table.get(x), self.table.get(y)) else {
                    continue;
                };
                let (p, q) = (self.table.list(p).to_vec(), self.table.list(q).to_vec());
                if p.len() != q.len() {
                    continue;
                }
                arity = Some(p.len());
                if self.table.vars(x) + self.table.vars(y) > 0 {
                    continue;
                }
                let params: Option<Vec<_>> =
                    p.iter().zip(&q).map(|(&p, &q)| self.meet(p, q)).collect();
                if let Some(params) = params {
                    let result = self.join(r, s).unwrap_or(TypeId::ANY);
                    return Some(self.table.fun(&params, result));
                }
            }
        }
        let params = vec![TypeId::ANY; arity?];
        Some(self.table.fun(&params, TypeId::ANY))
    }

    /// Returns the narrower of two types, if one fits the other.
    fn meet(&mut self, a: TypeId, b: TypeId) -> Option<TypeId> {
        if self.fits(a, b) {
            Some(a)
        } else {
            self.fits(b, a).then_some(b)
        }
    }

    fn fits(&mut self, value: TypeId, wanted: TypeId) -> bool {
        self.tentatively(|s| {
            let before = s.loose;
            let (value, wanted) = (s.fresh(value), s.fresh(wanted));
            s.flow(value, wanted) && s.loose == before
        })
    }

    fn may_fit(&mut self, value: TypeId, wanted: TypeId) -> bool {
        self.tentatively(|s| {
            let (value, wanted) = (s.fresh(value), s.fresh(wanted));
            s.flow(value, wanted)
        })
    }

    /// Runs `f` and always undoes its bindings.
    fn tentatively(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.mark();
        let done = f(self);
        self.undo(mark);
        done
    }
}

/// Returns whether a type is an item of patches or of sets of objects. Primitives only iterate over
/// such sets, so a tuple fits as well.
fn is_spread(item: TypeId) -> bool {
    matches!(item, TypeId::CELL | TypeId::PAIR | TypeId::OBJECT)
}

/// Returns the new number of a variable.
fn number(names: &mut Vec<u32>, var: u32) -> u8 {
    let known = names.iter().position(|&known| known == var);
    let number = known.unwrap_or_else(|| {
        names.push(var);
        names.len() - 1
    });
    // A type has fewer than 256 parts.
    u8::try_from(number).unwrap_or(u8::MAX - 1)
}
