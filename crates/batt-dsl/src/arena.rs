//! Memory that is handed out piece by piece and taken back all at once, or back to an earlier position.
//!
//! What `bumpalo` does, with less to do for a run of one or two steps: a piece costs an addition and a
//! comparison, and taking everything back is one store unless the run needed a new chunk.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// Every piece starts at a multiple of this.
pub(crate) const ALIGN: usize = align_of::<Word>();

/// Chunks are made of these, for their alignment.
type Word = u64;

/// Bytes of the first chunk; each further one is at least twice as large as the one before.
const FIRST_CHUNK: usize = 4096;

/// An arena larger than this is given back to the system when it is reset.
const KEEP: usize = 32 << 20;

/// What released memory is overwritten with where assertions are checked, so that whoever still uses it is
/// found out.
#[cfg(debug_assertions)]
const RELEASED: u8 = 0xA5;

pub(crate) struct Arena {
    /// Where the free part of the newest chunk starts, always aligned, and where it ends.
    next: Cell<NonNull<u8>>,
    end: Cell<NonNull<u8>>,
    /// Where the newest chunk starts.
    start: Cell<NonNull<u8>>,
    /// Is there more to do at a reset than to start over in the only chunk?
    untidy: Cell<bool>,
    /// How many of the chunks are in use.
    used: Cell<usize>,
    /// Those in use, the newest last, then spare ones, each larger than the one before.
    chunks: RefCell<Vec<Chunk>>,
}

struct Chunk {
    start: NonNull<u8>,
    /// Only capacity: the length stays 0.
    words: Vec<Word>,
}

/// How much of an arena was in use at some moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    used: usize,
    /// Where the free part of the newest chunk started.
    next: NonNull<u8>,
}

// SAFETY: the pointers lead into the chunks, which move with the arena.
unsafe impl Send for Arena {}

impl Default for Arena {
    /// An arena without memory.
    fn default() -> Arena {
        let nowhere = NonNull::<Word>::dangling().cast();
        Arena {
            next: nowhere.into(),
            end: nowhere.into(),
            start: nowhere.into(),
            untidy: false.into(),
            used: 0.into(),
            chunks: RefCell::default(),
        }
    }
}

impl Position {
    /// Of an arena of which nothing is in use.
    pub const START: Position = Position {
        used: 0,
        next: NonNull::<Word>::dangling().cast(),
    };
}

impl Arena {
    /// Room for so many bytes, aligned to [`ALIGN`], not yet written and nobody else's until it is taken
    /// back; none when the system has no memory.
    #[inline(always)]
    pub fn room(&self, bytes: usize) -> Option<NonNull<u8>> {
        match self.room_at_hand(bytes) {
            None => self.room_in_new_chunk(bytes),
            room => room,
        }
    }

    /// As [`room`](Arena::room), but none where it takes a new chunk.
    #[inline(always)]
    pub fn room_at_hand(&self, bytes: usize) -> Option<NonNull<u8>> {
        let size = bytes.checked_add(ALIGN - 1)? & !(ALIGN - 1);
        let next = self.next.get();
        let free = self.end.get().addr().get() - next.addr().get();
        if size > free {
            return None;
        }
        // SAFETY: `size` bytes are free from here to the end of the chunk.
        self.next.set(unsafe { next.add(size) });
        Some(next)
    }

    #[cold]
    #[inline(never)]
    fn room_in_new_chunk(&self, bytes: usize) -> Option<NonNull<u8>> {
        let size = bytes.checked_next_multiple_of(ALIGN)?;
        let mut chunks = self.chunks.borrow_mut();
        let used = self.used.get();
        if chunks.get(used).is_none_or(|spare| spare.size() < size) {
            // What is spare is too small, and would be in the way of a larger one.
            chunks.truncate(used);
            let doubled = chunks.last().map_or(FIRST_CHUNK, |last| 2 * last.size());
            let mut words: Vec<Word> = Vec::new();
            words
                .try_reserve_exact(size.max(doubled) / size_of::<Word>())
                .or_else(|_| words.try_reserve_exact(size / size_of::<Word>()))
                .ok()?;
            chunks.try_reserve(1).ok()?;
            let start = NonNull::new(words.as_mut_ptr())?.cast();
            chunks.push(Chunk { start, words });
            self.untidy.set(true);
        }
        self.used.set(used + 1);
        let start = self.go_to(&chunks[used]);
        // SAFETY: the chunk has room for `size` bytes.
        self.next.set(unsafe { start.add(size) });
        Some(start)
    }

    /// Makes a chunk the newest, all of it free. Gives its start.
    fn go_to(&self, chunk: &Chunk) -> NonNull<u8> {
        self.start.set(chunk.start);
        self.next.set(chunk.start);
        // SAFETY: this is the end of the chunk.
        self.end.set(unsafe { chunk.start.add(chunk.size()) });
        chunk.start
    }

    /// How much is in use now.
    #[inline(always)]
    pub fn position(&self) -> Position {
        Position {
            used: self.used.get(),
            next: self.next.get(),
        }
    }

    /// Is nothing more in use than at that position?
    #[inline(always)]
    pub fn is_at(&self, position: Position) -> bool {
        // Another chunk starts elsewhere.
        self.next.get() == position.next
    }

    /// Has what lies at this address been handed out after that position?
    #[inline]
    pub fn is_after(&self, position: Position, address: NonNull<u8>) -> bool {
        if position.used == self.used.get() {
            return (position.next..self.next.get()).contains(&address);
        }
        self.is_in_later_chunk(position, address)
    }

    #[cold]
    fn is_in_later_chunk(&self, position: Position, address: NonNull<u8>) -> bool {
        let chunks = self.chunks.borrow();
        let mut later = chunks[position.used..self.used.get()].iter();
        let within = position
            .used
            .checked_sub(1)
            .is_some_and(|at| chunks[at].holds(address) && address >= position.next);
        within || later.any(|chunk| chunk.holds(address))
    }

    /// Takes back what was handed out after a position of this arena. Chunks that are not in use then stay
    /// at hand.
    ///
    /// # Safety
    ///
    /// Nothing that was handed out after the position is used any more, and nothing before it has been taken
    /// back since.
    #[inline]
    pub unsafe fn rewind(&self, to: Position) {
        #[cfg(debug_assertions)]
        self.overwrite(to);
        if to.used != self.used.get() {
            self.rewind_chunks(to.used);
        }
        self.next.set(to.next);
    }

    #[cold]
    fn rewind_chunks(&self, used: usize) {
        self.used.set(used);
        match used.checked_sub(1) {
            Some(newest) => {
                self.go_to(&self.chunks.borrow()[newest]);
            }
            None => {
                let nowhere = NonNull::<Word>::dangling().cast();
                self.start.set(nowhere);
                self.end.set(nowhere);
            }
        }
    }

    /// Overwrites what was handed out after a position.
    #[cfg(debug_assertions)]
    fn overwrite(&self, from: Position) {
        let (mut at, chunks) = (from.next, self.chunks.borrow());
        for k in from.used.max(1)..=self.used.get() {
            let chunk = &chunks[k - 1];
            if k > from.used {
                at = chunk.start;
            }
            let end = match k == self.used.get() {
                true => self.next.get().addr().get(),
                false => chunk.start.addr().get() + chunk.size(),
            };
            // SAFETY: this part of the chunk is nobody's any more, as the caller has promised.
            unsafe { at.write_bytes(RELEASED, end - at.addr().get()) };
        }
    }

    /// Makes the next reset look at more than this arena: see [`reset`](Arena::reset).
    pub fn make_untidy(&self) {
        self.untidy.set(true);
    }

    /// Takes everything back. The largest chunk is kept for the next run. Says whether the run has left more
    /// behind than one chunk, or somebody has [said so](Arena::make_untidy).
    #[inline(always)]
    pub fn reset(&mut self) -> bool {
        let untidy = self.untidy.get();
        if untidy {
            self.tidy();
        }
        self.next.set(self.start.get());
        untidy
    }

    #[cold]
    #[inline(never)]
    fn tidy(&mut self) {
        let chunks = self.chunks.get_mut();
        if chunks.iter().map(Chunk::size).sum::<usize>() > KEEP {
            *self = Arena::default();
            return;
        }
        chunks.drain(..chunks.len().saturating_sub(1));
        self.untidy.set(false);
        self.used.set(chunks.len());
        if let Some(chunk) = self.chunks.borrow().last() {
            self.go_to(chunk);
        }
    }
}

impl Chunk {
    fn size(&self) -> usize {
        self.words.capacity() * size_of::<Word>()
    }

    fn holds(&self, address: NonNull<u8>) -> bool {
        let offset = address.addr().get().wrapping_sub(self.start.addr().get());
        offset < self.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a piece and gives back where it is.
    fn filled(arena: &Arena, size: usize, byte: u8) -> &[u8] {
        let room = arena.room(size).unwrap();
        // SAFETY: the room is ours and has `size` bytes, all of which are written here.
        unsafe {
            room.write_bytes(byte, size);
            std::slice::from_raw_parts(room.as_ptr(), size)
        }
    }

    #[test]
    fn pieces_are_aligned_and_apart() {
        let arena = Arena::default();
        let sizes = [0, 1, 7, 8, 9, 4000, 30, 100_000, 1, 8192, 3];
        let pieces: Vec<_> = (0..)
            .zip(sizes)
            .map(|(k, size)| filled(&arena, size, k))
            .collect();
        for (k, piece) in (0..).zip(&pieces) {
            assert!(piece.as_ptr().addr().is_multiple_of(ALIGN));
            assert!(piece.iter().all(|&byte| byte == k));
        }
    }

    #[test]
    fn a_reset_keeps_the_newest_chunk() {
        let mut arena = Arena::default();
        arena.reset();
        filled(&arena, 10, 1);
        filled(&arena, 10_000, 2);
        arena.reset();
        assert_eq!(arena.chunks.borrow().len(), 1);
        let first = filled(&arena, 6000, 3).as_ptr();
        filled(&arena, 4000, 4);
        assert_eq!(arena.chunks.borrow().len(), 1);
        arena.reset();
        assert_eq!(filled(&arena, 1, 5).as_ptr(), first);
    }

    #[test]
    fn a_large_arena_is_given_back() {
        let mut arena = Arena::default();
        arena.room(KEEP + 1).unwrap();
        arena.reset();
        assert!(arena.chunks.borrow().is_empty());
        filled(&arena, 10, 1);
    }

    #[test]
    fn what_came_after_a_position_is_taken_back() {
        let arena = Arena::default();
        for before in [0, 100, 4000, 50_000] {
            let kept = filled(&arena, before, 1);
            let position = arena.position();
            assert!(arena.is_at(position));
            for sizes in [&[1][..], &[9, 4096, 3], &[100_000, 1]] {
                for &size in sizes {
                    let piece = NonNull::from(filled(&arena, size, 2)).cast();
                    assert!(arena.is_after(position, piece));
                }
                assert!(before == 0 || !arena.is_after(position, NonNull::from(kept).cast()));
                assert!(!arena.is_after(position, NonNull::from(&position).cast()));
                assert!(!arena.is_at(position));
                // SAFETY: the pieces are not used any more.
                unsafe { arena.rewind(position) };
                assert!(arena.is_at(position));
            }
            assert!(kept.iter().all(|&byte| byte == 1));
        }
    }

    #[test]
    fn chunks_stay_at_hand() {
        let mut arena = Arena::default();
        let position = arena.position();
        let mut places = Vec::new();
        for _ in 0..3 {
            filled(&arena, 4000, 1);
            places.push(filled(&arena, 4000, 1).as_ptr());
            // SAFETY: the pieces are not used any more.
            unsafe { arena.rewind(position) };
        }
        assert!(places.iter().all(|place| *place == places[0]));
        assert!(arena.reset());
        assert!(!arena.reset());
        assert_eq!(arena.chunks.borrow().len(), 1);
    }
}
