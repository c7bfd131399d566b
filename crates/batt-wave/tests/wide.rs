//! Ops on grids of more than 32 rows or columns give the CPU's verdicts, faults and hashes.
//!
//! `BATT_WAVE_OPS=crop,fill` runs only the programs with these ops, and prints what the device left.

#![cfg(feature = "emulated")]

use std::fmt::Write as _;

use batt_arc::Grid;
use batt_dsl::{Dialect, Fault, Limits, Workspace};
use batt_engine::wave::{WaveBatch, WaveEnd, WaveEngine, WavePlan};
use batt_engine::{Cancel, Compiled, Job, Judged, Sample, Verdict, judge_job};
use batt_lang::{Program, SolverFile};
use batt_wave::EmulatedWaves;

/// The sizes around those at which forms change.
const SIZES: [(usize, usize); 14] = [
    (1, 33),
    (2, 64),
    (3, 40),
    (33, 1),
    (64, 2),
    (40, 3),
    (32, 33),
    (33, 32),
    (33, 33),
    (32, 64),
    (64, 32),
    (63, 64),
    (64, 63),
    (64, 64),
];

fn random(seed: &mut u64, n: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

/// Grids of 16 x 16: many colours; two colours that share a slot of a set; and empty stripes.
fn inputs() -> Vec<Grid> {
    let mut seed = 3;
    let mut grid = |color: &mut dyn FnMut(&mut u64, usize) -> u64| {
        let cells: Vec<u8> = (0..256).map(|at| color(&mut seed, at) as u8).collect();
        Grid::new(16, 16, cells).unwrap()
    };
    vec![
        grid(&mut |seed, _| random(seed, 10)),
        grid(&mut |seed, _| 8 * random(seed, 2)),
        grid(&mut |_, at| ((at % 3 == 1) as u64 + 8 * (at / 16 % 5 == 2) as u64) % 9),
    ]
}

/// Steps that make `G`, a grid of a size with little repetition, and `P`, a small object.
fn base(dialect: Dialect, height: usize, width: usize) -> String {
    let tok = dialect == Dialect::Tokpidjin;
    let (rot, flip, up) = match tok {
        true => ("rot90", "vmirror_t", "upscale_t"),
        false => ("rot90", "vmirror", "upscale"),
    };
    format!(
        "    a1 = {up}(I, 3)\n    a2 = crop(a1, (0, 0), (32, 32))\n    a3 = {rot}(a2)\n    \
         a4 = hconcat(a2, a3)\n    a5 = {flip}(a4)\n    a6 = vconcat(a4, a5)\n    \
         a7 = replace(a6, 3, 9)\n    G = crop(a7, (0, 0), ({height}, {width}))\n"
    )
}

/// The limits of the CPU do not matter here, so that the device's do not either.
fn compare(dialect: Dialect, programs: &[(String, String)], must_finish: bool) {
    let wanted = std::env::var("BATT_WAVE_OPS").ok();
    let is_wanted =
        |name: &str| (wanted.as_deref()).is_none_or(|w| w.split(',').any(|o| o == name));
    let mut text = String::new();
    let chosen: Vec<&(String, String)> = programs.iter().filter(|p| is_wanted(&p.0)).collect();
    for (number, (_, body)) in chosen.iter().enumerate() {
        let _ = write!(text, "def solve_{number}(I):\n{body}    return O\n\n");
    }
    let file = SolverFile::parse_in(&text, "wide.py", Some(dialect));
    assert_eq!(file.programs.len(), chosen.len(), "{text}");
    let programs: Vec<&Program> = file.programs.iter().collect();
    let grids = inputs();
    let samples: Vec<Sample<'_>> = (grids.iter())
        .map(|input| Sample {
            demos: &[],
            input,
            expected: Some(&grids[0]),
        })
        .collect();
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let resident = engine.load(&samples).unwrap();
    let mut workspace = Workspace::new();
    let (mut finished, mut left) = (0, 0);
    for (part, names) in programs.chunks(100).zip(chosen.chunks(100)) {
        let compiled: Vec<Compiled> = part.iter().map(|program| Compiled::new(program)).collect();
        let plan = WavePlan::of(engine.table(), dialect, &compiled);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
        assert_eq!(report.errors, [] as [String; 0]);
        for (p, program) in compiled.iter().enumerate() {
            for (s, sample) in samples.iter().enumerate() {
                let end = records.end(0, p, s);
                let (name, body) = names[p];
                if let WaveEnd::Left(reason) = end {
                    left += 1;
                    if wanted.is_some() {
                        eprintln!("left ({}), input {s}: {body}", reason.name());
                    }
                    assert!(
                        !must_finish,
                        "{name} on {s} left ({}): {body}",
                        reason.name()
                    );
                    continue;
                }
                finished += 1;
                let job = Job {
                    program,
                    sample: *sample,
                };
                let cpu = judge_job(&mut workspace, &job, &Limits::default());
                assert_eq!(judged(&end), shown(&cpu), "{body}\ninput {s}");
            }
        }
        engine.reuse(records);
    }
    engine.release(resident);
    eprintln!("{finished} finished, {left} left");
}

fn judged(end: &WaveEnd) -> String {
    match end {
        WaveEnd::Value { verdict, hash } => {
            let verdict = match *verdict {
                0 => Verdict::Right,
                u32::MAX => Verdict::Unknown,
                0xffff_fffe => Verdict::NotAGrid,
                code if code >> 31 == 1 => {
                    Verdict::WrongShape((code >> 16 & 0x7fff) as usize, (code & 0xffff) as usize)
                }
                wrong => Verdict::WrongCells(wrong as usize),
            };
            format!("{verdict:?} {hash:x}")
        }
        WaveEnd::Fault { fault, step } => {
            format!("{} at {step}", Fault::ALL[usize::from(*fault)].name())
        }
        WaveEnd::Left(reason) => reason.name().to_owned(),
    }
}

fn shown(judged: &Judged) -> String {
    match (&judged.verdict, judged.hash) {
        (Verdict::Failed(error), _) => {
            let step = error.step.map_or(u32::MAX, |step| step.index() as u32);
            format!("{} at {step}", error.fault.name())
        }
        (verdict, hash) => format!("{verdict:?} {:x}", hash.unwrap_or_default()),
    }
}

/// The programs of some calls, with the names of their ops. A call may have steps before it.
fn programs(dialect: Dialect, sizes: &[(usize, usize)], calls: &[&str]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for &(height, width) in sizes {
        for call in calls {
            let mut body = base(dialect, height, width);
            for step in call.split("; ") {
                match step.contains(" = ") {
                    true => body += &format!("    {step}\n"),
                    false => body += &format!("    O = {step}\n"),
                }
            }
            let last = call.split("; ").last().unwrap();
            let name = last.split('(').next().unwrap();
            all.push((name.to_owned(), body));
        }
    }
    all
}

/// Ops that the device finishes for all sizes.
const CALLS: [&str; 73] = [
    "hmirror(G)",
    "vmirror(G)",
    "dmirror(G)",
    "cmirror(G)",
    "rot90(G)",
    "rot180(G)",
    "rot270(G)",
    "upscale(G, 1)",
    "hupscale(G, 0)",
    "vupscale(G, 1)",
    "upscale(G, -1)",
    "downscale(G, 2)",
    "downscale(G, 3)",
    "downscale(G, -5)",
    "downscale(G, 33)",
    "downscale(G, 70)",
    "downscale(G, 0)",
    "crop(G, (0, 0), (40, 40))",
    "crop(G, (1, 1), (31, 63))",
    "crop(G, (30, 31), (5, 4))",
    "crop(G, (0, -3), (2, 3))",
    "crop(G, (70, 0), (2, 3))",
    "subgrid(initset((5, 5)), G)",
    "a = asindices(I); subgrid(a, G)",
    "a = asindices(I); b = shift(a, (30, 25)); subgrid(b, G)",
    "trim(G)",
    "tophalf(G)",
    "bottomhalf(G)",
    "lefthalf(G)",
    "righthalf(G)",
    "compress(G)",
    "index(G, (0, 0))",
    "index(G, 5)",
    "hconcat(G, canvas(4, (0, 5)))",
    "a = crop(G, (0, 0), (5, 5)); b = downscale(G, 2); hconcat(a, b)",
    "cellwise(G, G, 4)",
    "a = hmirror(G); cellwise(G, a, 4)",
    "cellwise(G, I, 4)",
    "cellwise(I, G, 4)",
    "replace(G, 8, 2)",
    "replace(G, 77, 2)",
    "switch(G, 8, 0)",
    "switch(G, 1, 1)",
    "switch(G, 0, 5)",
    "fill(G, 3, initset((0, 32)))",
    "a = asindices(I); b = shift(a, (25, 26)); fill(G, 3, b)",
    "a = asobject(I); b = shift(a, (25, 26)); fill(G, 3, b)",
    "a = asindices(I); b = upscale(asobject(I), 2); fill(G, 3, b)",
    "a = asindices(I); b = shift(a, (25, 26)); underfill(G, 3, b)",
    "a = asindices(I); b = shift(a, (25, -6)); cover(G, b)",
    "a = asobject(I); b = shift(a, (25, 26)); paint(G, b)",
    "a = recolor(2, asindices(I)); b = shift(a, (-5, 26)); paint(G, b)",
    "a = asobject(I); b = shift(a, (25, 26)); underpaint(G, b)",
    "fill(G, 3, 5)",
    "paint(G, asindices(I))",
    "a = asobject(I); b = shift(a, (20, 20)); move(G, b, (7, 9))",
    "height(G)",
    "width(G)",
    "shape(G)",
    "portrait(G)",
    "square(G)",
    "size(G)",
    "mostcolor(G)",
    "leastcolor(G)",
    "palette(G)",
    "totuple(palette(G))",
    "numcolors(G)",
    "colorcount(G, 8)",
    "a = hmirror(G); equality(G, a)",
    "equality(G, G)",
    "a = astuple(G, I); first(a)",
    "first(G)",
    "last(G)",
];

#[test]
fn ops_on_wide_grids_end_as_on_the_cpu() {
    let programs = programs(Dialect::ArcDsl, &SIZES, &CALLS);
    compare(Dialect::ArcDsl, &programs, true);
}

/// Grids that become wide, stay narrow, or are larger than any form.
#[test]
fn sizes_around_the_limits_end_as_on_the_cpu() {
    let mut calls = Vec::new();
    for n in [1, 2, 16, 31, 32, 33, 48, 62, 63, 64] {
        calls.extend([
            format!("a = crop(G, (0, 0), ({n}, 64)); b = crop(G, (0, 0), (32, 64)); vconcat(a, b)"),
            format!("a = crop(G, (0, 0), (9, {n})); b = crop(G, (0, 0), (7, 32)); hconcat(a, b)"),
            format!("a = crop(G, (0, 0), (9, {n})); b = crop(G, (0, 0), (30, 1)); vconcat(a, b)"),
            format!("canvas(9, ({n}, 3))"),
            format!("canvas(5, (40, {n}))"),
            format!("a = crop(G, (0, 0), (2, {n})); hupscale(a, 2)"),
            format!("a = crop(G, (0, 0), ({n}, 3)); vupscale(a, 3)"),
            format!("a = crop(G, (0, 0), ({n}, 3)); upscale(a, 5)"),
        ]);
    }
    calls.extend([65, 100, 2000].map(|n| format!("canvas(5, ({n}, 3))")));
    calls.push("a = crop(G, (0, 0), (5, 8)); upscale(a, 6)".to_owned());
    calls.push("a = crop(G, (0, 0), (1, 1)); upscale(a, 64)".to_owned());
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    compare(
        Dialect::ArcDsl,
        &programs(Dialect::ArcDsl, &[(64, 64)], &calls),
        false,
    );
}

/// Wide grids in containers and closures, and where no op expects them.
#[test]
fn wide_grids_anywhere_end_as_on_the_cpu() {
    let calls = [
        "repeat(G, 2)",
        "a = repeat(G, 3); merge(a)",
        "a = hmirror(G); b = astuple(G, a); apply(vmirror, b)",
        "a = hmirror(G); b = astuple(G, a); apply(mostcolor, b)",
        "a = hmirror(G); b = astuple(G, a); argmax(b, width)",
        "a = hmirror(G); b = astuple(I, a); argmax(b, height)",
        "a = astuple(I, G); order(a, width)",
        "a = astuple(I, G); sizefilter(a, 16)",
        "a = astuple(I, G); valmax(a, size)",
        "a = astuple(G, G); dedupe(a)",
        "a = astuple(G, G); mostcommon(a)",
        "a = astuple(I, G); contained(G, a)",
        "a = astuple(I, G); remove(G, a)",
        "a = astuple(I, G); other(a, G)",
        "a = astuple(I, G); b = combine(a, a); last(b)",
        "a = astuple(I, G); b = apply(tophalf, a); c = apply(palette, b); O = merge(c)",
        "a = hsplit(I, 2); f = rbind(upscale, 4); b = apply(f, a); first(b)",
        "a = hsplit(I, 2); f = rbind(upscale, 4); b = apply(f, a); apply(size, b)",
        "a = hsplit(I, 2); f = rbind(upscale, 4); b = mapply(f, a); size(b)",
        "a = initset(G); b = insert(I, a); apply(height, b)",
        "a = initset(G); size(a)",
        "a = totuple(initset(G)); first(a)",
        "a = astuple(G, I); maximum(a)",
        "a = astuple(G, G); b = repeat(G, 2); equality(a, b)",
        "a = first(G); contained(a, G)",
        "a = repeat(0, 40); contained(a, G)",
        "a = vconcat(I, I); b = objects(a, T, F, F); apply(first, b)",
        "a = hconcat(I, I); b = objects(a, F, F, T); apply(totuple, b)",
        "apply(first, G)",
        "apply(identity, G)",
        "mapply(identity, G)",
        "a = tophalf(I); b = vconcat(G, a); c = apply(size, b); O = repeat(c, 2)",
        "f = lbind(hconcat, I); g = compose(f, I); g(I)",
        "branch(T, G, I)",
        "greater(G, I)",
        "both(G, I)",
        "flip(G)",
        "index(G, (33, 40))",
        "index(G, (-1, 5))",
        "greater(I, G)",
        "insert(G, palette(I))",
        "product(G, I)",
        "pair(G, I)",
        "combine(G, I)",
        "difference(G, I)",
        "intersection(G, I)",
        "dedupe(G)",
        "hsplit(G, 2)",
        "vsplit(G, 3)",
        "asindices(G)",
        "asobject(G)",
        "ofcolor(G, 8)",
        "a = asindices(G); totuple(a)",
        "a = asobject(G); totuple(a)",
        "a = ofcolor(G, 8); totuple(a)",
        "a = ofcolor(G, 2); b = fill(G, 4, a); hconcat(I, b)",
        "a = ofcolor(G, 8); b = ofcolor(G, 2); combine(a, b)",
        "a = ofcolor(G, 8); b = ofcolor(G, 2); c = combine(a, b); totuple(c)",
        "a = ofcolor(G, 8); mapply(neighbors, a)",
        "a = ofcolor(G, 8); shift(a, (3, 4))",
        "a = asindices(I); b = shift(a, (20, 20)); toobject(b, G)",
        "a = asindices(I); b = shift(a, (20, -7)); c = toobject(b, G); totuple(c)",
        "a = asobject(I); b = shift(a, (-1, 20)); c = toobject(b, G); paint(G, c)",
        "a = crop(G, (0, 0), (2, 2)); b = ofcolor(a, 8); toobject(b, G)",
        "a = hsplit(G, 2); apply(height, a)",
        "a = hsplit(G, 7); last(a)",
        "vsplit(G, 70)",
        "hsplit(G, -1)",
        "hsplit(G, 0)",
        "vsplit(G, I)",
        "objects(G, T, F, T)",
        "objects(G, F, F, T)",
        "objects(G, T, T, T)",
        "objects(G, F, T, F)",
        "a = objects(G, T, F, T); argmax(a, size)",
        "a = objects(G, T, F, T); apply(size, a)",
        "a = objects(G, F, F, T); apply(shape, a)",
        "a = objects(G, F, F, T); apply(ulcorner, a)",
        "a = objects(G, T, F, T); merge(a)",
        "a = objects(G, F, F, T); apply(first, a)",
        "a = objects(G, T, T, F); totuple(a)",
        "a = hupscale(I, 3); b = downscale(a, 2); objects(b, T, F, F)",
        "a = hupscale(I, 3); b = crop(a, (0, 0), (9, 48)); objects(b, T, T, F)",
        "a = hupscale(I, 4); b = crop(a, (0, 0), (9, 64)); objects(b, F, F, T)",
        "a = upscale(I, 4); b = crop(a, (0, 0), (64, 30)); objects(b, T, F, F)",
        "a = upscale(I, 4); b = crop(a, (0, 0), (64, 30)); objects(b, F, T, T)",
        "a = partition(G); totuple(a)",
        "a = partition(G); apply(totuple, a)",
        "a = fgpartition(G); totuple(a)",
        "a = fgpartition(G); apply(size, a)",
        "a = asindices(I); b = shift(a, (0, 20)); bordering(b, G)",
        "a = initset((1, 39)); bordering(a, G)",
        "a = initset((20, 63)); bordering(a, G)",
        "partition(G)",
        "fgpartition(G)",
        "frontiers(G)",
        "toobject(asindices(I), G)",
        "occurrences(G, asobject(I))",
        "normalize(G)",
        "shift(G, (1, 1))",
        "toindices(G)",
        "recolor(1, G)",
        "ulcorner(G)",
        "center(G)",
        "uppermost(G)",
        "rightmost(G)",
        "cover(I, G)",
        "underfill(I, 2, G)",
        "underpaint(I, G)",
        "colorcount(I, G)",
        "a = objects(I, T, F, F); sizefilter(a, G)",
        "fill(I, G, G)",
        "hline(G)",
        "subgrid(G, I)",
        "crop(I, G, (1, 1))",
        "fill(I, 1, G)",
        "paint(I, G)",
        "paint(G, G)",
        "fill(G, 1, G)",
        "paint(G, ((1, (2, 3)), (2, (2, 3)), (9, (33, 0)), (4, (0, 60))))",
        "paint(G, ((1, (2, 3)), (2, (2, 4)), (9, (33, 0)), (4, (0, 60)), (5, (-1, 2))))",
        "fill(G, 3, ((1, 2), (40, 0), (0, 50)))",
        "a = asobject(I); b = (7, (60, 60)); c = insert(b, a); paint(G, c)",
        "paint(G, insert((1, (60, 60)), asobject(I)))",
        "move(G, asindices(I), (1, 1))",
        "cover(G, G)",
        "upscale(I, G)",
        "hconcat(G, 5)",
        "hconcat(5, G)",
        "hconcat(G, (1, 2))",
        "vconcat(G, (1, 2))",
        "vconcat(G, I)",
        "vconcat(I, G)",
        "hconcat(I, G)",
        "add(G, 1)",
        "color(G)",
        "delta(G)",
        "connect(G, (1, 1))",
        "position(G, I)",
        "gravitate(G, I)",
        "mostcommon(G)",
        "maximum(G)",
        "minimum(G)",
        "sizefilter(G, 64)",
        "merge(G)",
        "totuple(G)",
        "extract(G, identity)",
        "sfilter(G, identity)",
        "argmax(G, size)",
        "order(G, identity)",
        "remove(1, G)",
        "canvas(G, (1, 1))",
        "canvas(1, G)",
        "index(I, G)",
        "replace(G, 8, G)",
        "replace(G, 8, 77)",
        "fill(G, 77, asindices(I))",
    ];
    let sizes = [(2, 40), (40, 2), (40, 3), (33, 64)];
    compare(
        Dialect::ArcDsl,
        &programs(Dialect::ArcDsl, &sizes, &calls),
        false,
    );
}

#[test]
fn wide_grids_of_tokpidjin_end_as_on_the_cpu() {
    let calls = [
        "hmirror_t(G)",
        "vmirror_t(G)",
        "dmirror_t(G)",
        "cmirror_t(G)",
        "rot90(G)",
        "rot180(G)",
        "rot270(G)",
        "mir_rot_t(G, 4)",
        "upscale_t(G, 1)",
        "hupscale(G, 0)",
        "vupscale(G, 1)",
        "downscale(G, 3)",
        "crop(G, (0, 0), (33, 1))",
        "crop(G, (30, 31), (5, 4))",
        "a = asindices(I); subgrid(a, G)",
        "trim(G)",
        "tophalf(G)",
        "bottomhalf(G)",
        "lefthalf(G)",
        "righthalf(G)",
        "compress(G)",
        "index(G, (0, 0))",
        "a = hmirror_t(G); cellwise(G, a, 4)",
        "cellwise(G, I, 4)",
        "cellwise(I, G, 4)",
        "replace(G, 8, 2)",
        "switch(G, 8, 0)",
        "a = asindices(I); b = shift(a, (25, 26)); fill(G, 3, b)",
        "a = asindices(I); b = shift(a, (25, 26)); underfill(G, 3, b)",
        "a = asindices(I); b = shift(a, (25, 26)); cover(G, b)",
        "a = asobject(I); b = shift(a, (25, 26)); paint(G, b)",
        "a = asobject(I); b = shift(a, (25, 26)); underpaint(G, b)",
        "a = asobject(I); b = shift(a, (20, 20)); move(G, b, (7, 9))",
        "height_t(G)",
        "width_t(G)",
        "shape_t(G)",
        "portrait_t(G)",
        "square_t(G)",
        "size_t(G)",
        "mostcolor_t(G)",
        "leastcolor_t(G)",
        "palette_t(G)",
        "numcolors_t(G)",
        "colorcount_t(G, 8)",
        "hconcat(G, I)",
        "a = crop(G, (0, 0), (2, 2)); hconcat(a, G)",
        "hsplit(G, 3)",
        "vsplit(G, 5)",
        "objects(G, F, F, T)",
        "partition(G)",
        "fgpartition(G)",
        "a = initset((1, 39)); bordering(a, G)",
        "f_ofcolor(G, 8)",
        "asindices(G)",
        "asobject(G)",
        "a = asindices(I); b = shift(a, (20, 20)); toobject(b, G)",
    ];
    let programs = programs(Dialect::Tokpidjin, &SIZES, &calls);
    compare(Dialect::Tokpidjin, &programs, false);
}
