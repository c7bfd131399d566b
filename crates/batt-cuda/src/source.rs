//! The device source, embedded in the binary.

use std::sync::OnceLock;

/// A file of device source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name by which other files include it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The table of files in `device/`, the main file first.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(Source { name: $name, text: include_str!(concat!("../device/", $name)) }),*]
    };
}

/// Returns the source of the waves, the main file first.
pub fn waves() -> &'static [Source] {
    static FILES: OnceLock<Vec<Source>> = OnceLock::new();
    FILES.get_or_init(|| {
        let file = |&(name, text): &(&'static str, &'static str)| Source { name, text };
        batt_wave::source::WAVES.iter().map(file).collect()
    })
}

/// The number of parts in which threads compile the waves.
const PARTS: usize = 24;

/// Returns the parts of the waves, which are compiled at the same time.
pub fn wave_parts() -> &'static [SourcePart] {
    static PARTS_OF_WAVES: OnceLock<Vec<SourcePart>> = OnceLock::new();
    PARTS_OF_WAVES.get_or_init(|| {
        let parts = batt_wave::source::parts(PARTS).into_iter();
        let part = |(word, files): (_, Vec<(&'static str, String)>)| {
            // The texts live as long as the process, like the embedded ones.
            let file = |(name, text): (_, String)| Source {
                name,
                text: text.leak(),
            };
            let files = files.into_iter().map(file).collect();
            SourcePart { word, files }
        };
        parts.map(part).collect()
    })
}

/// A part of a source, to be linked with the others.
#[derive(Clone, Debug)]
pub struct SourcePart {
    /// An option of the compiler.
    pub word: &'static str,
    /// The files, the main file first.
    pub files: Vec<Source>,
}

/// The device VM: the main file, then the files that it includes.
pub const VM: &[Source] = files![
    "vm.cu",
    "all.cuh",
    "machine.cuh",
    "base.cuh",
    "value.cuh",
    "table.cuh",
    "set.cuh",
    "call.cuh",
    "lanes.cuh",
    "alone.cuh",
    "maps.cuh",
    "wire.cuh",
    "vm.cuh",
    "declare.cuh",
    "ops/op.cuh",
    "ops/arithmetic.cuh",
    "ops/logic.cuh",
    "ops/container.cuh",
    "ops/higher_order.cuh",
    "ops/sort.cuh",
    "ops/patch.cuh",
    "ops/measure.cuh",
    "ops/color.cuh",
    "ops/mirror.cuh",
    "ops/segmentation.cuh",
    "ops/lines.cuh",
    "ops/assembly.cuh",
    "ops/ranked.cuh",
    "ops/extremes.cuh",
    "ops/samples.cuh",
    "dispatch.cuh",
];

/// A small kernel with the VM's parameters, which tests the host side.
pub const PROBE: &[Source] = &[Source {
    name: "probe.cu",
    text: include_str!("probe.cu"),
}];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Collects the names of the files below a folder that NVRTC compiles.
    fn collect(root: &Path, folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, names);
            } else if path
                .extension()
                .is_some_and(|end| end == "cu" || end == "cuh")
            {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                names.insert(name.replace('\\', "/"));
            }
        }
    }

    #[test]
    fn the_table_has_every_file_of_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("device");
        let mut found = BTreeSet::new();
        collect(&root, &root, &mut found);
        let listed: BTreeSet<String> = VM.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(listed, found);
        assert_eq!(listed.len(), VM.len(), "a file is listed twice");
    }

    #[test]
    fn the_main_file_is_first_and_has_the_kernel() {
        for files in [VM, PROBE] {
            for (number, file) in files.iter().enumerate() {
                assert_eq!(file.name.ends_with(".cu"), number == 0, "{}", file.name);
            }
        }
    }

    #[test]
    fn included_files_are_in_the_table() {
        for file in VM.iter().chain(PROBE) {
            for line in file.text.lines() {
                let Some(rest) = line.trim().strip_prefix("#include \"") else {
                    continue;
                };
                let name = rest.split('"').next().unwrap_or_default();
                assert!(
                    VM.iter().any(|other| other.name == name),
                    "{} includes {name}, which is not in the table",
                    file.name
                );
            }
        }
    }

    /// A function of the device source.
    struct Function {
        /// Whether the compiler may inline it.
        inlined: bool,
        calls: BTreeSet<String>,
    }

    /// Returns the words before each `(`, which include the names of called functions.
    fn called(text: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (at, _) in text.match_indices('(') {
            let before = text[..at].trim_end();
            let rest = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            // Functions of the machine for a single lane are different functions.
            if !rest.ends_with("::") {
                names.insert(before[rest.len()..].to_owned());
            }
        }
        names
    }

    /// Returns the block that begins with `{`, up to its `}`.
    fn block(text: &str) -> &str {
        let mut depth = 0;
        for (at, c) in text.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return &text[..at];
            }
        }
        text
    }

    /// Collects the functions that a file defines, by name. A definition begins at the start of a
    /// line, with a marker such as `INLINE` or one of the macros of `op.cuh`.
    fn functions(text: &str, found: &mut BTreeMap<String, Vec<Function>>) {
        let lines = text.lines().map(|line| line.split("//").next());
        let text: String = lines.flatten().flat_map(|line| [line, "\n"]).collect();
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        for start in starts {
            let rest = &text[start..];
            let rest = match rest.strip_prefix("template <") {
                Some(rest) => rest.split_once("> ").map_or("", |(_, rest)| rest),
                None => rest,
            };
            let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
            let name = |prefix: &str| {
                let (_, rest) = rest.split_once('(')?;
                let end = rest.find([')', ','])?;
                Some(format!("{prefix}{}", &rest[..end]))
            };
            let (inlined, name) = match word.as_str() {
                "OP" => (false, name("op_")),
                "TOK" => (false, name("tok_")),
                "LANE" => (true, name("lane_")),
                "INLINE" | "OUTLINE" | "DEVICE" => {
                    let head = &rest[..rest.find('(').unwrap_or(0)];
                    let name = head.rsplit([' ', '*', '&']).next().map(str::to_owned);
                    (word != "OUTLINE", name)
                }
                "SAME" | "ALIAS" => {
                    let other = rest.split([',', ')']).nth(1).unwrap_or("").trim();
                    let prefix = if word == "SAME" { "op_" } else { "tok_" };
                    let function = Function {
                        inlined: true,
                        calls: BTreeSet::from([format!("{prefix}{other}")]),
                    };
                    let name = name("tok_").expect("a name");
                    found.entry(name).or_default().push(function);
                    continue;
                }
                _ => continue,
            };
            // A function without a body is a declaration.
            let Some(at) = rest
                .find(['{', ';'])
                .filter(|at| rest[*at..].starts_with('{'))
            else {
                continue;
            };
            let function = Function {
                inlined,
                calls: called(block(&rest[at..])),
            };
            let name = name.expect("a name");
            found.entry(name).or_default().push(function);
        }
    }

    /// Returns a path of calls from a function back to itself, directly or through inlined
    /// functions only.
    fn path_to_itself(found: &BTreeMap<String, Vec<Function>>, name: &str) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut ways = vec![vec![name.to_owned()]];
        while let Some(way) = ways.pop() {
            let last = &way[way.len() - 1];
            let definitions = found.get(last).map_or(&[][..], Vec::as_slice);
            for function in definitions.iter().filter(|f| way.len() == 1 || f.inlined) {
                for called in &function.calls {
                    let way: Vec<String> = way.iter().chain([called]).cloned().collect();
                    if called == name {
                        return Some(way);
                    }
                    if seen.insert(called.clone()) {
                        ways.push(way);
                    }
                }
            }
        }
        None
    }

    /// Lanes that diverge in a function that calls itself compute wrong values: see `base.cuh`.
    /// Only the machine is checked, because all other functions are called by all lanes together.
    #[test]
    fn no_function_of_the_machine_calls_itself() {
        let machine = VM.iter().find(|file| file.name == "machine.cuh");
        let included = machine.expect("the machine").text.lines();
        let mut found = BTreeMap::new();
        for name in included.filter_map(|line| line.strip_prefix("#include ")) {
            let file = VM.iter().find(|file| file.name == name.trim_matches('"'));
            functions(file.expect("a file").text, &mut found);
        }
        // The scan has found the functions.
        assert!(found.len() > 900, "{}", found.len());
        assert!(found["copied"][0].calls.contains("copied_inside"));
        assert!(found["tok_rot90"][0].calls.contains("op_rot90"));
        for name in found.keys() {
            assert_eq!(path_to_itself(&found, name), None);
        }
    }

    #[test]
    fn functions_that_call_themselves_are_found() {
        let text = "\nINLINE V quick(Ctx &c, V v) { return slow(c, v); }\n\
            OUTLINE V slow(Ctx &c, V v) {\n  if (v.len) { quick(c, v); }\n}\n\
            DEVICE V apart_inside(Ctx &c);\n\
            OUTLINE V apart(Ctx &c) { apart_inside(c); alone::apart(c); } // apart(c)\n\
            OUTLINE V apart_inside(Ctx &c) { return apart(c); }\n\
            template <class T> INLINE T *again(T x) { return again (x); }\n\
            OP(merge)(Ctx &c, V a) {\n  return op_merge(c, a);\n}\n\
            ALIAS1(merge, merge_f)\nTOK(merge_f)(Ctx &c, V a) { return tok_merge(c, a); }\n";
        let mut found = BTreeMap::new();
        functions(text, &mut found);
        let themselves: Vec<&str> = found
            .keys()
            .filter(|name| path_to_itself(&found, name).is_some())
            .map(String::as_str)
            .collect();
        let expected = ["again", "op_merge", "slow", "tok_merge_f"];
        assert_eq!(themselves, expected);
    }
}
