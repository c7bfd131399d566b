//! Names: the task a solver is for, and the known name an unknown one resembles.

use crate::{Dataset, Task};

/// Longer names are no slips, and comparing them would take long.
const LONGEST: usize = 60;

impl Dataset {
    /// Returns the task of a solver by its name: the name is the task's id or ends in `_` and the id.
    /// The longest id wins, since an id may contain `_` itself.
    pub fn task_of(&self, solver: &str) -> Option<&Task> {
        let ends = solver.match_indices('_').map(|(at, _)| &solver[at + 1..]);
        std::iter::once(solver)
            .chain(ends)
            .find_map(|id| self.get(id))
    }
}

/// Returns the known name that resembles an unknown one most, if one is close enough to be meant.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    // A third of the letters may differ.
    let allowed = name.chars().count() / 3;
    known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_id_wins() {
        let task = |id: &str| {
            let json = br#"[{"input": [[1]], "output": [[2]]}]"#;
            let data = Dataset::from_json(format!("{id}.json"), json).unwrap();
            data.into_tasks().remove(0)
        };
        let data = Dataset::new(vec![task("ab12"), task("x_ab12"), task("solve")]).unwrap();
        let found = |name| data.task_of(name).map(|task| task.id.as_str());
        assert_eq!(found("solve_ab12"), Some("ab12"));
        assert_eq!(found("solve_x_ab12"), Some("x_ab12"));
        assert_eq!(found("solve"), Some("solve"));
        assert_eq!(found("solveab12"), None);
        assert_eq!(found("solve_ab1"), None);
    }

    #[test]
    fn only_close_names_are_near() {
        let near = |name| nearest(name, ["aa11", "bb22"].into_iter());
        assert_eq!(near("aa12"), Some("aa11"));
        assert_eq!(near("cc33"), None);
        assert_eq!(near(&"a".repeat(61)), None);
    }
}
