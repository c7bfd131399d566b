//! Batts: many solvers as one program, read from files or merged.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use batt_arc::text::counted;
use batt_dsl::Dialect;
use batt_lang::{Batt, BattFile, Diagnostic, nearest};

use crate::error::{Error, Result};

/// The batts of some files, and the diagnostics of the files. Clones share them.
///
/// ```
/// let text = "
/// def batt(S, I, C):
///     s = []
///     o = []
///     t1 = hmirror(I)
///     o.append((1, False, 'a', t1))
///     return o, s
/// ";
/// let batts = batt::Batts::parse(text, "b.py");
/// let (name, batt) = batts.iter().next().unwrap();
/// assert_eq!((name, batt.outputs.len()), ("b.py", 1));
/// ```
#[derive(Clone)]
pub struct Batts(Arc<BattsParts>);

struct BattsParts {
    files: Vec<BattFile>,
    /// The name of each batt in results, its file, and its position in the file.
    places: Vec<(String, usize, usize)>,
}

impl Batts {
    /// Loads batt files, in a given dialect or in the detected dialect of each file. A batt that
    /// cannot be loaded is left out; [`Batts::diagnostics`] says why.
    pub fn load<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        dialect: Option<Dialect>,
    ) -> Result<Batts> {
        let paths = paths.into_iter();
        let files = paths.map(|path| BattFile::load(path, dialect).map_err(Error::from));
        Ok(Batts::from_files(files.collect::<Result<_>>()?))
    }

    /// Parses a text as a batt file with this name.
    pub fn parse(text: &str, name: &str) -> Batts {
        Batts::from_files(vec![BattFile::parse(text, name, None)])
    }

    /// Collects the batts of parsed files.
    pub fn from_files(files: Vec<BattFile>) -> Batts {
        let mut places = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let source = file.source.name();
            places.extend(file.batts.iter().enumerate().map(|(at, batt)| {
                let name = match file.batts.len() {
                    1 => source.to_owned(),
                    _ => format!("{source}::{}", batt.program.name()),
                };
                (name, number, at)
            }));
        }
        Batts(Arc::new(BattsParts { files, places }))
    }

    /// Returns the batts with their names in results: the file name, or `file::name` for a file
    /// with several batts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Batt)> + Clone {
        let BattsParts { files, places } = &*self.0;
        let places = places.iter();
        places.map(|(name, file, at)| (name.as_str(), &files[*file].batts[*at]))
    }

    /// The batt at a position, with its name.
    pub(crate) fn at(&self, position: usize) -> (&str, &Batt) {
        let BattsParts { files, places } = &*self.0;
        let (name, file, at) = &places[position];
        (name, &files[*file].batts[*at])
    }

    /// The number of batts.
    pub fn len(&self) -> usize {
        self.0.places.len()
    }

    /// Returns whether there are no batts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the batt with a function name.
    pub fn get(&self, name: &str) -> Result<&Batt> {
        let found = self.0.files.iter().find_map(|file| file.batt(name));
        found.ok_or_else(|| {
            let names = || self.iter().map(|(_, batt)| batt.program.name());
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            Error::request(
                format_args!("{} has no batt '{name}'", self.sources()),
                hint,
            )
        })
    }

    /// Returns the only batt. It is an error if there is none or more than one.
    pub fn only(&self) -> Result<&Batt> {
        let mut batts = self.iter();
        match (batts.next(), batts.next()) {
            (Some((_, batt)), None) => Ok(batt),
            (first, _) => {
                let name = first.map_or("NAME", |(_, batt)| batt.program.name());
                let file = self.sources();
                Err(Error::request(
                    format_args!("{file} holds {}", counted(self.len(), "batt")),
                    format!("name one: {file}::{name}"),
                ))
            }
        }
    }

    /// Returns the files.
    pub fn files(&self) -> &[BattFile] {
        &self.0.files
    }

    /// Returns whether every batt of the files could be loaded.
    pub fn is_clean(&self) -> bool {
        self.0.files.iter().all(BattFile::is_clean)
    }

    /// Returns the reasons why batts could not be loaded, and warnings about the files.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.files.iter().flat_map(|file| &file.diagnostics)
    }

    /// Returns the names of the files, separated by commas.
    fn sources(&self) -> String {
        let names = self.0.files.iter().map(|file| file.source.name());
        names.collect::<Vec<_>>().join(", ")
    }
}

impl From<Batt> for Batts {
    /// Wraps a batt that is in no file. Its name in results is its function name.
    fn from(batt: Batt) -> Batts {
        Batts::from_files(vec![BattFile::from(batt)])
    }
}

impl fmt::Debug for Batts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}
