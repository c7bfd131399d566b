//! `batt archive lineage`: shows the ancestors of a solver.

use std::io::Write;

use anyhow::Result;
use batt::archive::{Ancestor, Archive};
use clap::Args;
use serde_json::json;

use super::find;
use super::report::short;
use crate::cli::Exit;
use crate::numbers;
use crate::ui::stdout;

/// Show the ancestors of a solver as a tree
#[derive(Args)]
#[command(after_help = "\
Each line names a solver and the change that made it. The indented lines below it are its parents.

Examples:
  batt archive lineage 4f1a09c2
  batt archive lineage 1673c3ec --depth 100
  batt archive lineage 4f1a09c2 --json | jq -r .mutation | sort | uniq -c")]
pub struct LineageArgs {
    /// The first digits of the hash of a solver, or a task, which stands for its best solver
    #[arg(value_name = "HASH|TASK")]
    name: String,

    /// Generations to go back
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::from_zero::<usize>)]
    depth: usize,

    /// Print one JSON object per line of the tree
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &LineageArgs, archive: &Archive) -> Result<Exit> {
    let (hash, _) = find(archive, &args.name)?;
    let ancestors = archive
        .lineage(&hash, args.depth)
        .map_err(batt::Error::from)?;
    let mut out = stdout();
    if args.json {
        for ancestor in &ancestors {
            let solver = ancestor.solver.as_ref();
            let line = json!({
                "hash": ancestor.hash,
                "depth": ancestor.depth,
                "repeated": ancestor.repeated,
                "mutation": solver.map(|solver| &solver.mutation),
                "parents": solver.map(|solver| &solver.parents),
                "run": solver.map(|solver| solver.run.number()),
                "when": solver.map(|solver| &solver.when),
            });
            writeln!(out, "{line}")?;
        }
    } else {
        for (branch, ancestor) in branches(&ancestors).iter().zip(&ancestors) {
            writeln!(out, "{branch}{}", line(ancestor, args.depth))?;
        }
    }
    out.flush()?;
    Ok(Exit::Good)
}

fn line(ancestor: &Ancestor, depth: usize) -> String {
    let hash = short(&ancestor.hash);
    let Some(solver) = &ancestor.solver else {
        return format!("{hash}  not in the archive");
    };
    let more = match (ancestor.repeated, solver.parents.is_empty()) {
        (_, true) => "",
        (true, false) => "  (its parents are elsewhere in the tree)",
        (false, false) if ancestor.depth >= depth => "  (a larger --depth shows its parents)",
        (false, false) => "",
    };
    format!("{hash}  {}{more}", solver.mutation)
}

/// Returns the branches that precede each line of the tree.
fn branches(ancestors: &[Ancestor]) -> Vec<String> {
    let mut out = vec![String::new(); ancestors.len()];
    // The lines are visited from below. `more` holds for each depth whether a later line has the
    // same parent.
    let mut more: Vec<bool> = Vec::new();
    for (at, ancestor) in ancestors.iter().enumerate().rev() {
        let depth = ancestor.depth;
        more.resize(depth + 1, false);
        let lines = |&more: &bool| if more { "│  " } else { "   " };
        if depth > 0 {
            out[at] = more[1..depth].iter().map(lines).collect();
            out[at] += if more[depth] { "├─ " } else { "└─ " };
        }
        more[depth] = true;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_branches() {
        let ancestors: Vec<Ancestor> = [0, 1, 2, 3, 2, 1, 2]
            .map(|depth| Ancestor {
                depth,
                hash: String::new(),
                solver: None,
                repeated: false,
            })
            .into();
        assert_eq!(
            branches(&ancestors),
            ["", "├─ ", "│  ├─ ", "│  │  └─ ", "│  └─ ", "└─ ", "   └─ "]
        );
    }
}
