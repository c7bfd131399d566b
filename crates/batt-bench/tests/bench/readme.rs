//! `batt-bench readme`.

use serde_json::Value as Json;

use crate::support::bench;

#[test]
fn every_figure_of_the_built_in_puzzles_is_measured() {
    let args = ["--seconds", "0.1", "--evolve", "--generations", "1"];
    let ended = bench(&[&["readme", "--json"], &args[..]].concat()).code(0);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    let figures = &json["readme"];
    let ops = batt_dsl::Dialect::ArcDsl.ops().len();
    assert_eq!(figures["arc-dsl: primitives"], ops);
    for (name, value) in [
        ("arc-dsl: constants", 28),
        ("built-in: tasks", 65),
        ("built-in: tasks solved", 65),
        ("built-in: pairs right", 260),
        ("built-in: merged solvers", 65),
        ("built-in: steps before merging", 1_968),
        ("built-in: steps after sharing", 1_323),
        ("limit: steps of a run", 3_000_000),
        ("limit: elements of a value", 4_000_000),
        ("limit: MiB of values alive", 16),
        ("evolve: tasks held out", 16),
    ] {
        assert_eq!(figures[name], value, "{name} of {figures}");
    }
    for name in [
        "built-in: runs per second, one core",
        "built-in: steps after simplification",
        "built-in: seconds for all of them",
        "evolve: seconds",
        "evolve: distinct offspring a minute",
    ] {
        assert!(figures[name].as_f64().unwrap() > 0.0, "{name} of {figures}");
    }
}

#[test]
fn figures_of_real_solvers_need_their_tasks() {
    bench(&["readme", "--solvers", "s.py"])
        .code(2)
        .err("--tasks");
    bench(&["readme", "--against", "x"]).code(2).err("--tasks");
    bench(&["readme", "--evaluation", "x"])
        .code(2)
        .err("--solvers");
}
