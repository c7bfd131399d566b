//! Reads the cases of primitives and of programs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use batt_dsl::{Dialect, OwnedValue};
use batt_lang::SolverFile;
use serde_json::Value as Json;

use crate::cases::{Argument, Case, Expected, Work};
use crate::files::{bad, lines, read};
use crate::{Group, VectorsError};
use batt_engine::Compiled;

/// Reads the calls of one primitive.
pub(crate) fn op_cases(path: &Path, dialect: Dialect) -> Result<Vec<Case>, VectorsError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let op = dialect
        .op(&name)
        .ok_or_else(|| bad(path, 0, format!("no primitive '{name}'")))?;
    let file = Arc::new(path.to_owned());
    let mut cases = Vec::new();
    for (line, case) in lines(path)? {
        let arguments = |key: &str| -> Result<Option<Vec<Argument>>, VectorsError> {
            let Some(list) = case.get(key).and_then(Json::as_array) else {
                return Ok(None);
            };
            let list = list.iter().map(|a| Argument::read(a, dialect));
            let list: Result<Vec<_>, _> = list.collect();
            list.map(Some).map_err(|e| bad(path, line, e))
        };
        let out = case.get("out");
        let out = out.ok_or_else(|| bad(path, line, "no expected outcome"))?;
        let mut what = format!("{name}{}", case.get("args").unwrap_or(&Json::Null));
        if let Some(call) = case.get("call") {
            what.push_str(&call.to_string());
        }
        cases.push(Case {
            path: Arc::clone(&file),
            line,
            group: Group::Ops(dialect),
            order_dependent: is_order_dependent(&case),
            work: Work::Op {
                dialect,
                op,
                args: arguments("args")?.ok_or_else(|| bad(path, line, "no args"))?,
                call: arguments("call")?,
            },
            expected: Expected::One {
                what,
                out: out.clone(),
            },
        });
    }
    Ok(cases)
}

/// Returns whether a case is marked as depending on the order of sets. Calls of primitives are
/// never marked.
pub(crate) fn is_order_dependent(case: &Json) -> bool {
    case.get("order_dependent").and_then(Json::as_bool) == Some(true)
}

/// Reads the runs of the programs in one file.
pub(crate) fn program_cases(path: &Path, dialect: Dialect) -> Result<Vec<Case>, VectorsError> {
    let file = SolverFile::parse_in(&read(path)?, &path.to_string_lossy(), Some(dialect));
    if let Some(diagnostic) = file.diagnostics.iter().find(|d| d.is_error()) {
        return Err(bad(
            path,
            diagnostic.span.line as usize,
            diagnostic.headline(),
        ));
    }
    let programs: HashMap<&str, Arc<Compiled>> = file
        .programs
        .iter()
        .map(|p| (p.name(), Arc::new(Compiled::new(p))))
        .collect();
    let results = Arc::new(path.with_extension("jsonl"));
    let mut cases = Vec::new();
    for (line, case) in lines(&results)? {
        let missing = |key: &str| bad(&results, line, format!("no '{key}'"));
        let id = case
            .get("id")
            .and_then(Json::as_str)
            .ok_or_else(|| missing("id"))?;
        let name = format!("case_{id}");
        let program = programs.get(name.as_str()).ok_or_else(|| {
            bad(
                &results,
                line,
                format!("no program {name} in {}", path.display()),
            )
        })?;
        let names: &[&str] = match dialect {
            Dialect::ArcDsl | Dialect::ReArc => &["in"],
            Dialect::Tokpidjin => &["S", "I", "C"],
        };
        let inputs = names.iter().map(|name| {
            let input = case.get(*name).ok_or_else(|| missing(name))?;
            OwnedValue::from_json(input).map_err(|e| bad(&results, line, e))
        });
        cases.push(Case {
            path: Arc::clone(&results),
            line,
            group: Group::Programs(dialect),
            order_dependent: is_order_dependent(&case),
            work: Work::Program {
                program: Arc::clone(program),
                inputs: inputs.collect::<Result<_, _>>()?,
            },
            expected: Expected::One {
                what: name,
                out: case.get("out").ok_or_else(|| missing("out"))?.clone(),
            },
        });
    }
    Ok(cases)
}
