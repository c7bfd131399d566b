//! The device source, which travels inside the command.

/// A file of device source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name by which other files include it.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// The table of files in `device/`, the main file first.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(Source { name: $name, text: include_str!(concat!("../device/", $name)) }),*]
    };
}

/// The device VM: the file that is compiled, then the files it includes.
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

/// A kernel with the VM's parameters that does next to nothing: what tries out the host side. See [`crate::plumbing`].
pub const PROBE: &[Source] = &[Source {
    name: "probe.cu",
    text: include_str!("probe.cu"),
}];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The names of the files below a folder that NVRTC is for.
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
    fn what_is_included_is_there() {
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
}
