//! The device source, embedded in the binary.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../device/", $name)))),*]
    };
}

/// The names and texts of all files, the main file first.
pub const WAVES: &[(&str, &str)] = files![
    "waves.cu",
    "base.cuh",
    "rows.cuh",
    "value.cuh",
    "memory.cuh",
    "wide.cuh",
    "hash.cuh",
    "order.cuh",
    "walk.cuh",
    "sets.cuh",
    "replay.cuh",
    "build.cuh",
    "judge.cuh",
    "pack.cuh",
    "ops/color.cuh",
    "ops/grid.cuh",
    "ops/patch.cuh",
    "ops/numbers.cuh",
    "ops/container.cuh",
    "ops/coded.cuh",
    "ops/objects.cuh",
    "ops/tok_patch.cuh",
    "ops/tok_numbers.cuh",
    "ops/tok_container.cuh",
    "ops/tok_grid.cuh",
    "ops/closures.cuh",
    "kernels.cuh",
    "ops.inc",
    "others.inc",
    "ops/grid.inc",
    "ops/patch.inc",
    "ops/numbers.inc",
    "ops/container.inc",
    "ops/objects.inc",
    "ops/tok_patch.inc",
    "ops/tok_numbers.inc",
    "ops/tok_container.inc",
    "ops/tok_grid.inc",
];

/// Returns the files of each of `count` parts that can be compiled at the same time, and then linked, with
/// the word that the compiler needs for the part. The first part has what several kernels call, and each of
/// the others has some of the kernels.
pub fn parts(count: usize) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let kernels = count.saturating_sub(1).max(1);
    let whole = WAVES.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let mut parts = vec![("-DBATT_ORDERS", whole.collect())];
    parts.extend((0..kernels).map(|part| {
        let mut number = 0;
        let files = WAVES
            .iter()
            .map(|(name, text)| match name.ends_with(".inc") {
                true => (*name, lines_of(text, &mut number, part, kernels)),
                false => (*name, (*text).to_owned()),
            });
        ("-DBATT_KERNELS", files.collect())
    }));
    parts
}

/// Returns a table without the kernels of other parts.
fn lines_of(table: &str, number: &mut usize, part: usize, parts: usize) -> String {
    let is_own = |line: &&str| {
        let is_kernel = line.starts_with(|first: char| first.is_ascii_uppercase());
        let at = *number;
        *number += usize::from(is_kernel);
        !is_kernel || at % parts == part
    };
    let lines: Vec<&str> = table.lines().filter(is_own).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_is_in_one_part() {
        let kernels = |files: &[(&str, String)]| -> Vec<String> {
            let tables = files.iter().filter(|(name, _)| name.ends_with(".inc"));
            let lines = tables.flat_map(|(_, text)| text.lines());
            let lines = lines.filter(|line| line.ends_with(')') && !line.starts_with("//"));
            lines.map(str::to_owned).collect()
        };
        let parts = parts(5);
        assert_eq!(parts.len(), 5);
        assert_eq!(parts[0].0, "-DBATT_ORDERS");
        let all = kernels(&parts[0].1);
        assert_eq!(all.len(), crate::table().kernels().len());
        let mut found: Vec<String> = Vec::new();
        for (word, files) in &parts[1..] {
            assert_eq!(*word, "-DBATT_KERNELS");
            let own = kernels(files);
            assert!(own.len() > all.len() / 5, "{}", own.len());
            found.extend(own);
        }
        found.sort();
        let mut all = all;
        all.sort();
        assert_eq!(found, all);
    }
}
