//! Programs as words: what the device VM executes.

use std::sync::OnceLock;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use batt_dsl::{Dialect, Fault, Limits, Literal, Workspace};
use batt_lang::OnError;

use super::wire::{self, kind, pair_word};
use crate::batt::CompiledBatt;
use crate::compile::{CONSTANT, Compiled, Constant, Instruction, Source, Steps};

/// Words before the literals.
const HEADER: usize = 24;

/// Programs begin at, and their literals are, so many words: sixteen bytes, which are read at once.
const ALIGN: usize = 4;

/// The forms of instructions.
const CALL_OP: u32 = 0;
const CALL_VALUE: u32 = 1;
const MAKE_TUPLE: u32 = 2;

/// Grids up to this many rows and columns, all that ARC has, come with their ranks.
const RANKED_SIDE: usize = 30;

/// What every blob of programs begins with: the [ranks](batt_dsl::grid_ranks) of all grids up to [`RANKED_SIDE`], two to
/// a word, row by row of sizes. Working them out takes the device longer than all the rest of `objects`.
fn ranks() -> &'static [u32] {
    static RANKS: OnceLock<Vec<u32>> = OnceLock::new();
    RANKS.get_or_init(|| {
        let sides = 1..=RANKED_SIDE;
        let sizes = sides.flat_map(|height| (1..=RANKED_SIDE).map(move |width| (height, width)));
        let ranks: Vec<u32> = sizes
            .flat_map(|(h, w)| batt_dsl::grid_ranks(h, w))
            .collect();
        let mut words: Vec<u32> = ranks
            .chunks(2)
            .map(|two| two[0] | two.get(1).copied().unwrap_or_default() << 16)
            .collect();
        words.resize(words.len().next_multiple_of(ALIGN), 0);
        words
    })
}

/// Programs for the device, one after the other.
pub struct Programs {
    words: Vec<u32>,
    steps: usize,
    id: u64,
}

/// A program among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAt {
    /// Its first word.
    pub offset: u32,
    /// How many steps the programs before it have: its step counters are behind theirs.
    pub first_step: usize,
    /// How many steps it has.
    pub steps: usize,
}

/// A program that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BytecodeError {
    /// A literal is beyond all limits.
    #[error("a literal cannot be made: {0}")]
    Literal(Fault),
    /// All programs together are more than four billion words.
    #[error("the programs are too many for one blob")]
    TooLong,
}

impl Default for Programs {
    fn default() -> Programs {
        Programs::new()
    }
}

impl Programs {
    /// No programs yet.
    pub fn new() -> Programs {
        Programs {
            words: ranks().to_vec(),
            steps: 0,
            id: next_id(),
        }
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// A number that no other words of programs have.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The steps of all programs together.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Appends a batt.
    pub fn push_batt(&mut self, batt: &CompiledBatt) -> Result<ProgramAt, BytecodeError> {
        self.push(&Parts {
            dialect: batt.dialect(),
            defaults: batt.mode() == OnError::Defaults,
            steps: &batt.steps,
            order: &batt.order,
            entries: &batt.values,
            outputs: batt.outputs(),
            entries_of_step: [&batt.entries_of_step.starts, &batt.entries_of_step.numbers],
            steps_of_entry: [&batt.steps_of_entry.starts, &batt.steps_of_entry.numbers],
            users: [&batt.users[0], &batt.users[1]],
        })
    }

    /// Appends a program, as a batt of one output that all steps belong to.
    pub fn push_program(&mut self, program: &Compiled) -> Result<ProgramAt, BytecodeError> {
        let len = program.len() as u32;
        let all: Vec<u32> = (0..len).collect();
        let one_each: Vec<u32> = (0..=len).collect();
        let (zeros, ones) = (vec![0; all.len()], vec![1; all.len()]);
        self.push(&Parts {
            dialect: program.dialect(),
            defaults: false,
            steps: &program.steps,
            order: &all,
            entries: &[program.result],
            outputs: 1,
            entries_of_step: [&one_each, &zeros],
            steps_of_entry: [&[0, len], &all],
            users: [&ones, &zeros],
        })
    }

    fn push(&mut self, parts: &Parts<'_>) -> Result<ProgramAt, BytecodeError> {
        // Other words are other words: a card must not take them for those it has.
        self.id = next_id();
        let offset = self.words.len();
        let written = self.write(parts, offset);
        if written.is_err() {
            self.words.truncate(offset);
        }
        written?;
        let first_step = self.steps;
        self.steps += parts.steps.instructions.len();
        Ok(ProgramAt {
            offset: offset as u32,
            first_step,
            steps: parts.steps.instructions.len(),
        })
    }

    fn write(&mut self, parts: &Parts<'_>, offset: usize) -> Result<(), BytecodeError> {
        let literals = Literals::of(parts);
        let count = literals.count();
        let source = |source: &Source| literals.slot(source);
        let instructions = &parts.steps.instructions;
        self.words.resize(offset + HEADER + ALIGN * count, 0);
        let mut workspace = Workspace::new();
        for (k, literal) in parts.steps.literals.iter().enumerate() {
            self.place_literal(&mut workspace, offset, k, literal, parts.dialect)?;
        }
        let first = parts.steps.literals.len();
        for (k, constant) in literals.constants.iter().enumerate() {
            self.place(offset, first + k, in_place(*constant));
        }

        let words = &mut self.words;
        let mut put = |list: &[u32]| {
            let at = (words.len() - offset) as u32;
            words.extend_from_slice(list);
            at
        };
        let order = put(parts.order);
        let entries: Vec<u32> = parts.entries.iter().map(source).collect();
        let entries = put(&entries);
        let [entry_starts, entry_numbers] = parts.entries_of_step.map(&mut put);
        let [step_starts, step_numbers] = parts.steps_of_entry.map(&mut put);
        let [all_users, score_users] = parts.users.map(&mut put);

        let mut places = Vec::with_capacity(instructions.len());
        for (instruction, op) in instructions.iter().zip(&parts.steps.ops) {
            let args = instruction.args();
            let (form, callee) = match (op, instruction) {
                (Some(op), _) => (CALL_OP, op.index() as u32),
                (None, Instruction::Dynamic(callee, _)) => (CALL_VALUE, source(callee)),
                (None, _) => (MAKE_TUPLE, 0),
            };
            places.push((words.len() - offset) as u32);
            words.extend([form | (args.len() as u32) << 8, callee]);
            words.extend(args.iter().map(source));
        }
        let instruction_list = (words.len() - offset) as u32;
        words.extend_from_slice(&places);
        words.resize(words.len().next_multiple_of(ALIGN), 0);
        if u32::try_from(words.len()).is_err() {
            return Err(BytecodeError::TooLong);
        }

        let len = (words.len() - offset) as u32;
        words[offset..offset + HEADER].copy_from_slice(&[
            len,
            dialect_number(parts.dialect),
            parts.steps.params as u32,
            count as u32,
            instructions.len() as u32,
            parts.outputs as u32,
            (parts.entries.len() - parts.outputs) as u32,
            parts.defaults.into(),
            HEADER as u32,
            parts.order.len() as u32,
            order,
            instruction_list,
            entries,
            entry_starts,
            entry_numbers,
            step_starts,
            step_numbers,
            all_users,
            score_users,
            self.steps as u32,
            0,
            0,
            0,
            0,
        ]);
        Ok(())
    }

    /// Puts a literal of any kind where it belongs: in its place, or behind what is there with only a
    /// reference in its place.
    fn place_literal(
        &mut self,
        workspace: &mut Workspace,
        offset: usize,
        k: usize,
        literal: &Literal,
        dialect: Dialect,
    ) -> Result<(), BytecodeError> {
        let mut words = Vec::new();
        let made = workspace.run(dialect, &Limits::default(), |run| {
            let value = run.literal(literal)?;
            wire::encode(run, value, &mut words)
        });
        made.map_err(BytecodeError::Literal)?;
        let form = match words[0] & 0xff {
            ..=kind::CELL | kind::OP => {
                let payload = |k: usize| words.get(k).copied().unwrap_or(0);
                [words[0], 0, payload(1), payload(2)]
            }
            _ => {
                let at = (self.words.len() - offset) as u32;
                self.words.extend_from_slice(&words);
                [kind::ELSEWHERE, 0, at, 0]
            }
        };
        self.place(offset, k, form);
        Ok(())
    }

    fn place(&mut self, offset: usize, k: usize, literal: [u32; ALIGN]) {
        let at = offset + HEADER + ALIGN * k;
        self.words[at..at + ALIGN].copy_from_slice(&literal);
    }
}

/// What a batt and a program have in common.
struct Parts<'a> {
    dialect: Dialect,
    defaults: bool,
    steps: &'a Steps,
    order: &'a [u32],
    entries: &'a [Source],
    outputs: usize,
    /// Starts and numbers.
    entries_of_step: [&'a [u32]; 2],
    steps_of_entry: [&'a [u32]; 2],
    /// When everything is wanted, and for scores alone.
    users: [&'a [u32]; 2],
}

/// The literals of a program on the device: those the CPU has in slots, and the constants, each once.
struct Literals {
    params: usize,
    /// The first slot of a step on the CPU.
    first_step: usize,
    constants: Vec<Constant>,
    slots: HashMap<Constant, u32>,
}

impl Literals {
    fn of(parts: &Parts<'_>) -> Literals {
        let steps = parts.steps;
        let mut literals = Literals {
            params: steps.params,
            first_step: steps.first(),
            constants: Vec::new(),
            slots: HashMap::new(),
        };
        for instruction in &steps.instructions {
            if let Instruction::Dynamic(callee, _) = instruction {
                literals.add(callee);
            }
            instruction
                .args()
                .iter()
                .for_each(|source| literals.add(source));
        }
        parts.entries.iter().for_each(|source| literals.add(source));
        literals
    }

    fn add(&mut self, source: &Source) {
        if source.slot == CONSTANT {
            let next = (self.first_step + self.constants.len()) as u32;
            if *self.slots.entry(source.constant).or_insert(next) == next {
                self.constants.push(source.constant);
            }
        }
    }

    fn count(&self) -> usize {
        self.first_step - self.params + self.constants.len()
    }

    /// The slot on the device.
    fn slot(&self, source: &Source) -> u32 {
        match source.slot {
            CONSTANT => self.slots[&source.constant],
            // Constants stand between the other literals and the steps.
            slot if slot as usize >= self.first_step => slot + self.constants.len() as u32,
            slot => slot,
        }
    }
}

/// A constant as the device has it in place.
fn in_place(constant: Constant) -> [u32; ALIGN] {
    match constant {
        Constant::None => [kind::NONE, 0, 0, 0],
        Constant::Bool(b) => [kind::BOOL | u32::from(b) << 8, 0, 0, 0],
        Constant::Int(n) => [kind::INT, 0, n as u32, (n >> 32) as u32],
        Constant::Pair(pair) => [kind::PAIR, 0, pair_word(pair), 0],
        Constant::Op(op) => [kind::OP, 0, op.index() as u32, 0],
    }
}

fn dialect_number(dialect: Dialect) -> u32 {
    match dialect {
        Dialect::ArcDsl => 0,
        Dialect::ReArc => 1,
        Dialect::Tokpidjin => 2,
    }
}

/// Numbers for blobs; 0 is none.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use batt_dsl::OpId;
    use batt_lang::batt::BattFile;
    use batt_lang::{SolverFile, batt};

    use super::*;

    fn compiled(text: &str, dialect: Dialect) -> Compiled {
        let file = SolverFile::parse_in(text, "test.py", Some(dialect));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        Compiled::new(&file.programs[0])
    }

    fn op(name: &str) -> u32 {
        OpId::named(name).map_or(u32::MAX, |op| op.index() as u32)
    }

    #[test]
    fn a_program() {
        let text = "def solve(I):\n    x1 = canvas(ZERO, (3, 3))\n    x2 = paint(x1, ((2, (1, 1)), (1, 2, 3)))\n    \
                    x3 = x2(ZERO)\n    O = (x3, I)\n    return O\n";
        let program = compiled(text, Dialect::ArcDsl);
        let mut programs = Programs::new();
        let first = programs.push_program(&program).expect("a program");
        let second = programs.push_program(&program).expect("a program");
        // Ranks come first.
        assert_eq!(first.offset as usize, ranks().len());
        let next = second.offset as usize;
        let words = &programs.words()[first.offset as usize..next];
        let len = words.len();
        assert_eq!(words[0] as usize, len);
        assert_eq!(len % 4, 0);
        assert_eq!(
            (first.first_step, second.first_step, second.steps),
            (0, 4, 4)
        );
        // arc-dsl, one parameter, literals: the tuple, 0, (3, 3).
        assert_eq!(&words[1..8], [0, 1, 3, 4, 1, 0, 0]);
        let list = |at: usize, len: usize| &words[words[at] as usize..][..len];
        let literals = list(8, 12);
        assert_eq!(literals[0], 255);
        assert_eq!(literals[4..], [2, 0, 0, 0, 4, 0, 0x3_0003, 0]);
        let tuple = &words[literals[2] as usize..];
        assert_eq!(tuple[..8], [8, 2, 5, 0x1_0001, 2, 6, 3, 0x3_0201]);
        assert_eq!(list(10, words[9] as usize), [0, 1, 2, 3]);
        assert_eq!(list(12, 1), [7]);
        assert_eq!(
            (list(13, 5), list(14, 4)),
            (&[0, 1, 2, 3, 4][..], &[0; 4][..])
        );
        assert_eq!((list(15, 2), list(16, 4)), (&[0, 4][..], &[0, 1, 2, 3][..]));
        assert_eq!((list(17, 4), list(18, 4)), (&[1; 4][..], &[0; 4][..]));
        assert_eq!(words[19..24], [0; 5]);
        assert_eq!(programs.words()[next + 19], 4);
        let code = list(11, 4).iter().map(|at| &words[*at as usize..]);
        let code: Vec<&[u32]> = code
            .map(|words| &words[..2 + (words[0] >> 8) as usize])
            .collect();
        assert_eq!(code[0], [0x200, op("canvas"), 2, 3]);
        assert_eq!(code[1], [0x200, op("paint"), 4, 1]);
        assert_eq!(code[2], [0x101, 5, 2]);
        assert_eq!(code[3], [0x202, 0, 6, 0]);
    }

    #[test]
    fn a_batt() {
        let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = identity(p_g)\n    \
                    t2 = t1(I)\n    o.append((2, False, 'a', t2))\n    t3 = hmirror_f(I)\n    \
                    o.append((3, False, 'b', t3))\n    t4 = equality(t3, C)\n    \
                    s.append((4, 'b', 'd', t4))\n    return o, s\n";
        let file = BattFile::parse(text, "batt.py", Some(Dialect::Tokpidjin));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        let batt = CompiledBatt::new(&file.batts[0]).on_error(OnError::Defaults);
        let mut programs = Programs::new();
        let id = programs.id();
        let at = programs.push_batt(&batt).expect("a batt");
        assert_ne!(programs.id(), id);
        let words = &programs.words()[at.offset as usize..];
        assert_eq!(words[1..8], [2, batt::PARAMS.len() as u32, 1, 4, 2, 1, 1]);
        let list = |at: usize, len: usize| &words[words[at] as usize..][..len];
        assert_eq!(list(10, words[9] as usize), batt.order);
        assert_eq!(list(12, 3), [5, 6, 7]);
        assert_eq!(list(17, 4), batt.users[0]);
        assert_eq!(list(18, 4), batt.users[1]);
    }
}
