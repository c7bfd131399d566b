//! Programs as words: what the device VM executes.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use batt_dsl::{Dialect, Fault, Limits, Literal, Workspace};

use super::piece::Piece;
use super::wire::{self, kind, pair_word};
use crate::compile::Compiled;
use crate::lower::{CONSTANT, Constant, Instruction, Source, Steps};

/// Words before the literals.
const HEADER: usize = 16;

/// What stands where in a header.
mod header {
    pub const PARAMS: u32 = 2;
    pub const STEPS: u32 = 4;
    pub const CODE_AT: u32 = 9;
}

/// How many calls of a program are looked at to see what it is like, and the bits of one.
const CALLS_COMPARED: u32 = 14;
const CALL_BITS: u32 = 9;

/// Programs begin at, and their literals are, so many words: sixteen bytes, which are read at once.
const ALIGN: usize = 4;

/// Programs that are worth a thread of their own.
const LEAST_PIECE: usize = 512;

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
    id: u64,
}

/// A program among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAt {
    /// Its first word.
    pub offset: u32,
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
            id: next_id(),
        }
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// What a program calls first, in numbers that are the same for programs that call the same; 0 for no program.
    pub(super) fn calls_at(&self, offset: u32) -> u128 {
        self.calls(offset).unwrap_or(0)
    }

    fn calls(&self, offset: u32) -> Option<u128> {
        let program = self.words.get(offset as usize..)?;
        let at = |k: u32| program.get(k as usize).copied();
        let (count, code) = (at(header::STEPS)?, at(header::CODE_AT)?);
        let mut calls = 0;
        for k in 0..CALLS_COMPARED {
            let mut call = 0;
            if k < count {
                let instruction = at(code + k)?;
                // Values that are called, and tuples, are all alike.
                call = match at(instruction)? & 0xff {
                    0 => 2 + at(instruction + 1)?,
                    _ => 1,
                };
            }
            calls = calls << CALL_BITS | u128::from(call);
        }
        Some(calls)
    }

    /// How many parameters a program has; 0 for no program.
    pub(super) fn params_at(&self, offset: u32) -> usize {
        let params = self.words.get((offset + header::PARAMS) as usize);
        params.map_or(0, |params| *params as usize)
    }

    /// A number that no other words of programs have.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Many programs, made on some threads, with the place of each; one that cannot be sent has none. How many threads
    /// there are makes no difference to the words.
    pub fn of(programs: &[Compiled], threads: usize) -> (Programs, Vec<Option<ProgramAt>>) {
        let mut all = Programs::new();
        let mut places = Vec::with_capacity(programs.len());
        let piece = programs.len().div_ceil(threads.max(1)).max(LEAST_PIECE);
        if programs.len() <= piece {
            all.add_all(programs, &mut places);
            return (all, places);
        }
        let make = |programs| {
            let mut piece = Programs::piece();
            let mut places = Vec::new();
            piece.add_all(programs, &mut places);
            (piece, places)
        };
        let pieces: Vec<(Programs, Vec<_>)> = thread::scope(|scope| {
            let spawn = |programs| scope.spawn(move || make(programs));
            let makers: Vec<_> = programs.chunks(piece).map(spawn).collect();
            let made = makers.into_iter().map(thread::ScopedJoinHandle::join);
            made.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let words = pieces.iter().map(|(piece, _)| piece.words.len()).sum();
        all.words.reserve_exact(words);
        for (piece, of_piece) in pieces {
            all.append(&piece, &of_piece, &mut places);
        }
        (all, places)
    }

    /// No programs, and nothing before them: a piece that others are put together from.
    pub(super) fn piece() -> Programs {
        Programs {
            words: Vec::new(),
            id: 0,
        }
    }

    /// Appends programs.
    fn add_all(&mut self, programs: &[Compiled], places: &mut Vec<Option<ProgramAt>>) {
        let mut pen = Pen::default();
        for program in programs {
            let made =
                self.push_steps(program.dialect(), &program.steps, &program.result, &mut pen);
            places.push(made.ok());
        }
    }

    /// Appends the steps of a program, as a batt of one output that needs all of them.
    pub(super) fn push_steps(
        &mut self,
        dialect: Dialect,
        steps: &Steps,
        result: &Source,
        pen: &mut Pen,
    ) -> Result<ProgramAt, BytecodeError> {
        let parts = Parts {
            dialect,
            defaults: false,
            steps,
            entries: std::slice::from_ref(result),
            outputs: 1,
            piece: None,
        };
        self.push(&parts, pen)
    }

    /// Makes room for this many more words.
    pub(super) fn reserve(&mut self, words: usize) {
        self.words.reserve_exact(words);
    }

    /// Appends a piece with the places of its programs.
    pub(super) fn append(
        &mut self,
        piece: &Programs,
        of_piece: &[Option<ProgramAt>],
        places: &mut Vec<Option<ProgramAt>>,
    ) {
        let offset = self.words.len();
        if u32::try_from(offset + piece.words.len()).is_err() {
            places.extend(of_piece.iter().map(|_| None));
            return;
        }
        self.id = next_id();
        self.words.extend_from_slice(&piece.words);
        places.extend(of_piece.iter().map(|place| {
            place.map(|at| ProgramAt {
                offset: offset as u32 + at.offset,
            })
        }));
    }

    /// Appends a piece of a batt.
    pub(crate) fn push_piece(&mut self, piece: &Piece) -> Result<ProgramAt, BytecodeError> {
        self.push(&Parts::of_piece(piece), &mut Pen::default())
    }

    /// Appends a program, as a batt of one output that needs all steps.
    pub fn push_program(&mut self, program: &Compiled) -> Result<ProgramAt, BytecodeError> {
        let (steps, result) = (&program.steps, &program.result);
        self.push_steps(program.dialect(), steps, result, &mut Pen::default())
    }

    fn push(&mut self, parts: &Parts<'_>, pen: &mut Pen) -> Result<ProgramAt, BytecodeError> {
        // Other words are other words: a device must not take them for those it has.
        self.id = next_id();
        let offset = self.words.len();
        let written = self.write(parts, offset, pen);
        if written.is_err() {
            self.words.truncate(offset);
        }
        written?;
        Ok(ProgramAt {
            offset: offset as u32,
        })
    }

    fn write(
        &mut self,
        parts: &Parts<'_>,
        offset: usize,
        pen: &mut Pen,
    ) -> Result<(), BytecodeError> {
        let Pen {
            workspace,
            constants,
        } = pen;
        let literals = Literals::of(parts, constants);
        let count = literals.count();
        let source = |source: &Source| literals.slot(source);
        let instructions = &parts.steps.instructions;
        self.words.resize(offset + HEADER + ALIGN * count, 0);
        for (k, literal) in parts.steps.literals.iter().enumerate() {
            let workspace = workspace.get_or_insert_default();
            self.place_literal(workspace, offset, k, literal, parts.dialect)?;
        }
        let first = parts.steps.literals.len();
        for (k, constant) in literals.constants.list.iter().enumerate() {
            self.place(offset, first + k, in_place(*constant));
        }

        let words = &mut self.words;
        let entries = (words.len() - offset) as u32;
        words.extend(parts.entries.iter().map(source));
        let mut put = |list: &[u32]| {
            let at = (words.len() - offset) as u32;
            words.extend_from_slice(list);
            at
        };
        // A program has no lists: its only entry needs all steps.
        let [users, users_at, steps, steps_at, leads] = match parts.piece {
            None => [0; 5],
            Some(piece) => [
                &piece.users.starts,
                &piece.users.numbers,
                &piece.steps_of_entry.starts,
                &piece.steps_of_entry.numbers,
                &piece.leads,
            ]
            .map(|list| put(list)),
        };

        let list = words.len();
        words.resize(list + instructions.len(), 0);
        for (k, (instruction, op)) in instructions.iter().zip(&parts.steps.ops).enumerate() {
            let args = instruction.args();
            let (form, callee) = match (op, instruction) {
                (Some(op), _) => (CALL_OP, op.index() as u32),
                (None, Instruction::Dynamic(callee, _)) => (CALL_VALUE, source(callee)),
                (None, _) => (MAKE_TUPLE, 0),
            };
            words[list + k] = (words.len() - offset) as u32;
            words.extend([form | (args.len() as u32) << 8, callee]);
            words.extend(args.iter().map(source));
        }
        let instruction_list = (list - offset) as u32;
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
            parts.piece.map_or(0, |piece| piece.scores as u32),
            parts.defaults.into(),
            HEADER as u32,
            instruction_list,
            entries,
            users,
            users_at,
            steps,
            steps_at,
            leads,
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

/// What a piece of a batt and a program have in common.
struct Parts<'a> {
    dialect: Dialect,
    defaults: bool,
    steps: &'a Steps,
    entries: &'a [Source],
    outputs: usize,
    /// What there is to know about several entries.
    piece: Option<&'a Piece>,
}

impl<'a> Parts<'a> {
    fn of_piece(piece: &'a Piece) -> Parts<'a> {
        Parts {
            dialect: piece.dialect,
            defaults: piece.defaults,
            steps: &piece.steps,
            entries: &piece.values,
            outputs: piece.outputs,
            piece: Some(piece),
        }
    }
}

/// What it takes to write words, kept from one program to the next.
#[derive(Default)]
pub(super) struct Pen {
    /// For literals that need one.
    workspace: Option<Workspace>,
    constants: Constants,
}

/// Different constants, in the order in which they were met.
#[derive(Default)]
struct Constants {
    list: Vec<Constant>,
    /// Of each constant its number, once there are many.
    numbers: HashMap<Constant, u32>,
}

/// As many constants as are found sooner by looking at all of them.
const FEW: usize = 32;

impl Constants {
    fn clear(&mut self) {
        self.list.clear();
        self.numbers.clear();
    }

    fn number(&self, constant: &Constant) -> Option<u32> {
        match self.list.len() {
            ..=FEW => {
                let found = self.list.iter().position(|known| known == constant);
                found.map(|number| number as u32)
            }
            _ => self.numbers.get(constant).copied(),
        }
    }

    fn add(&mut self, constant: Constant) {
        if self.number(&constant).is_some() {
            return;
        }
        self.list.push(constant);
        let unnumbered = match self.list.len() {
            ..=FEW => self.list.len(),
            _ => self.numbers.len(),
        };
        for (k, constant) in self.list.iter().enumerate().skip(unnumbered) {
            self.numbers.insert(*constant, k as u32);
        }
    }
}

/// The literals of a program on the device: those the CPU has in slots, and the constants, each once.
struct Literals<'c> {
    params: usize,
    /// The first slot of a step on the CPU.
    first_step: usize,
    constants: &'c Constants,
}

impl<'c> Literals<'c> {
    fn of(parts: &Parts<'_>, constants: &'c mut Constants) -> Literals<'c> {
        constants.clear();
        let mut add = |source: &Source| {
            if source.slot == CONSTANT {
                constants.add(source.constant);
            }
        };
        for instruction in &parts.steps.instructions {
            if let Instruction::Dynamic(callee, _) = instruction {
                add(callee);
            }
            instruction.args().iter().for_each(&mut add);
        }
        parts.entries.iter().for_each(&mut add);
        Literals {
            params: parts.steps.params,
            first_step: parts.steps.first(),
            constants,
        }
    }

    fn count(&self) -> usize {
        self.first_step - self.params + self.constants.list.len()
    }

    /// The slot on the device.
    fn slot(&self, source: &Source) -> u32 {
        let constants = self.constants.list.len() as u32;
        match source.slot {
            // All constants have been added.
            CONSTANT => {
                let number = self.constants.number(&source.constant);
                self.first_step as u32 + number.unwrap_or_default()
            }
            // Constants stand between the other literals and the steps.
            slot if slot as usize >= self.first_step => slot + constants,
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
    use batt_lang::{OnError, SolverFile, batt};

    use super::*;
    use crate::batt::CompiledBatt;

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
        // arc-dsl, one parameter, literals: the tuple, 0, (3, 3).
        assert_eq!(&words[1..8], [0, 1, 3, 4, 1, 0, 0]);
        let list = |at: usize, len: usize| &words[words[at] as usize..][..len];
        let literals = list(8, 12);
        assert_eq!(literals[0], 255);
        assert_eq!(literals[4..], [2, 0, 0, 0, 4, 0, 0x3_0003, 0]);
        let tuple = &words[literals[2] as usize..];
        assert_eq!(tuple[..8], [8, 2, 5, 0x1_0001, 2, 6, 3, 0x3_0201]);
        assert_eq!(list(10, 1), [7]);
        assert_eq!(words[11..16], [0; 5]);
        let code = list(9, 4).iter().map(|at| &words[*at as usize..]);
        let code: Vec<&[u32]> = code
            .map(|words| &words[..2 + (words[0] >> 8) as usize])
            .collect();
        assert_eq!(code[0], [0x200, op("canvas"), 2, 3]);
        assert_eq!(code[1], [0x200, op("paint"), 4, 1]);
        assert_eq!(code[2], [0x101, 5, 2]);
        assert_eq!(code[3], [0x202, 0, 6, 0]);
    }

    #[test]
    fn a_batt_in_pieces() {
        let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = p_g(C)\n    t2 = p_g(I)\n    \
                    s.append((2, 'None', 'c', t2))\n    t3 = paint(I, ((2, (1, 1)), (1, 2, 3)))\n    \
                    o.append((3, False, 'a', t3))\n    t4 = hmirror_f(I)\n    o.append((4, False, 'b', t4))\n    \
                    t5 = astuple(t4, t1)\n    s.append((5, 'b', 'd', t5))\n    \
                    s.append((2, 'b', 'e', t2))\n    return o, s\n";
        let file = BattFile::parse(text, "batt.py", Some(Dialect::Tokpidjin));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        let batt = CompiledBatt::new(&file.batts[0]).on_error(OnError::Defaults);
        let pieces: Vec<Piece> = Piece::all_of(&batt).collect();
        let numbers = |piece: &Piece| (piece.numbers.entries.clone(), piece.numbers.steps.clone());
        let found: Vec<_> = pieces.iter().map(numbers).collect();
        // The candidate comes first, whatever stands before it, and last the twins of what depends on `C`.
        let b = (vec![1, 3, 4, 6, 7], vec![3, 0, 4, 1, 5, 6]);
        assert_eq!(found, [(vec![2, 5], vec![1]), (vec![0], vec![2]), b]);
        let mut programs = Programs::new();
        let id = programs.id();
        let at = programs.push_piece(&pieces[2]).expect("a solver");
        assert_ne!(programs.id(), id);
        let words = &programs.words()[at.offset as usize..];
        let params = batt::PARAMS.len() as u32 + 1;
        assert_eq!(words[1..8], [2, params, 0, 6, 1, 2, 1]);
        let list = |at: usize, len: usize| &words[words[at] as usize..][..len];
        // The candidate, the two scores, the same as comparisons.
        assert_eq!(list(10, 5), [4, 6, 7, 9, 7]);
        assert_eq!(list(11, 7), [0, 3, 4, 5, 7, 8, 9]);
        assert_eq!(list(12, 9), [0, 1, 3, 1, 1, 2, 4, 3, 3]);
        assert_eq!(list(13, 6), [0, 1, 4, 5, 8, 9]);
        assert_eq!(list(14, 9), [0, 1, 0, 2, 3, 4, 0, 5, 3]);
        // What the second differ says has nothing to do with the candidate.
        assert_eq!(list(15, 5), [0, 1, 0, 3, 0]);
        // One has a literal of its own.
        let literals = pieces.iter().map(|piece| piece.steps.literals.len());
        assert_eq!(literals.collect::<Vec<_>>(), [0, 1, 0]);
    }

    #[test]
    fn a_solver_pays_for_its_candidate_first() {
        let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = hmirror(I)\n    \
                    o.append((1, False, 'a', t1))\n    t2 = size(I)\n    s.append((2, 'a', 'd', t2))\n    \
                    t3 = equality(t1, C)\n    s.append((3, 'a', 'e', t3))\n    s.append((2, 'None', 'd', t2))\n    \
                    return o, s\n";
        let file = BattFile::parse(text, "batt.py", Some(Dialect::ArcDsl));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        // The first differ does not look at the candidate, and the last one is nobody's.
        assert_eq!(
            CompiledBatt::new(&file.batts[0]).plan.leads,
            [0, 0, 2, 3, 0, 5, 6]
        );
    }

    #[test]
    fn threads_make_no_difference() {
        let texts = [
            "def solve(I):\n    x1 = paint(I, ((2, (1, 1)), (1, 2, 3)))\n    return x1\n",
            "def solve(I):\n    x1 = canvas(ZERO, (3, 3))\n    x2 = x1(ONE)\n    return x2\n",
        ];
        let programs: Vec<Compiled> = (0..2 * LEAST_PIECE)
            .map(|k| compiled(texts[k % 3 % 2], Dialect::ArcDsl))
            .collect();
        let mut expected = Programs::new();
        let each: Vec<Option<ProgramAt>> = programs
            .iter()
            .map(|program| expected.push_program(program).ok())
            .collect();
        for threads in [1, 2, 5] {
            let (all, places) = Programs::of(&programs, threads);
            assert!(places == each, "{threads} threads");
            assert!(all.words() == expected.words(), "{threads} threads");
        }
        assert!(Programs::of(&[], 3).1.is_empty());
    }

    #[test]
    fn many_constants_are_each_there_once() {
        let mut constants = Constants::default();
        for _ in 0..2 {
            constants.clear();
            for n in 0..100 {
                constants.add(Constant::Int(n));
                constants.add(Constant::Int(n / 2));
            }
            let numbers: Vec<_> = (0..100)
                .map(|n| constants.number(&Constant::Int(n)))
                .collect();
            assert_eq!(numbers, (0..100).map(Some).collect::<Vec<_>>());
            assert_eq!(constants.list.len(), 100);
            assert_eq!(constants.number(&Constant::None), None);
        }
    }
}
