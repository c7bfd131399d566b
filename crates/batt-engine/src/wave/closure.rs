//! Functions, evaluated when a plan is made.

use std::sync::Arc;

use batt_dsl::{Dialect, OpId, OwnedValue};

use super::plan::{Operand, Spread, WavePlanner};
use super::table::property_of;

/// A value of a program: data of the samples, or a function that is known.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Data(Operand),
    Func(Arc<Func>),
}

/// A function.
#[derive(Clone, Debug)]
pub(super) enum Func {
    /// A primitive.
    Op(OpId),
    /// `compose(outer, inner)`
    Compose(Arc<Func>, Arc<Func>),
    /// `chain(h, g, f)`
    Chain(Arc<Func>, Arc<Func>, Arc<Func>),
    /// `matcher(function, target)`
    Matcher(Arc<Func>, Val),
    /// `lbind(function, fixed)`
    Lbind(Arc<Func>, Val),
    /// `rbind(function, fixed)`
    Rbind(Arc<Func>, Val),
    /// `fork(outer, a, b)`
    Fork(Arc<Func>, Arc<Func>, Arc<Func>),
    /// `power(function, n)`, from 1 on
    Power(Arc<Func>, i64),
    /// `branch(condition, f, g)` of functions
    Branch(Operand, Arc<Func>, Arc<Func>),
}

impl Val {
    /// Passes the data that a value is made of: itself, or what a function has bound. A step fails if
    /// some of it does.
    pub(super) fn each_operand(&self, see: &mut impl FnMut(Operand)) {
        match self {
            Val::Data(operand) => see(*operand),
            Val::Func(func) => func.each_operand(see),
        }
    }
}

/// How `collected` in `closures.cuh` makes its container.
const LIKE: u32 = 0;
const AS_TUPLE: u32 = 1;
const AS_SET: u32 = 2;

/// The largest `n` of `power(f, n)`.
const MOST_POWER: i64 = 40;

impl Func {
    pub(super) fn each_operand(&self, see: &mut impl FnMut(Operand)) {
        match self {
            Func::Op(_) => {}
            Func::Compose(f, g) => [f, g].into_iter().for_each(|func| func.each_operand(see)),
            Func::Chain(f, g, h) | Func::Fork(f, g, h) => {
                [f, g, h]
                    .into_iter()
                    .for_each(|func| func.each_operand(see));
            }
            Func::Matcher(func, fixed) | Func::Lbind(func, fixed) | Func::Rbind(func, fixed) => {
                func.each_operand(see);
                fixed.each_operand(see);
            }
            Func::Power(func, _) => func.each_operand(see),
            Func::Branch(condition, f, g) => {
                see(*condition);
                [f, g].into_iter().for_each(|func| func.each_operand(see));
            }
        }
    }

    fn is_identity(&self) -> bool {
        matches!(self, Func::Op(op) if op.op().name == "identity")
    }

    /// Returns the number of arguments.
    fn arity(&self) -> usize {
        match self {
            Func::Op(op) => op.op().arity(),
            Func::Compose(..)
            | Func::Chain(..)
            | Func::Matcher(..)
            | Func::Fork(..)
            | Func::Power(..) => 1,
            // Both make functions of one, two or three arguments.
            // `apply` refuses functions of different arities.
            Func::Branch(_, f, _) => f.arity(),
            Func::Lbind(function, _) | Func::Rbind(function, _) => match function.arity() {
                2 => 1,
                3 => 2,
                _ => 3,
            },
        }
    }
}

impl WavePlanner {
    /// Plans a call of a function. Returns `None` where the device cannot run it, or where the call
    /// fails whatever the sample.
    pub(super) fn apply(&mut self, function: &Func, args: &[Val]) -> Option<Val> {
        (args.len() == function.arity()).then_some(())?;
        match function {
            Func::Op(op) => self.apply_op(*op, args),
            Func::Compose(outer, inner) => {
                let value = self.apply(inner, args)?;
                self.apply(outer, &[value])
            }
            Func::Chain(h, g, f) => {
                let value = self.apply(f, args)?;
                let value = self.apply(g, &[value])?;
                self.apply(h, &[value])
            }
            Func::Matcher(function, target) => {
                let value = self.apply(function, args)?;
                self.apply_op(OpId::named("equality")?, &[value, target.clone()])
            }
            Func::Lbind(function, fixed) => {
                let all: Vec<Val> = std::iter::once(fixed).chain(args).cloned().collect();
                self.apply(function, &all)
            }
            Func::Rbind(function, fixed) => {
                let all: Vec<Val> = args.iter().chain([fixed]).cloned().collect();
                self.apply(function, &all)
            }
            Func::Fork(outer, a, b) => {
                let a = self.apply(a, args)?;
                let b = self.apply(b, args)?;
                self.apply(outer, &[a, b])
            }
            Func::Branch(condition, f, g) => {
                (f.arity() == g.arity()).then_some(())?;
                let (a, b) = (self.apply(f, args)?, self.apply(g, args)?);
                match (a, b) {
                    (Val::Data(a), Val::Data(b)) => self.select(*condition, a, b),
                    _ => None,
                }
            }
            Func::Power(function, n) => {
                let mut value = args[0].clone();
                for _ in 0..*n {
                    value = self.apply(function, &[value])?;
                }
                Some(value)
            }
        }
    }

    fn apply_op(&mut self, op: OpId, args: &[Val]) -> Option<Val> {
        use Val::{Data, Func as F};
        if op.op().dialect == Dialect::Tokpidjin && args.iter().any(|arg| matches!(arg, F(_))) {
            return None;
        }
        let func = |func| Some(Val::Func(Arc::new(func)));
        match (op.op().name, args) {
            ("identity", [value]) => Some(value.clone()),
            ("compose", [F(f), F(g)]) => func(Func::Compose(f.clone(), g.clone())),
            ("chain", [F(h), F(g), F(f)]) => func(Func::Chain(h.clone(), g.clone(), f.clone())),
            ("fork", [F(f), F(a), F(b)]) => func(Func::Fork(f.clone(), a.clone(), b.clone())),
            ("matcher", [F(f), target]) => func(Func::Matcher(f.clone(), target.clone())),
            ("lbind", [F(f), fixed]) => func(Func::Lbind(f.clone(), fixed.clone())),
            ("rbind", [F(f), fixed]) => func(Func::Rbind(f.clone(), fixed.clone())),
            ("power", [F(f), Data(n)]) => {
                let n = self.int_of(*n).filter(|n| (1..=MOST_POWER).contains(n))?;
                func(Func::Power(f.clone(), n))
            }
            ("branch", [Data(condition), F(f), F(g)]) => {
                func(Func::Branch(*condition, f.clone(), g.clone()))
            }
            ("apply", [F(f), Data(items)]) => self.map("collect_each", LIKE, f, *items),
            ("mapply", [F(f), Data(items)]) => {
                let mapped = self.map("collect_each", LIKE, f, *items)?;
                self.apply_op(OpId::named("merge")?, &[mapped])
            }
            ("sfilter", [Data(items), F(f)]) => self.map("collect_filter", LIKE, f, *items),
            ("mfilter", [Data(items), F(f)]) => {
                let kept = self.map("collect_filter", LIKE, f, *items)?;
                self.apply_op(OpId::named("merge")?, &[kept])
            }
            ("extract", [Data(items), F(f)]) => self.map("collect_first", LIKE, f, *items),
            // Python sorts the elements themselves if the function is `None`.
            ("order", [Data(items), F(f)]) if f.is_identity() => {
                let Val::Data(none) = self.constant(&OwnedValue::None)? else {
                    return None;
                };
                self.call_op(op, vec![*items, none])
            }
            (name @ ("valmax" | "valmin"), [Data(items), F(f)]) => {
                let Val::Data(found) = self.map(&format!("collect_{name}"), LIKE, f, *items)?
                else {
                    return None;
                };
                self.or_of_zero(f, *items, found)
            }
            (name @ ("argmax" | "argmin" | "order"), [Data(items), F(f)]) => {
                if let (Func::Op(key), "argmax" | "argmin") = (&**f, name)
                    && property_of(*key) != u32::MAX
                {
                    let key = self.op_operand(*key);
                    return self.call_op(op, vec![*items, key]);
                }
                self.map(&format!("collect_{name}"), LIKE, f, *items)
            }
            ("papply", [F(f), Data(a), Data(b)]) => self.map_two(Spread::Zip, AS_TUPLE, f, *a, *b),
            ("mpapply", [F(f), Data(a), Data(b)]) => {
                let mapped = self.map_two(Spread::Zip, AS_TUPLE, f, *a, *b)?;
                self.apply_op(OpId::named("merge")?, &[mapped])
            }
            ("prapply", [F(f), Data(a), Data(b)]) => {
                self.map_two(Spread::Product, AS_SET, f, *a, *b)
            }
            _ => {
                let data = |arg: &Val| match arg {
                    Data(operand) => Some(*operand),
                    F(_) => None,
                };
                let args: Vec<Operand> = args.iter().map(data).collect::<Option<_>>()?;
                self.call_op(op, args)
            }
        }
    }

    /// Plans the choice between a value found among some items and, if there are none, the function's
    /// value for 0. The latter is left out if it cannot be planned.
    fn or_of_zero(&mut self, function: &Func, items: Operand, found: Operand) -> Option<Val> {
        let zero = self.constant(&OwnedValue::Int(0))?;
        let Some(Val::Data(other)) = self.apply(function, &[zero]) else {
            return Some(Val::Data(found));
        };
        // Items without a length give the fault of `max`, which is that of `len`.
        match self.call_op(OpId::named("size")?, vec![items])? {
            Val::Data(size) => self.select(size, found, other),
            Val::Func(_) => None,
        }
    }

    /// Calls a function for each element and collects the results.
    fn map(&mut self, collect: &str, how: u32, function: &Func, items: Operand) -> Option<Val> {
        let items = self.members(items)?;
        let domain = self.spread(Spread::Each, &[items], function)?;
        let element = Val::Data(Operand::Element(domain, 0));
        let Val::Data(results) = self.apply(function, &[element])? else {
            return None;
        };
        self.collect(collect, domain, how, results)
    }

    /// Calls a function for pairs of elements and collects the results.
    fn map_two(
        &mut self,
        spread: Spread,
        how: u32,
        function: &Func,
        a: Operand,
        b: Operand,
    ) -> Option<Val> {
        let (a, b) = (self.members(a)?, self.members(b)?);
        let domain = self.spread(spread, &[a, b], function)?;
        let elements = [0, 1].map(|which| Val::Data(Operand::Element(domain, which)));
        let Val::Data(results) = self.apply(function, &elements)? else {
            return None;
        };
        self.collect("collect_each", domain, how, results)
    }
}
