//! `batt ops`: the manual of the primitives, from the op table.

mod device;
mod manual;

use std::io::Write;

use anyhow::Result;
use batt::conformance::expression;
use batt_dsl::{ConstId, Dialect, Limits, Op, Workspace};
use clap::Args;
use serde_json::{Value as Json, json};

use self::device::Missing;
use crate::cli::{DialectName, Exit};
use crate::error::advised;
use crate::solvers::nearest;
use crate::ui::{NOTE, STRONG, Ui, stdout, table, table_text};

/// List the primitives, or explain one
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt ops
  batt ops objects
  batt ops o_g --dialect tokpidjin
  batt ops --json | jq '.ops[].name'
  batt ops --markdown > docs/ops.md
  batt ops --device")]
pub struct OpsArgs {
    /// A primitive or a constant
    name: Option<String>,

    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print the whole manual as Markdown
    #[arg(long, conflicts_with = "name")]
    markdown: bool,

    /// List the primitives, of all libraries, that a device leaves to the processor
    #[arg(long, conflicts_with_all = ["name", "markdown", "dialect"])]
    device: bool,

    /// The primitives of which library [default: arc-dsl, or where a NAME is known]
    #[arg(
        long,
        value_name = "DIALECT",
        default_value = "auto",
        hide_default_value = true
    )]
    dialect: DialectName,
}

/// Runs the command.
pub fn main(args: &OpsArgs, ui: &Ui) -> Result<Exit> {
    let mut out = stdout();
    if args.device {
        let missing = Missing::new();
        match args.json {
            true => writeln!(out, "{}", missing.to_json())?,
            false => missing.write(&mut out)?,
        }
        out.flush()?;
        return Ok(Exit::Good);
    }
    let known = |dialect: &Dialect, name: &str| {
        dialect.op(name).is_some() || dialect.constant(name).is_some()
    };
    let dialect = args.dialect.dialect().unwrap_or_else(|| {
        let name = args.name.as_deref();
        let knows = |dialect: &Dialect| name.is_none_or(|name| known(dialect, name));
        Dialect::ALL.into_iter().find(knows).unwrap_or_default()
    });
    match &args.name {
        Some(name) => {
            if let Some(id) = dialect.op(name) {
                if args.json {
                    writeln!(out, "{}", op_json(id.op()))?;
                } else {
                    explain(&mut out, id.op(), ui)?;
                }
            } else if let Some(id) = dialect.constant(name) {
                if args.json {
                    writeln!(out, "{}", constant_json(id))?;
                } else {
                    writeln!(out, "{} = {}", ui.out(STRONG, id.name()), id.value())?;
                }
            } else {
                return Err(unknown(name, dialect));
            }
        }
        None if args.json => {
            let ops: Vec<Json> = dialect.ops().iter().map(|op| op_json(op)).collect();
            let constants: Vec<Json> = dialect.constants().map(constant_json).collect();
            writeln!(out, "{}", json!({"ops": ops, "constants": constants}))?;
        }
        None if args.markdown => write!(out, "{}", manual::markdown(dialect))?,
        None => list(&mut out, dialect, ui)?,
    }
    out.flush()?;
    Ok(Exit::Good)
}

fn unknown(name: &str, dialect: Dialect) -> anyhow::Error {
    let known = || {
        let ops = dialect.ops().iter().map(|op| op.name);
        ops.chain(dialect.constants().map(ConstId::name))
    };
    // `three` is a slip of `THREE`, though no letter is the same.
    let same = known().find(|known| known.eq_ignore_ascii_case(name));
    advised(
        format_args!("there is no primitive '{name}' in {}", dialect.name()),
        match same.or_else(|| nearest(name, known())) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "`batt ops` lists all of them".to_owned(),
        },
    )
}

/// The ops of a dialect, family by family.
fn families(dialect: Dialect) -> Vec<(&'static str, Vec<&'static Op>)> {
    let mut families: Vec<(&str, Vec<&Op>)> = Vec::new();
    for op in dialect.ops() {
        match families.last_mut() {
            Some((family, ops)) if *family == op.family => ops.push(op),
            _ => families.push((op.family, vec![op])),
        }
    }
    families
}

fn list(out: &mut impl Write, dialect: Dialect, ui: &Ui) -> Result<()> {
    for (family, ops) in families(dialect) {
        writeln!(out, "{}", ui.out(STRONG, title(family)))?;
        let mut rows = table(&[], &[]);
        for op in ops {
            rows.add_row([
                format!("{} -> {}", op.call_form(), op.returns),
                op.summary(),
            ]);
        }
        writeln!(out, "{}", table_text(&rows))?;
    }
    writeln!(out, "{}", ui.out(STRONG, "Constants"))?;
    let mut rows = table(&[], &[]);
    for id in dialect.constants() {
        rows.add_row([id.name().to_owned(), id.value().to_string()]);
    }
    write!(out, "{}", table_text(&rows))?;
    Ok(())
}

fn explain(out: &mut impl Write, op: &Op, ui: &Ui) -> Result<()> {
    writeln!(out, "{}", ui.out(STRONG, signature(op)))?;
    writeln!(out, "\n{}", doc(op))?;
    let (call, result) = op.example;
    if !call.is_empty() {
        writeln!(out, "\n{}\n  {call}\n  {result}", ui.out(NOTE, "example"))?;
    }
    if let Some(fallback) = op.fallback {
        writeln!(
            out,
            "\n{}\n  {fallback}",
            ui.out(NOTE, "instead of failing")
        )?;
    }
    if let Some(error) = failure(op) {
        writeln!(
            out,
            "\n{}\n  {}\n  {error}",
            ui.out(NOTE, "fails"),
            op.fails
        )?;
    }
    if op.order_sensitive {
        let label = ui.out(NOTE, "depends on the order of a set");
        writeln!(out, "\n{label}\n  {}", op.order)?;
    }
    writeln!(out, "\n{} {}", ui.out(NOTE, "family"), title(op.family))?;
    writeln!(out, "{} {}", ui.out(NOTE, "dialect"), op.dialect.name())?;
    Ok(())
}

/// `hmirror(piece: Piece) -> Piece`.
fn signature(op: &Op) -> String {
    let params: Vec<String> = op
        .params
        .iter()
        .map(|param| format!("{}: {}", param.name, param.ty))
        .collect();
    format!("{}({}) -> {}", op.name, params.join(", "), op.returns)
}

/// The documentation without the blank that follows every `///`.
fn doc(op: &Op) -> String {
    let line = |line: &'static str| line.strip_prefix(' ').unwrap_or(line);
    let lines: Vec<&str> = op.doc.lines().map(line).collect();
    lines.join("\n").trim().to_owned()
}

/// What the example of a failing call fails with; found by running it.
fn failure(op: &Op) -> Option<String> {
    if op.fails.is_empty() {
        return None;
    }
    let call = expression(op.fails, op.dialect).ok()?;
    let fault = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
        call.execute(run, &[]).err().map(|error| error.fault)
    });
    fault.map(|fault| fault.to_string())
}

/// `higher_order` as a heading: `Higher order`.
fn title(family: &str) -> String {
    let mut chars = family.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| if c == '_' { ' ' } else { c });
    first.into_iter().chain(rest).collect()
}

fn op_json(op: &Op) -> Json {
    let param = |param: &batt_dsl::Param| json!({"name": param.name, "type": param.ty.to_string()});
    let params: Vec<Json> = op.params.iter().map(param).collect();
    let fails = failure(op).map(|error| json!({"call": op.fails, "error": error}));
    json!({
        "name": op.name,
        "dialect": op.dialect.name(),
        "family": op.family,
        "fallback": op.fallback.map(|fallback| fallback.to_string()),
        "params": params,
        "returns": op.returns.to_string(),
        "summary": op.summary(),
        "doc": doc(op),
        "example": (!op.example.0.is_empty())
            .then(|| json!({"call": op.example.0, "result": op.example.1})),
        "fails": fails,
        "order": op.order_sensitive.then_some(op.order),
    })
}

fn constant_json(id: ConstId) -> Json {
    json!({"name": id.name(), "value": id.value().to_string()})
}
