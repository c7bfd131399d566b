//! Profiling: the time that runs spend in each primitive, and in each path of nested calls.
//!
//! Every primitive has a profiled version that does the same and measures the time
//! ([`OpId::profiled`]). A program whose primitives are replaced by their profiled versions is
//! profiled; other programs pay nothing. The profiled versions write to the [`Profile`] of the
//! workspace.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::run::Run;
use crate::table::{Op, OpId};
use crate::value::Returned;

/// Calls of primitives, added up over the runs of a workspace.
#[derive(Default)]
pub struct Profile {
    ops: HashMap<&'static str, OpTimes>,
    tree: Vec<ProfileNode>,
    /// The nodes, by caller and primitive.
    nodes: HashMap<(Option<usize>, &'static str), usize>,
    stack: Vec<Frame>,
}

/// The time of the calls of one primitive.
#[derive(Clone, Debug, Default)]
pub struct OpTimes {
    /// The number of calls.
    pub calls: u64,
    /// The time from call to return, including calls inside.
    pub total: Duration,
    /// The time without the primitives called inside.
    pub own: Duration,
    /// Bytes allocated, including calls inside.
    pub bytes: u64,
    /// The number of calls by duration, see [`OpTimes::quantile`].
    histogram: Vec<u32>,
    /// The number of active calls. If a primitive is called inside a call of itself, only the time
    /// of the outer call counts.
    active: u32,
}

/// A primitive called on a certain path of calls.
#[derive(Clone, Debug)]
pub struct ProfileNode {
    /// The primitive.
    pub op: &'static str,
    /// The caller's position in [`Profile::tree`]; `None` for a step of a program.
    pub parent: Option<usize>,
    /// The time spent in the primitive, without calls inside.
    pub own: Duration,
    /// The number of calls.
    pub calls: u64,
}

struct Frame {
    node: usize,
    started: Instant,
    inner: Duration,
    memory: u64,
}

/// The number of histogram buckets per doubling of the time.
const PER_DOUBLING: u32 = 4;

impl OpTimes {
    /// Returns the time that this share of the calls did not exceed, to within a fifth.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (self.calls as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, &count) in self.histogram.iter().enumerate() {
            seen += u64::from(count);
            if seen >= wanted {
                let exponent = (bucket as f64 + 1.0) / f64::from(PER_DOUBLING);
                return Duration::from_nanos(exponent.exp2() as u64);
            }
        }
        Duration::ZERO
    }

    fn record(&mut self, time: Duration) {
        let nanos = time.as_nanos().max(1) as f64;
        let bucket = (nanos.log2() * f64::from(PER_DOUBLING)) as usize;
        if self.histogram.len() <= bucket {
            self.histogram.resize(bucket + 1, 0);
        }
        self.histogram[bucket] += 1;
    }
}

impl Profile {
    /// Returns the primitives that were called, by name.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &OpTimes)> {
        self.ops.iter().map(|(name, times)| (*name, times))
    }

    /// Returns every path of calls that occurred; callers precede their callees.
    pub fn tree(&self) -> &[ProfileNode] {
        &self.tree
    }

    fn enter(&mut self, op: &'static Op, memory: u64) {
        let parent = self.stack.last().map(|frame| frame.node);
        let tree = &mut self.tree;
        let node = *self.nodes.entry((parent, op.name)).or_insert_with(|| {
            tree.push(ProfileNode {
                op: op.name,
                parent,
                own: Duration::ZERO,
                calls: 0,
            });
            tree.len() - 1
        });
        self.ops.entry(op.name).or_default().active += 1;
        self.stack.push(Frame {
            node,
            memory,
            inner: Duration::ZERO,
            started: Instant::now(),
        });
    }

    fn leave(&mut self, op: &'static Op, memory: u64) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let time = frame.started.elapsed();
        let own = time.saturating_sub(frame.inner);
        let node = &mut self.tree[frame.node];
        node.own += own;
        node.calls += 1;
        let times = self.ops.entry(op.name).or_default();
        times.active -= 1;
        times.calls += 1;
        times.own += own;
        if times.active == 0 {
            times.total += time;
            times.bytes += memory.saturating_sub(frame.memory);
        }
        times.record(time);
        if let Some(caller) = self.stack.last_mut() {
            caller.inner += time;
        }
    }
}

impl OpId {
    /// Returns the profiled version, which measures the time of its calls.
    pub fn profiled(self) -> OpId {
        OpId::of(self.op().profiled)
    }
}

impl<'r> Run<'r> {
    /// Calls a primitive and measures the time.
    pub(crate) fn profiled(
        &mut self,
        op: &'static Op,
        call: impl FnOnce(&mut Run<'r>) -> Returned<'r>,
    ) -> Returned<'r> {
        let memory = self.allocated();
        self.scratch.profile.enter(op, memory);
        let returned = call(self);
        let memory = self.allocated();
        self.scratch.profile.leave(op, memory);
        returned
    }
}
