//! No program can panic, hang or exhaust the process.
//!
//! Every run in this file ends in a value or a fault, soon, in little memory, on the 2 MiB stack
//! that Rust gives to test threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use batt_dsl::{Dialect, Fault, Limits, OpId, OwnedValue, Value, Workspace, ops};
use batt_engine::Compiled;
use batt_lang::{Operand, ProgramBuilder};
use batt_testing::{eval, processor_time, programs_in, run, script, within};

/// An allocator that counts the bytes of each thread, so that tests can bound them.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to `System` with the caller's pointer and layout, so `System`'s
// guarantees hold. Counting cannot allocate or unwind: the thread-local cells are initialised in a
// `const` block and need no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        NOW.set(NOW.get() + layout.size() as isize);
        PEAK.set(PEAK.get().max(NOW.get()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.set(NOW.get() - layout.size() as isize);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the result of `work` and the largest number of bytes that were alive at once during it,
/// in addition to those before it.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before) as usize)
}

/// The longest time of a run. Programs without end reach a limit in about a second of optimised
/// code; tests may be built for debugging.
const TIME_LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 2 });

/// Runs a script within the default limits and asserts that its time and memory are bounded. The
/// bound is a multiple of the memory limit, because operations use buffers and the result is
/// copied; the size limit bounds both.
fn ends(lines: &[&str]) -> Result<OwnedValue, Fault> {
    let program = script(lines);
    let limits = Limits::default();
    let what = lines.join("; ");
    let (ending, peak) = peak_of(|| within(TIME_LIMIT, &what, || run(&program, &limits)));
    assert!(
        peak <= PEAK_FACTOR * limits.memory,
        "{what} took {} MiB",
        peak >> 20
    );
    ending
}

const PEAK_FACTOR: usize = 4;

#[track_caller]
fn fails_with(faults: &[Fault], lines: &[&str]) {
    match ends(lines) {
        Err(fault) if faults.contains(&fault) => {}
        Err(fault) => panic!("{}: {}", lines.join("; "), fault.name()),
        Ok(value) => {
            let value: String = value.to_string().chars().take(200).collect();
            panic!("{}: {value}", lines.join("; "))
        }
    }
}

#[track_caller]
fn gives(expected: &str, lines: &[&str]) {
    match ends(lines) {
        Ok(value) => assert_eq!(value.to_string(), expected, "{}", lines.join("; ")),
        Err(fault) => panic!("{}: {}", lines.join("; "), fault.name()),
    }
}

const TOO_MUCH: [Fault; 3] = [Fault::Size, Fault::Steps, Fault::Memory];

#[test]
fn billions_of_cells() {
    for call in [
        "canvas(ZERO, (1000000000, 1000000000))",
        "canvas(ZERO, (9223372036854775807, 9223372036854775807))",
        "canvas(ZERO, (1, 1000000000))",
        "canvas(T, (1000000000, 1))",
        "canvas(ZERO, (1000000000, 0))",
        "interval(ZERO, 1000000000000000000, ONE)",
        "interval(9223372036854775807, -9223372036854775807, NEG_ONE)",
        "repeat(ONE, 1000000000000)",
        "repeat((), 9223372036854775807)",
        "upscale(canvas(ZERO, UNITY), 1000000000)",
        "hupscale(canvas(ZERO, UNITY), 9223372036854775807)",
        "vupscale(canvas(ZERO, UNITY), 9223372036854775807)",
        "upscale(asobject(canvas(ZERO, UNITY)), 1000000)",
        "upscale(canvas(T, UNITY), 1000000)",
        "hsplit(canvas(ZERO, UNITY), 9223372036854775807)",
        "vsplit(canvas(ZERO, UNITY), 9223372036854775807)",
        "shoot(ORIGIN, (1000000000, 1000000000))",
        "shoot(ORIGIN, (0, 1000000000))",
        "connect(ORIGIN, (0, 100000000))",
        "connect(ORIGIN, (1000000000000, 1000000000000))",
        "connect((-4611686018427387904, 0), (4611686018427387904, 0))",
        "multiply(((1,), (1,)), (1000000000000, 2))",
        "double(power(double, 40)(((1,), (1,))))",
        "power(fork(combine, identity, identity), 60)((1,))",
        "power(fork(vconcat, identity, identity), 60)(canvas(ZERO, UNITY))",
        "power(fork(hconcat, identity, identity), 60)(canvas(ZERO, UNITY))",
        "merge(repeat(interval(0, 3000, 1), 3000))",
        "product(interval(0, 3000, 1), interval(0, 3000, 1))",
        "prapply(add, interval(0, 3000, 1), interval(0, 3000, 1))",
        "prapply(multiply, interval(0, 4000, 1), interval(0, 4000, 1))",
    ] {
        fails_with(&TOO_MUCH, &[call]);
    }
}

#[test]
fn patches_far_from_each_other() {
    let far = "x = insert((1000000000, 1000000000), initset(ORIGIN))";
    let near = "x = insert((30000, 30000), initset((-30000, -30000)))";
    let cells = "x = insert(astuple(3, (1000000000, 1000000000)), initset(astuple(3, ORIGIN)))";
    for patch in [far, near, cells] {
        for call in ["backdrop(x)", "delta(x)"] {
            fails_with(&TOO_MUCH, &[patch, call]);
        }
        for call in [
            "box(x)",
            "inbox(x)",
            "outbox(x)",
            "corners(x)",
            "shape(x)",
            "center(x)",
            "normalize(x)",
            "hmirror(x)",
            "dmirror(x)",
            "cmirror(x)",
            "vmirror(x)",
            "centerofmass(x)",
            "position(x, initset(ORIGIN))",
            "gravitate(x, initset(ORIGIN))",
            "gravitate(initset(UNITY), x)",
            "manhattan(x, x)",
            "square(x)",
            "adjacent(x, initset(ORIGIN))",
            "hmatching(x, x)",
            "vmatching(x, x)",
            "portrait(x)",
            "hline(x)",
            "subgrid(x, canvas(ZERO, UNITY))",
            "fill(canvas(ZERO, UNITY), ONE, x)",
            "upscale(x, 3)",
            "hperiod(x)",
            "vperiod(x)",
            "occurrences(canvas(3, UNITY), x)",
            "bordering(x, canvas(ZERO, UNITY))",
            "toobject(x, canvas(ZERO, UNITY))",
            "paint(canvas(ZERO, UNITY), x)",
            "cover(canvas(ZERO, UNITY), x)",
            "move(canvas(ZERO, UNITY), x, (1000000000, 0))",
            "shift(x, (9223372036854775807, 0))",
            "recolor(9, x)",
        ] {
            // Some calls succeed and some fail, but all end.
            let _ = ends(&[patch, call]);
        }
    }
}

#[test]
fn large_numbers_that_are_fine() {
    gives("()", &["canvas(ZERO, (-5, 9223372036854775807))"]);
    gives("()", &["repeat(ONE, -9223372036854775808)"]);
    gives(
        "(0,)",
        &["interval(0, 9223372036854775807, 9223372036854775807)"],
    );
    let steps = "interval(-9223372036854775807, 9223372036854775807, 9223372036854775807)";
    gives("(-9223372036854775807, 0)", &[steps]);
    gives("()", &["interval(0, -9223372036854775808, 1)"]);
    gives(
        "9223372036854775807",
        &["maximum((9223372036854775807, -9223372036854775808))"],
    );
    gives(
        "((0,),)",
        &["downscale(canvas(ZERO, THREE_BY_THREE), 9223372036854775807)"],
    );
    gives("100001", &["size(connect(ORIGIN, (0, 100000)))"]);
    gives("True", &["even(-9223372036854775808)"]);
    gives("-4611686018427387904", &["halve(-9223372036854775808)"]);
    gives("-1", &["sign(-9223372036854775808)"]);
    gives(
        "-1",
        &["divide(-9223372036854775808, 9223372036854775807)"
            .replace("divide", "sign")
            .replace(", 9223372036854775807", "")
            .as_str()],
    );
    gives("-2", &["divide(-9223372036854775808, 9223372036854775807)"]);
}

#[test]
fn a_call_that_fails_anyway_needs_no_large_numbers() {
    // `vfrontier` makes locations, not cells, so `upscale_f` fails wherever they are. Python finds
    // that out only after moving them to the origin.
    let text = "def script():\n    return upscale_f(vfrontier((-2, -9223372036854775808)), TWO)\n";
    let program = Compiled::new(&programs_in(Dialect::Tokpidjin, text)[0]);
    let value = run(&program, &Limits::default()).expect("a default");
    assert_eq!(value.to_string(), "frozenset()");
}

#[test]
fn arithmetic_that_leaves_64_bits() {
    for call in [
        "add(9223372036854775807, ONE)",
        "add(-9223372036854775808, NEG_ONE)",
        "add((0, 9223372036854775807), UNITY)",
        "add(T, 9223372036854775807)",
        "subtract(-9223372036854775808, ONE)",
        "subtract(ZERO, -9223372036854775808)",
        "subtract((-9223372036854775808, 0), 1)",
        "multiply(9223372036854775807, TWO)",
        "multiply(-9223372036854775808, NEG_ONE)",
        "multiply((4611686018427387904, 1), TWO)",
        "divide(-9223372036854775808, NEG_ONE)",
        "divide((0, -9223372036854775808), NEG_ONE)",
        "invert(-9223372036854775808)",
        "invert((0, -9223372036854775808))",
        "double(9223372036854775807)",
        "double(-9223372036854775808)",
        "double((1, 4611686018427387904))",
        "increment(9223372036854775807)",
        "increment((9223372036854775807, 0))",
        "decrement(-9223372036854775808)",
        "crement(9223372036854775807)",
        "crement(-9223372036854775808)",
        "crement((0, -9223372036854775808))",
        "power(double, 900)(ONE)",
        "neighbors((9223372036854775807, 0))",
        "dneighbors((0, 9223372036854775807))",
        "ineighbors((-9223372036854775808, 0))",
        "shoot((9223372036854775807, 0), UNITY)",
        "shoot(ORIGIN, (0, 9223372036854775807))",
        "shift(initset((9223372036854775807, 0)), UNITY)",
        "centerofmass(insert((9223372036854775807, 0), initset((9223372036854775806, 0))))",
    ] {
        fails_with(&[Fault::Overflow], &[call]);
    }
}

#[test]
fn towers_of_sets() {
    gives("1", &["x = power(initset, 900)(ONE)", "size(x)"]);
    let again = [
        "x1 = power(initset, 900)(ONE)",
        "x2 = power(initset, 900)(x1)",
        "x2",
    ];
    fails_with(&[Fault::Recursion], &again);
    // Two towers that are equal, but not the same object.
    let two = [
        "x1 = power(initset, 900)(ONE)",
        "x2 = power(initset, 900)(T)",
    ];
    gives("True", &[two[0], two[1], "equality(x1, x2)"]);
    gives(
        "1",
        &[two[0], two[1], "size(combine(initset(x1), initset(x2)))"],
    );
    gives("False", &[two[0], two[1], "equality(x1, initset(x2))"]);
    gives(
        "1",
        &[
            two[0],
            two[1],
            "size(difference(insert(ONE, initset(x1)), initset(x2)))",
        ],
    );
    gives("True", &[two[0], two[1], "contained(x1, (x2,))"]);
    gives("1", &[two[0], two[1], "size(dedupe((x1, x2, x1)))"]);
    let tuples = [
        "x1 = power(lbind(astuple, ZERO), 900)(ONE)",
        "x2 = power(lbind(astuple, F), 900)(T)",
    ];
    gives("True", &[tuples[0], tuples[1], "equality(x1, x2)"]);
    gives(
        "1",
        &[tuples[0], tuples[1], "size(insert(x1, initset(x2)))"],
    );
    gives("2", &[tuples[0], tuples[1], "size(maximum((x1, x2)))"]);
    gives(
        "2",
        &[tuples[0], tuples[1], "size(order((x1, x2), identity))"],
    );
    let deeper = [
        "x1 = power(lbind(astuple, ZERO), 900)(ONE)",
        "power(rbind(astuple, ONE), 900)(x1)",
    ];
    fails_with(&[Fault::Recursion], &deeper);
    let mixed = [
        "x1 = power(compose(initset, rbind(repeat, THREE)), 480)(ONE)",
        "size(x1)",
    ];
    gives("1", &mixed);
}

#[test]
fn towers_of_functions() {
    // Each level of the tower is a call inside a call, and Python stops at a depth of a thousand.
    let tower = |op: &str, depth: usize| {
        let mut builder = ProgramBuilder::new("tower", Vec::<String>::new());
        let named = |name: &str| Operand::Op(OpId::named(name).expect("a primitive"));
        let mut f = named("increment");
        for _ in 0..depth {
            let args = match op {
                "compose" => vec![f, named("increment")],
                "composed" => vec![named("increment"), f],
                "chain" => vec![named("identity"), f, named("increment")],
                "fork" => vec![named("add"), f.clone(), f],
                "matcher" => vec![f, Operand::Literal(batt_dsl::Literal::Int(1))],
                _ => vec![f, Operand::Literal(batt_dsl::Literal::Int(2))],
            };
            f = builder.call(named(op.trim_end_matches('d')), args);
        }
        let zero = Operand::Literal(batt_dsl::Literal::Int(0));
        let result = builder.call(f, vec![zero]);
        Compiled::new(&builder.finish(result))
    };
    for op in ["compose", "composed", "chain", "matcher", "power", "fork"] {
        for depth in [10, 900, 10_000] {
            let program = tower(op, depth);
            let what = format!("{op} {depth} deep");
            let ending = within(TIME_LIMIT, &what, || run(&program, &Limits::default()));
            match (op, depth) {
                ("compose" | "composed" | "chain", 10 | 900) => {
                    assert_eq!(ending, Ok(OwnedValue::Int(depth as i64 + 1)), "{what}");
                }
                ("matcher", 10 | 900) => assert_eq!(ending, Ok(OwnedValue::Bool(true)), "{what}"),
                ("power", 10) => assert_eq!(ending, Ok(OwnedValue::Int(1024)), "{what}"),
                // The tower needs 2^900 calls.
                ("power" | "fork", 900) => {
                    assert!(
                        matches!(ending, Err(Fault::Steps | Fault::Overflow)),
                        "{what}: {ending:?}"
                    );
                }
                ("fork", 10) => assert_eq!(ending, Ok(OwnedValue::Int(1024)), "{what}"),
                _ => assert_eq!(ending, Err(Fault::Recursion), "{what}"),
            }
        }
    }
}

#[test]
fn functions_that_call_primitives_that_call_functions() {
    // `apply`, `sfilter` and the like use the native stack between two closures.
    for (op, start) in [
        ("apply", "(1,)"),
        ("sfilter", "(1,)"),
        ("mapply", "((1,),)"),
        ("mfilter", "((1,),)"),
        ("extract", "((1,),)"),
        ("argmax", "(1,)"),
        ("valmin", "(1,)"),
        ("order", "(1, 2)"),
    ] {
        let mut lines = vec!["f = identity".to_owned()];
        let bind = if op.ends_with("apply") {
            "lbind"
        } else {
            "rbind"
        };
        for _ in 0..2_000 {
            lines.push(format!("f = {bind}({op}, f)"));
        }
        // The container is nested as deeply as the calls, so that each level has an argument.
        for levels in [400, 900] {
            let mut lines = lines.clone();
            lines.push(format!("x = power(rbind(repeat, ONE), {levels})({start})"));
            lines.push("f(x)".to_owned());
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let _ = within(TIME_LIMIT, op, || run(&script(&lines), &Limits::default()));
        }
    }
    let prapply = "power(lbind(lbind(prapply, astuple), (1,)), 900)((1,))";
    let _ = ends(&[prapply]);
    let rapply = [
        "f = initset(identity)",
        "f = power(initset, 900)(f)",
        "rapply(f, ONE)",
    ];
    let _ = ends(&rapply);
}

/// Runs an expression over values that were doubled sixty times: each step makes a container that
/// holds the previous value twice. `x` and `y` are equal tuples, `s` and `r` equal sets, each made
/// separately. Returns the outcome as text.
fn doubled(result: &str, limits: &Limits) -> String {
    let start = ["x = ORIGIN", "y = (F, F)", "s = ORIGIN", "r = (F, F)"];
    let doubling = [
        "x = astuple(x, x)",
        "y = astuple(y, y)",
        "s = insert(s, initset(initset(s)))",
        "r = insert(r, initset(initset(r)))",
    ];
    let mut lines = start.to_vec();
    for _ in 0..60 {
        lines.extend(doubling);
    }
    lines.push(result);
    let program = script(&lines);
    let (ending, peak) = peak_of(|| within(TIME_LIMIT, result, || run(&program, limits)));
    assert!(
        peak <= PEAK_FACTOR * limits.memory,
        "{result} took {} MiB",
        peak >> 20
    );
    match ending {
        Ok(value) => value.to_string(),
        Err(fault) => fault.name().to_owned(),
    }
}

/// Python compares an object with itself at once, whatever its size.
#[test]
fn identical_objects_are_equal_at_once() {
    for result in [
        "equality(x, x)",
        "equality(s, s)",
        "equality((x, y), (x, y))",
        "contained(x, initset(x))",
        "contained(s, initset(s))",
        "contained(x, (ONE, x))",
        "matcher(identity, x)(x)",
        "equality(maximum((x, x)), x)",
        "equality(mostcommon((x, x)), x)",
        "equality(size(dedupe((x, x))), ONE)",
        "equality(insert(x, initset(x)), initset(x))",
    ] {
        assert_eq!(doubled(result, &Limits::default()), "True", "{result}");
    }
}

#[test]
fn comparing_doubled_containers_ends() {
    // One run up to the default limit is slow, so the rest run within a thousandth of it.
    let started = doubled("equality(x, y)", &Limits::default());
    assert!(
        started == "True" || TOO_MUCH.iter().any(|fault| fault.name() == started),
        "{started}"
    );
    let few = Limits {
        steps: Limits::default().steps / 1_000,
        size: 100_000,
        ..Limits::default()
    };
    let doubled = |result: &str| doubled(result, &few);
    // The text of these values would not fit in any memory.
    for result in ["x", "s"] {
        let ending = doubled(result);
        assert!(
            ["SizeLimit", "StepLimit"].contains(&ending.as_str()),
            "{result}: {ending}"
        );
    }
    assert_eq!(doubled("size(x)"), "2");
    assert_eq!(doubled("size(initset(x))"), "1");
    // These values are equal, but not the same object: Python also makes 2^60 comparisons.
    for pair in ["x, y", "s, r"] {
        let (a, b) = pair.split_once(", ").expect("a pair");
        for result in [
            format!("equality({pair})"),
            format!("size(insert({a}, initset({b})))"),
            format!("size(dedupe(({pair})))"),
            format!("size(maximum(({pair})))"),
            format!("size(order(({pair}), identity))"),
            format!("contained({a}, ({b}, {b}))"),
            format!("size(mostcommon(({pair})))"),
            format!("matcher(identity, {a})({b})"),
            format!("size(difference(initset({a}), initset({b})))"),
            format!("size(intersection(initset({a}), initset({b})))"),
            format!("size(remove({a}, initset({b})))"),
            format!("size(merge(({a}, {b})))"),
        ] {
            let ending = doubled(&result);
            assert!(ending.len() <= 13, "{result}: {ending}");
        }
    }
    // No primitive may spend 2^60 steps on finding out that these are not grids, patches or
    // numbers.
    for op in ops().iter().filter(|op| op.arity() == 1) {
        for value in ["x", "s", "initset(x)", "(x, x, x)", "initset(s)", "(s, s)"] {
            let _ = doubled(&format!("{}({value})", op.name));
        }
    }
}

#[test]
fn a_hundred_thousand_steps() {
    let named = |name: &str| Operand::Op(OpId::named(name).expect("a primitive"));
    let mut builder = ProgramBuilder::new("long", Vec::<String>::new());
    let mut x = Operand::Literal(batt_dsl::Literal::Int(0));
    for _ in 0..100_000 {
        x = builder.call(named("increment"), vec![x]);
    }
    let program = Compiled::new(&builder.finish(x));
    let ending = within(TIME_LIMIT, "100,000 steps", || {
        run(&program, &Limits::default())
    });
    assert_eq!(ending, Ok(OwnedValue::Int(100_000)));
    let few = Limits {
        steps: 99_999,
        ..Limits::default()
    };
    assert_eq!(run(&program, &few), Err(Fault::Steps));
}

#[test]
fn a_chain_of_sets_that_is_never_inspected() {
    // A set keeps its history until a program inspects it. Here 20,000 sets are each made from the
    // one before; walking their history must not recurse on the stack.
    for step in [
        "insert({k}, x)",
        "combine(x, initset({k}))",
        "remove({k}, insert({k}, x))",
        "difference(x, initset({k}))",
        "apply(increment, x)",
        "sfilter(x, positive)",
        "shift(y, UNITY)",
        "toindices(recolor({k}, y))",
        "intersection(x, combine(x, initset({k})))",
        "hmirror(y)",
        "merge(initset(x))",
        "mapply(initset, x)",
    ] {
        let mut lines = vec![
            "x = initset(ONE)".to_owned(),
            "y = initset(ORIGIN)".to_owned(),
        ];
        let name = if step.contains('y') && !step.contains("x,") && !step.contains("x)") {
            "y"
        } else {
            "x"
        };
        let grows = step.starts_with("insert") || step.starts_with("combine");
        let count = if grows { 2_000 } else { 20_000 };
        // Starts at 2, because removing 1 would leave an empty set.
        for k in 2..count {
            lines.push(format!("{name} = {}", step.replace("{k}", &k.to_string())));
        }
        lines.push(format!("size(totuple({name}))"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let program = script(&lines);
        let ending = within(TIME_LIMIT, step, || run(&program, &Limits::default()));
        match ending {
            Ok(value) => assert!(
                matches!(value, OwnedValue::Int(n) if n > 0),
                "{step}: {value}"
            ),
            Err(fault) => assert!(TOO_MUCH.contains(&fault), "{step}: {}", fault.name()),
        }
    }
}

#[test]
fn memory_limits_hold() {
    // These programs build values without end. At several limits, allocated memory stays near the
    // limit, whichever fault ends the run.
    let programs = [
        [
            "x = interval(0, 1000, 1)",
            "power(fork(combine, identity, identity), 900)(x)",
        ],
        [
            "x = canvas(ZERO, (30, 30))",
            "power(fork(hconcat, identity, identity), 900)(x)",
        ],
        [
            "x = asindices(canvas(ZERO, (30, 30)))",
            "power(lbind(shift, x), 2)(UNITY)",
        ],
        ["x = interval(0, 900, 1)", "product(x, x)"],
        ["x = interval(0, 900, 1)", "prapply(astuple, x, x)"],
        ["x = interval(0, 900, 1)", "apply(rbind(repeat, 900), x)"],
        [
            "x = interval(0, 900, 1)",
            "apply(lbind(canvas, 1), apply(fork(astuple, identity, identity), x))",
        ],
        ["x = asobject(canvas(ZERO, (30, 30)))", "upscale(x, 30)"],
        [
            "x = interval(0, 9000, 1)",
            "order(apply(invert, x), identity)",
        ],
        [
            "x = interval(0, 9000, 1)",
            "apply(initset, apply(initset, x))",
        ],
        [
            "x = product(interval(0, 90, 1), interval(0, 90, 1))",
            "totuple(x)",
        ],
        [
            "x = interval(0, 9000, 1)",
            "power(rbind(astuple, x), 900)(x)",
        ],
    ];
    for lines in programs {
        let program = script(&lines);
        for memory in [1 << 10, 64 << 10, 1 << 20, 8 << 20] {
            let limits = Limits {
                steps: 2_000_000,
                size: 100_000,
                memory,
                time: None,
            };
            let (ending, peak) = peak_of(|| run(&program, &limits));
            // Buffers outside the arena hold one value at a time, and the size limit bounds it.
            let allowed = memory + limits.size * 100 + (256 << 10);
            assert!(
                peak <= allowed,
                "{lines:?} within {memory}: {peak} bytes, {ending:?}"
            );
        }
    }
}

/// Past a limit, every comparison returns false. A set under construction then merged no equal
/// elements, and every search took longer than the one before.
#[test]
fn a_limit_inside_the_making_of_a_set_ends_it() {
    let program = script(&[
        "numbers = merge(initset(interval(0, 60000, 1)))",
        "empty = compose(rbind(intersection, initset(-1)), initset)",
        "size(apply(empty, numbers))",
    ]);
    for steps in (1..30).map(|k| k * 200_000) {
        let limits = Limits {
            steps,
            ..Limits::default()
        };
        let _ending = within(Duration::from_secs(3), "making a set", || {
            run(&program, &limits)
        });
    }
}

/// Earlier runs in a workspace do not affect the limits of the next run. Otherwise results would
/// depend on which thread runs which job.
#[test]
fn limits_do_not_depend_on_earlier_runs() {
    let limits = |memory| Limits {
        steps: 10_000_000,
        size: 1_000_000,
        memory,
        time: None,
    };
    let ending = |workspace: &mut Workspace, program: &Compiled, memory| {
        workspace.run(Dialect::ArcDsl, &limits(memory), |run| {
            let value = program.execute(run, &[]).map_err(|e| (e.fault, e.step))?;
            run.to_owned(value).map_err(|fault| (fault, None))
        })
    };
    let earlier = script(&["repeat(ORIGIN, 100000)"]);
    let programs = [
        script(&["x = apply(initset, interval(0, 4000, 1))", "size(x)"]),
        script(&["x = interval(0, 60, 1)", "size(prapply(astuple, x, x))"]),
        script(&[
            "x = product(interval(0, 60, 1), interval(0, 60, 1))",
            "size(totuple(x))",
        ]),
    ];
    for (k, program) in programs.iter().enumerate() {
        for kib in (16..1024).step_by(16) {
            let memory = kib << 10;
            let fresh = ending(&mut Workspace::new(), program, memory);
            let mut used = Workspace::new();
            assert!(ending(&mut used, &earlier, 64 << 20).is_ok());
            let after = ending(&mut used, program, memory);
            assert_eq!(
                after, fresh,
                "program {k} within {kib} KiB, after another run"
            );
            let again = ending(&mut used, program, memory);
            assert_eq!(again, fresh, "program {k} within {kib} KiB, after itself");
        }
    }
}

/// A call over a large container costs steps in proportion to its size. Otherwise a loop of such
/// calls runs for hours within its budget, as `sfilter(x, lbind(ofcolor, x))` did with `x` a tuple
/// of empty tuples.
#[test]
fn work_is_charged() {
    let shapes = [
        "x = repeat((), 4000)",
        "x = repeat((1, 2), 4000)",
        "x = repeat((T, 2), 4000)",
        "x = shift(asindices(canvas(ZERO, (63, 63))), (40000, 0))",
        "x = repeat(initset(ORIGIN), 4000)",
    ];
    let limits = Limits {
        steps: 1_000_000,
        size: 50_000,
        memory: 64 << 20,
        time: None,
    };
    let mut free = Vec::new();
    for op in ops() {
        // Four thousand calls with the container at each position.
        let calls: &[&str] = match op.arity() {
            1 => &["compose({op}, lbind(lbind(branch, T), x))"],
            2 => &["lbind({op}, x)", "rbind({op}, x)"],
            3 => &["lbind(lbind({op}, x), ONE)", "rbind(rbind({op}, x), ONE)"],
            _ => &["lbind(lbind(lbind({op}, x), T), T)"],
        };
        for (shape, call) in shapes
            .iter()
            .flat_map(|s| calls.iter().map(move |c| (s, c)))
        {
            let call = format!(
                "apply({}, interval(0, 4000, 1))",
                call.replace("{op}", op.name)
            );
            let program = script(&[shape, &call]);
            let measure = || {
                let (spent, took) = processor_time(|| {
                    Workspace::new().run(Dialect::ArcDsl, &limits, |run| {
                        let _ = program.execute(run, &[]);
                        run.spent()
                    })
                });
                (took, spent)
            };
            // A step takes some ten nanoseconds; a hundred times that is too much. The first of
            // several runs may find cold caches.
            let is_free = |(took, spent): (Duration, u64)| {
                took > Duration::from_millis(50) && took > Duration::from_micros(1) * spent as u32
            };
            let mut measured = measure();
            for _ in 0..4 {
                if !is_free(measured) {
                    break;
                }
                measured = measure().min(measured);
            }
            if is_free(measured) {
                let (took, spent) = measured;
                free.push(format!("{shape}; {call}: {took:?} for {spent} steps"));
            }
        }
    }
    assert!(
        free.is_empty(),
        "{} loops:\n{}",
        free.len(),
        free.join("\n")
    );
}

/// Returns values at the edges of representations, and a few ordinary ones to combine with them.
fn edge_values() -> Vec<OwnedValue> {
    use OwnedValue::{Bool, Int, Set, Tuple};
    let pair = |i, j| Tuple(vec![Int(i), Int(j)]);
    let cell = |c, i, j| Tuple(vec![Int(c), pair(i, j)]);
    vec![
        OwnedValue::None,
        Bool(true),
        Int(0),
        Int(2),
        Int(-1),
        Int(i64::MAX),
        Int(i64::MIN),
        Int(1 << 31),
        Tuple(vec![]),
        pair(1, 0),
        pair(-1, -1),
        pair(32_767, -32_768),
        pair(i64::MAX, i64::MIN),
        Tuple(vec![Bool(true), Int(0)]),
        Tuple(vec![Tuple(vec![]), Tuple(vec![])]),
        OwnedValue::grid([&[0, 1, 1][..], &[2, 0, 1]]),
        OwnedValue::grid([&[255][..]]),
        Tuple(vec![pair(0, 256), pair(0, 0)]),
        Set(vec![]),
        Set(vec![pair(0, 0), pair(0, 1)]),
        Set(vec![pair(32_767, 32_767)]),
        Set(vec![pair(-32_768, -32_768), pair(-32_768, -32_767)]),
        Set(vec![pair(i64::MAX, i64::MIN)]),
        Set(vec![cell(3, 0, 0), cell(4, 1, 0)]),
        Set(vec![cell(1 << 31, 0, 0), cell(i64::MAX, i64::MAX, 0)]),
        Set(vec![cell(-5, 32_767, -32_768)]),
        Set(vec![Int(5), Bool(false), OwnedValue::None]),
        Set(vec![
            Set(vec![cell(3, 0, 0)]),
            Set(vec![cell(3, 32_767, 1)]),
        ]),
    ]
}

/// Every primitive ends soon and without a panic on every combination of edge values.
#[test]
fn every_primitive_at_the_edges() {
    let values = edge_values();
    let functions =
        ["identity", "add", "size", "objects"].map(|n| OpId::named(n).expect("a primitive"));
    let count = values.len() + functions.len();
    let limits = Limits {
        steps: 20_000,
        size: 2_000,
        memory: 1 << 20,
        time: None,
    };
    let mut workspace = Workspace::new();
    for id in OpId::all() {
        let arity = id.op().arity();
        // All combinations of four arguments would take minutes.
        let stride = match arity {
            3 if !batt_testing::heavy() => 7,
            4 => 101,
            _ => 1,
        };
        for combination in (0..count.pow(arity as u32)).step_by(stride) {
            let chosen: Vec<usize> = (0..arity)
                .map(|k| combination / count.pow(k as u32) % count)
                .collect();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                within(TIME_LIMIT, id.op().name, || {
                    workspace.run(Dialect::ArcDsl, &limits, |run| {
                        let mut args = Vec::new();
                        for &k in &chosen {
                            args.push(match values.get(k) {
                                Some(value) => run.from_owned(value)?,
                                None => Value::Op(functions[k - values.len()]),
                            });
                        }
                        let value = run.call(Value::Op(id), &args)?;
                        run.to_owned(value)
                    })
                })
            }));
            if outcome.is_err() {
                let args = chosen.iter().map(|&k| match values.get(k) {
                    Some(value) => value.to_string(),
                    None => functions[k - values.len()].op().name.to_owned(),
                });
                panic!("{}({})", id.op().name, args.collect::<Vec<_>>().join(", "));
            }
        }
    }
}

#[test]
fn limits_are_inclusive_and_never_a_value() {
    let program = script(&["canvas(ZERO, (10, 10))"]);
    let with = |size| {
        run(
            &program,
            &Limits {
                size,
                ..Limits::default()
            },
        )
    };
    assert!(with(100).is_ok());
    assert_eq!(with(99), Err(Fault::Size));
    assert_eq!(eval("rbind(add, ONE)"), Ok(OwnedValue::Function));
    let nothing = Limits {
        steps: 0,
        size: 0,
        memory: 0,
        time: None,
    };
    assert!(run(&program, &nothing).is_err());
}
