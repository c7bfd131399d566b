//! The structure of pictures: they are read as XML and measured, not compared with stored ones.

mod support;

use batt_arc::{Dataset, Grid, Pair, Task, corpus};
use batt_dsl::{Limits, OwnedValue, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, Sample, Values, run_job};
use batt_lang::SolverFile;
use batt_picture::{
    Palette, PictureStyle, RunOutcome, Svg, Theme, comparison, gallery, grid, pair, run, source,
    task, trace, value,
};
use serde_json::json;

use support::{check, texts};

fn parse(json: serde_json::Value) -> OwnedValue {
    OwnedValue::from_json(&json).unwrap()
}

fn style() -> PictureStyle {
    PictureStyle::default()
}

/// Draws the run of an embedded solver on a pair of its task.
fn trace_of(file: &SolverFile, task: &Task, pair: &Pair, style: &PictureStyle) -> Svg {
    let program = file.program(&format!("solve_{}", task.id)).unwrap();
    let compiled = Compiled::new(program);
    let job = Job {
        program: &compiled,
        sample: Sample::new(task, pair),
    };
    let options = EvalOptions {
        values: Values::All,
        ..EvalOptions::default()
    };
    let result = run_job(&mut Workspace::new(), &job, &options);
    let steps = batt_engine::trace(program, &job, &Limits::default());
    let outcome = RunOutcome {
        expected: pair.output.as_ref(),
        value: result.value.as_ref(),
        error: None,
    };
    trace(
        program.name(),
        program,
        &pair.input,
        &steps,
        &outcome,
        style,
    )
}

#[test]
fn tasks_and_traces_are_tidy() {
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    for (k, task_of) in corpus::tasks().iter().enumerate() {
        let style = PictureStyle {
            theme: Theme::ALL[k % 3],
            palette: Palette::ALL[k % 3],
            width: [960, 400, 1500][k % 3],
            ..style()
        };
        let picture = task(task_of, &style);
        check(&picture);
        assert!(picture.as_str().len() < 30_000, "{}", task_of.id);
        for name in ["train[0]", "train[2]", "test[0]"] {
            assert!(texts(&picture).iter().any(|text| text == name));
        }
        let pair_of = &task_of.test[0];
        check(&pair("a pair", pair_of, &style));
        let steps = trace_of(&file, task_of, pair_of, &style);
        check(&steps);
        let shown = texts(&steps);
        let program = file.program(&format!("solve_{}", task_of.id)).unwrap();
        for step in program.steps() {
            assert!(
                shown.contains(&step.name),
                "{}: no {}",
                task_of.id,
                step.name
            );
        }
        assert!(shown.iter().any(|text| text == "right"));
        // One panel may be wider than a narrow picture.
        assert!(steps.width() <= style.width.max(480), "{}", steps.width());
    }
}

#[test]
fn large_tasks_stay_small() {
    // The worst grid: no two neighbours are equal.
    let cells = (0..900).map(|k| ((k % 30 + k / 30 * 3) * 7 % 10) as u8);
    let noisy = Grid::new(30, 30, cells.collect()).unwrap();
    let pair_of = Pair {
        input: noisy.clone(),
        output: Some(noisy),
    };
    let task_of = |train| Task {
        id: "noise".into(),
        name: None,
        description: None,
        train: vec![pair_of.clone(); train],
        test: vec![pair_of.clone()],
    };
    let usual = task(&task_of(3), &style());
    check(&usual);
    assert!(usual.as_str().len() < 80_000, "{}", usual.as_str().len());
    assert!(usual.width() <= 960 && usual.height() <= 700);
    let most = task(&task_of(10), &style());
    check(&most);
    assert!(most.as_str().len() < 220_000, "{}", most.as_str().len());
    assert!(most.width() <= 960 && most.height() <= 2000);
    assert_eq!(
        texts(&most).iter().filter(|text| *text == "30x30").count(),
        22
    );
}

#[test]
fn text_from_files_is_harmless() {
    let evil = "<script>alert('a')</script>\u{0}\u{1b}[31m]]>&amp;\"\u{202e}\u{fffe}\n<!--";
    let one = Grid::from_rows(&[[1]]).unwrap();
    let pair_of = Pair {
        input: one.clone(),
        output: None,
    };
    let task_of = Task {
        id: evil.into(),
        name: Some(evil.into()),
        description: Some(evil.repeat(100)),
        train: vec![pair_of.clone()],
        test: vec![pair_of.clone()],
    };
    let outcome = RunOutcome {
        error: Some(evil),
        ..RunOutcome::default()
    };
    let text = format!("def f(I): # {evil}\n\t\"{evil}\"\n{}", "x".repeat(10_000));
    let pictures = [
        task(&task_of, &style()),
        pair(evil, &pair_of, &style()),
        run(evil, Some(&one), &outcome, &style()),
        source(evil, &text, 1, &style()),
        gallery(evil, &[(evil.into(), grid(&one, &style()))], &style()),
    ];
    for picture in &pictures {
        check(picture);
        assert!(!picture.as_str().contains("<script"));
        assert!(!picture.as_str().contains('\u{202e}'));
        assert!(texts(picture).iter().any(|text| text.contains("<script>")));
        assert!(picture.width() < 2_000 && picture.height() < 3_000);
    }
    assert!(
        texts(&pictures[0])
            .iter()
            .any(|text| text.contains("\\u{1b}"))
    );
}

#[test]
fn unknown_outputs_are_question_marks() {
    let folder = br#"{"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}"#;
    let data = Dataset::from_json("a.json", folder).unwrap();
    let task_of = &data.tasks()[0];
    let marks = |svg: &Svg| texts(svg).iter().filter(|text| *text == "?").count();
    assert_eq!(marks(&task(task_of, &style())), 1);
    assert_eq!(marks(&pair("a", &task_of.train[0], &style())), 0);
    assert_eq!(marks(&pair("a", &task_of.test[0], &style())), 1);
}

#[test]
fn every_value_has_a_picture() {
    let object = json!({"s": [{"t": [3, {"t": [4, 7]}]}, {"t": [5, {"t": [5, 8]}]}]});
    let patch = json!({"s": [{"t": [0, 0]}, {"t": [0, 2]}]});
    let far = json!({"s": [{"t": [0, 0]}, {"t": [i64::MAX, i64::MIN]}]});
    let wide = json!({"s": (0..85).map(|k| json!({"t": [k - 40, k - 40]})).collect::<Vec<_>>()});
    let background = Grid::from_rows(&[[0u8; 12]; 9]).unwrap();
    for (json, expected) in [
        (json!(null), "None"),
        (json!(-7), "-7"),
        (json!(true), "True"),
        (json!({"x": "inf"}), "inf"),
        (json!({"s": []}), "frozenset()"),
        (json!({"t": []}), "()"),
        (json!({"t": [{"t": []}]}), "((),)"),
        (json!({"g": ["01", "23"]}), "2x2"),
        (object.clone(), "2x2 at (4, 7)"),
        (patch.clone(), "1x3 at (0, 0)"),
        (
            json!({"s": [object.clone(), patch.clone()]}),
            "a frozenset of 2",
        ),
        (json!({"t": [object.clone(), {"g": ["1"]}]}), "1x1"),
        (json!({"t": vec![json!({"g": ["1"]}); 15]}), "… and 3 more"),
        (
            json!({"t": [patch.clone(), 3]}),
            "(frozenset({(0, 0), (0, 2)}), 3)",
        ),
        (wide.clone(), "76 cells outside"),
        (far.clone(), "1 cell outside"),
    ] {
        let picture = value(&parse(json.clone()), Some(&background), &style());
        check(&picture);
        let shown = texts(&picture);
        assert!(
            shown.iter().any(|text| text == expected),
            "{json}: {shown:?}"
        );
    }
    for json in [wide, far] {
        // Without a background there is no place to draw it.
        let picture = value(&parse(json), None, &style());
        check(&picture);
        assert!(texts(&picture)[0].starts_with("frozenset({(0, 0)") || texts(&picture).len() > 1);
    }
    check(&value(&OwnedValue::Function, None, &style()));
}

#[test]
fn huge_values_are_cut_with_a_count() {
    let numbers = OwnedValue::Set((0..10_000).map(OwnedValue::Int).collect());
    let picture = value(&numbers, None, &style());
    check(&picture);
    let text = texts(&picture).join(" ");
    let shown = text.matches(',').count();
    let left = text.split("… ").nth(1).unwrap().split(' ').next().unwrap();
    // The separator of thousands is a comma, too.
    let left_number: usize = left.replace(',', "").parse().unwrap();
    assert_eq!(
        shown - left.matches(',').count() + left_number,
        10_000,
        "{text}"
    );
    assert!(picture.as_str().len() < 5_000);
    let patches = json!({"s": (0..3000).map(|k| json!({"s": [{"t": [k / 30 % 30, k % 30]}]})).collect::<Vec<_>>()});
    let picture = value(&parse(patches), None, &style());
    check(&picture);
    assert!(texts(&picture).contains(&"the first 1000 of 3,000".to_owned()));
    assert!(picture.as_str().len() < 200_000);
    let mut deep = OwnedValue::None;
    for _ in 0..900 {
        deep = OwnedValue::Tuple(vec![deep]);
    }
    check(&value(&deep, None, &style()));
}

#[test]
fn objects_are_outlined_on_their_background() {
    let background = Grid::from_rows(&[[0u8; 5]; 4]).unwrap();
    let at = |c: u8, i: u8, j: u8| json!({"t": [c, {"t": [i, j]}]});
    let objects = parse(json!({"s": [
        {"s": [at(1, 0, 0), at(1, 0, 1)]},
        {"s": [at(2, 3, 4)]},
    ]}));
    let outlines = |svg: &Svg| {
        let colors = ["#d6006c", "#0050c8"];
        colors.map(|color| svg.as_str().matches(color).count())
    };
    let picture = value(&objects, Some(&background), &style());
    check(&picture);
    assert_eq!(outlines(&picture), [1, 1]);
    // The cells that are not part of an object are those of the background, but fainter.
    assert!(
        picture
            .as_str()
            .contains("stroke=\"#000000\" opacity=\".3\"")
    );
    let alone = value(&parse(json!({"s": [at(1, 7, 7)]})), None, &style());
    assert_eq!(outlines(&alone), [0, 0]);
}

#[test]
fn differences_are_marked_cell_by_cell() {
    let expected = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
    let got = Grid::from_rows(&[[1, 0, 3], [0, 5, 0]]).unwrap();
    let picture = comparison(&expected, &got, &style());
    check(&picture);
    assert!(texts(&picture).contains(&"3 of 6 cells wrong".to_owned()));
    let document = roxmltree::Document::parse(picture.as_str()).unwrap();
    let crosses = document.descendants().filter_map(|node| {
        let is_cross = node.attribute("stroke") == Some("#fff");
        node.attribute("d").filter(|_| is_cross)
    });
    let marks: usize = crosses.map(|path| path.matches('M').count()).sum();
    assert_eq!(marks, 3);
    let same = comparison(&expected, &expected, &style());
    check(&same);
    assert!(texts(&same).contains(&"right".to_owned()));
    assert!(!texts(&same).contains(&"difference".to_owned()));
    let small = Grid::from_rows(&[[1]]).unwrap();
    let picture = comparison(&expected, &small, &style());
    check(&picture);
    assert!(texts(&picture).contains(&"1x1 instead of 2x3".to_owned()));
    assert!(texts(&picture).contains(&"sizes differ".to_owned()));
}

#[test]
fn runs_without_a_grid_say_why() {
    let expected = Grid::from_rows(&[[1, 2]]).unwrap();
    let number = OwnedValue::Int(42);
    let not_a_grid = RunOutcome {
        expected: Some(&expected),
        value: Some(&number),
        error: None,
    };
    let picture = run("f on a", Some(&expected), &not_a_grid, &style());
    check(&picture);
    for text in ["42", "the integer 42 instead of a grid", "expected", "got"] {
        assert!(texts(&picture).contains(&text.to_owned()), "no {text}");
    }
    let failed = RunOutcome {
        error: Some("TypeError in crop, f.py:3: an argument has the wrong type"),
        ..RunOutcome::default()
    };
    let picture = run("f on a", None, &failed, &style());
    check(&picture);
    let text = texts(&picture).join(" ");
    assert!(
        text.contains("failed") && text.contains("TypeError in crop, f.py:3:"),
        "{text}"
    );
    let unknown = run("f on a", None, &RunOutcome::default(), &style());
    check(&unknown);
    assert!(texts(&unknown).contains(&"not recorded".to_owned()));
}

#[test]
fn sources_have_line_numbers() {
    let text = "def f(I):\n    x1 = fill(I, TWO, I)  # why\n    return x1\n";
    let picture = source("f", text, 98, &style());
    check(&picture);
    let lines = [
        "f",
        " 98  def f(I):",
        " 99      x1 = fill(I, TWO, I)  # why",
        "100      return x1",
    ];
    assert_eq!(texts(&picture), lines);
    let long = source("f", &"x = 1\n".repeat(1000), 1, &style());
    check(&long);
    assert!(texts(&long).contains(&"… and 700 more lines".to_owned()));
}

#[test]
fn galleries_wrap_and_shrink() {
    let wide = PictureStyle {
        width: 2000,
        cell: Some(40),
        ..style()
    };
    let one = grid(&Grid::from_rows(&[[1u8; 30]]).unwrap(), &wide);
    assert!(one.width() > 1200);
    let pictures = vec![("a".to_owned(), one); 3];
    let all = gallery("", &pictures, &style());
    check(&all);
    assert!(all.width() <= 960);
    let small = grid(&Grid::from_rows(&[[1]]).unwrap(), &style());
    let many = gallery("many", &vec![(String::new(), small); 100], &style());
    check(&many);
    assert!(many.width() <= 960 && many.height() > 100);
    assert_eq!(
        texts(&many).iter().filter(|text| *text == "1x1").count(),
        100
    );
    check(&gallery("none", &[], &style()));
}

#[test]
fn themes_and_palettes_have_their_colours() {
    let one = Grid::from_rows(&[[1]]).unwrap();
    let with = |theme, palette| {
        let style = PictureStyle {
            theme,
            palette,
            ..style()
        };
        grid(&one, &style)
    };
    let page = |svg: &Svg| {
        let document = roxmltree::Document::parse(svg.as_str()).unwrap();
        let page = document
            .descendants()
            .find(|node| node.has_tag_name("rect"));
        page.and_then(|node| node.attribute("fill").map(str::to_owned))
    };
    let light = with(Theme::Light, Palette::Official);
    let dark = with(Theme::Dark, Palette::ArcPrize);
    let auto = with(Theme::Auto, Palette::ColourBlind);
    assert_eq!(page(&light).unwrap(), "#ffffff");
    assert_eq!(page(&dark).unwrap(), "#0d1117");
    assert_eq!(page(&auto), page(&light));
    assert!(light.as_str().contains("#0074d9"));
    assert!(dark.as_str().contains("#1e93ff"));
    assert!(auto.as_str().contains("#1c3c88"));
    for fixed in [&light, &dark] {
        assert!(!fixed.as_str().contains("<style>") && !fixed.as_str().contains("class="));
    }
    assert!(
        auto.as_str()
            .contains("@media (prefers-color-scheme:dark){")
    );
    assert!(auto.as_str().contains(".batt-auto-fill-page{fill:#0d1117}"));
}

#[test]
fn pictures_in_one_page_agree_on_their_rules() {
    let tasks = corpus::tasks();
    let task_of = &tasks.tasks()[0];
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    let pictures = [
        task(task_of, &style()),
        grid(&task_of.train[0].input, &style()),
        trace_of(&file, task_of, &task_of.train[0], &style()),
        source("f", "def f(I):\n    return fill(I, TWO, 3)\n", 1, &style()),
    ];
    let mut rules = std::collections::BTreeMap::new();
    for picture in &pictures {
        let css = picture.as_str().split("dark){").nth(1).unwrap();
        let css = css.split("}</style>").next().unwrap();
        for rule in css.split_inclusive('}') {
            let (class, body) = rule.split_once('{').unwrap();
            assert!(class.starts_with(".batt-auto-"), "{class}");
            assert_eq!(*rules.entry(class).or_insert(body), body);
        }
    }
    assert!(rules.len() > 8, "{rules:?}");
}
