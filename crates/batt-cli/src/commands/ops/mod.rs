//! `batt ops`: prints the manual of the primitives, from the op table.

mod manual;

use std::io::Write;

use anyhow::Result;
use batt::ops::{ConstId, Op, OpId, OpParam, failure, without_device_body};
use batt::{Dialect, nearest};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::cli::{DialectName, Exit};
use crate::error::advised;
use crate::ui::{NOTE, STRONG, Ui, counted, grouped, stdout, table, table_text};

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

    /// List the primitives of all dialects that have no device body
    #[arg(long, conflicts_with_all = ["name", "markdown", "dialect"])]
    device: bool,

    /// The dialect of the primitives [default: arc-dsl, or the first that has NAME]
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
        write_missing(&mut out, args.json)?;
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
    advised(
        format_args!("there is no primitive '{name}' in {}", dialect.name()),
        match nearest(name, known()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "`batt ops` lists all of them".to_owned(),
        },
    )
}

/// Lists the primitives without a device body.
fn write_missing(out: &mut impl Write, json: bool) -> Result<()> {
    let (all, missing) = (OpId::every().count(), without_device_body());
    if json {
        let found = missing.iter();
        let found = found.map(|(dialect, name)| json!({"name": name, "dialect": dialect.name()}));
        let found: Vec<Json> = found.collect();
        writeln!(out, "{}", json!({"primitives": all, "missing": found}))?;
    } else if missing.is_empty() {
        writeln!(out, "all {} primitives have a device body", grouped(all))?;
    } else {
        writeln!(
            out,
            "{} of {} have no device body; runs that need them fall back to the CPU:",
            grouped(missing.len()),
            counted(all, "primitive"),
        )?;
        let mut rows = table(&[], &[]);
        for (dialect, name) in missing {
            rows.add_row([name, dialect.name()]);
        }
        write!(out, "{}", table_text(&rows))?;
    }
    Ok(())
}

/// Returns the ops of a dialect by family.
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
            ui.out(NOTE, "instead of failing, it gives")
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

/// Returns the signature of a primitive: `hmirror(piece: Piece) -> Piece`.
fn signature(op: &Op) -> String {
    let params: Vec<String> = op
        .params
        .iter()
        .map(|param| format!("{}: {}", param.name, param.ty))
        .collect();
    format!("{}({}) -> {}", op.name, params.join(", "), op.returns)
}

/// Returns the documentation without the blank that follows every `///`.
fn doc(op: &Op) -> String {
    let line = |line: &'static str| line.strip_prefix(' ').unwrap_or(line);
    let lines: Vec<&str> = op.doc.lines().map(line).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the name of a family as a heading: `higher_order` becomes `Higher order`.
fn title(family: &str) -> String {
    let mut chars = family.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| if c == '_' { ' ' } else { c });
    first.into_iter().chain(rest).collect()
}

fn op_json(op: &Op) -> Json {
    let param = |param: &OpParam| json!({"name": param.name, "type": param.ty.to_string()});
    let params: Vec<Json> = op.params.iter().map(param).collect();
    let fails = failure(op).map(|error| json!({"call": op.fails, "error": error.to_string()}));
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
