//! Samples made ready once, for many calls.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::Compiled;
use crate::device::inputs::{Inputs, JobParam, SampleAt, Shape, Shapes};
use crate::sample::{ParamRole, Sample};

/// Samples to score programs on. Devices are sent them once: as long as a device is given no others in between, they stay
/// there from call to call.
pub struct Prepared<'a> {
    id: u64,
    samples: Vec<Sample<'a>>,
    shapes: Shapes,
    /// The parameters that a program may have, with the list of each.
    roles: Vec<(Vec<ParamRole>, Shape)>,
    encoded: OnceLock<Encoded>,
}

/// Samples as devices know them.
pub(super) struct Encoded {
    pub inputs: Inputs,
    pub places: Vec<SampleAt>,
}

impl<'a> Prepared<'a> {
    /// Samples for programs with these parameters. A device is not given programs with others.
    pub fn new<'r>(
        samples: &[Sample<'a>],
        roles: impl IntoIterator<Item = &'r [ParamRole]>,
    ) -> Prepared<'a> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut prepared = Prepared {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            samples: samples.to_vec(),
            shapes: Shapes::default(),
            roles: Vec::new(),
            encoded: OnceLock::new(),
        };
        for roles in roles {
            if prepared.shape(roles).is_none() {
                let params: Vec<JobParam> =
                    roles.iter().map(|role| JobParam::from(*role)).collect();
                let shape = prepared.shapes.add(&params);
                prepared.roles.push((roles.to_vec(), shape));
            }
        }
        prepared
    }

    /// Samples for these programs, and for all that have the parameters of one of them.
    pub(super) fn of(samples: &[Sample<'a>], programs: &[Compiled]) -> Prepared<'a> {
        Prepared::new(samples, programs.iter().filter_map(Compiled::roles))
    }

    /// Returns a number that no other samples have.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The samples.
    pub fn samples(&self) -> &[Sample<'a>] {
        &self.samples
    }

    /// The list of parameters of a program, if it was prepared for.
    pub(super) fn shape(&self, roles: &[ParamRole]) -> Option<Shape> {
        let mut known = self.roles.iter();
        let found = known.find(|(known, _)| known == roles);
        found.map(|(_, shape)| *shape)
    }

    /// The samples as words, made when they are first wanted.
    pub(super) fn encoded(&self) -> &Encoded {
        self.encoded.get_or_init(|| {
            let mut inputs = Inputs::new();
            let places = inputs.push_samples(&self.samples, &self.shapes);
            Encoded { inputs, places }
        })
    }
}
