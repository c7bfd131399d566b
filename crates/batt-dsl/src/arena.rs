//! A bump allocator whose memory is released all at once, or back to an earlier position.
//!
//! It does what `bumpalo` does, with less work for a run of one or two steps: an allocation is an
//! addition and a comparison, and a reset is one store unless the run needed a new chunk.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// Every allocation starts at a multiple of this.
pub(crate) const ALIGN: usize = align_of::<Word>();

/// The unit of a chunk, which gives the chunk its alignment.
type Word = u64;

/// Bytes of the first chunk. Each further chunk is at least twice as large as the one before.
const FIRST_CHUNK: usize = 4096;

/// The most bytes that an arena keeps when it is reset. A larger one returns its memory to the
/// system.
const MAX_KEPT: usize = 32 << 20;

/// The byte that overwrites released memory in debug builds, so that tests find values that are
/// used after their release.
#[cfg(debug_assertions)]
const RELEASED: u8 = 0xA5;

pub(crate) struct Arena {
    /// Start of the free part of the newest chunk, always aligned, and its end.
    next: Cell<NonNull<u8>>,
    end: Cell<NonNull<u8>>,
    /// Start of the newest chunk.
    start: Cell<NonNull<u8>>,
    /// Whether a reset has more to do than to start over in the only chunk.
    needs_full_reset: Cell<bool>,
    /// The number of chunks in use.
    used: Cell<usize>,
    /// The chunks in use, the newest last, then spare ones, each larger than the one before.
    chunks: RefCell<Vec<Chunk>>,
}

struct Chunk {
    start: NonNull<u8>,
    /// Only the capacity is used: the length stays 0.
    words: Vec<Word>,
}

/// How much of an arena was in use at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    used: usize,
    /// Start of the free part of the newest chunk at that moment.
    next: NonNull<u8>,
}

// SAFETY: `next`, `end` and `start` point into `chunks`, which the arena owns and which move with
// it. No reference into them exists when the arena moves to another thread, because `Run` gives
// every allocation the lifetime of a borrow of the arena.
unsafe impl Send for Arena {}

impl Default for Arena {
    /// Returns an arena without memory.
    fn default() -> Arena {
        let nowhere = NonNull::<Word>::dangling().cast();
        Arena {
            next: nowhere.into(),
            end: nowhere.into(),
            start: nowhere.into(),
            needs_full_reset: false.into(),
            used: 0.into(),
            chunks: RefCell::default(),
        }
    }
}

impl Position {
    /// The position of an arena in which nothing is in use.
    pub const START: Position = Position {
        used: 0,
        next: NonNull::<Word>::dangling().cast(),
    };
}

impl Arena {
    /// Allocates this many bytes, aligned to [`ALIGN`] and not yet written. No other allocation
    /// overlaps them until they are released. Returns `None` when the system has no memory.
    #[inline(always)]
    pub fn allocate(&self, bytes: usize) -> Option<NonNull<u8>> {
        match self.allocate_in_chunk(bytes) {
            None => self.allocate_in_new_chunk(bytes),
            room => room,
        }
    }

    /// Allocates in the current chunk. Returns `None` if [`allocate`](Arena::allocate) would need a
    /// new one.
    #[inline(always)]
    pub fn allocate_in_chunk(&self, bytes: usize) -> Option<NonNull<u8>> {
        let size = bytes.checked_add(ALIGN - 1)? & !(ALIGN - 1);
        let next = self.next.get();
        let free = self.end.get().addr().get() - next.addr().get();
        if size > free {
            return None;
        }
        // SAFETY: `size <= free`, and `free` is the distance from `next` to the end of the chunk,
        // so the sum stays inside the chunk.
        self.next.set(unsafe { next.add(size) });
        Some(next)
    }

    #[cold]
    #[inline(never)]
    fn allocate_in_new_chunk(&self, bytes: usize) -> Option<NonNull<u8>> {
        let size = bytes.checked_next_multiple_of(ALIGN)?;
        let mut chunks = self.chunks.borrow_mut();
        let used = self.used.get();
        if chunks.get(used).is_none_or(|spare| spare.size() < size) {
            // The spare chunk is too small. Chunks must be in order of size, so it makes way for a
            // larger one.
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
            self.needs_full_reset.set(true);
        }
        self.used.set(used + 1);
        let start = self.use_chunk(&chunks[used]);
        // SAFETY: the chunk was chosen or made with at least `size` bytes, and `start` is its
        // first.
        self.next.set(unsafe { start.add(size) });
        Some(start)
    }

    /// Makes a chunk the newest one, with all of its bytes free, and returns its start.
    fn use_chunk(&self, chunk: &Chunk) -> NonNull<u8> {
        self.start.set(chunk.start);
        self.next.set(chunk.start);
        // SAFETY: `start + size` is one past the end of the chunk's allocation, which is in bounds.
        self.end.set(unsafe { chunk.start.add(chunk.size()) });
        chunk.start
    }

    /// Returns how much is in use now.
    #[inline(always)]
    pub fn position(&self) -> Position {
        Position {
            used: self.used.get(),
            next: self.next.get(),
        }
    }

    /// Returns whether exactly as much is in use as at a position.
    #[inline(always)]
    pub fn is_at(&self, position: Position) -> bool {
        // Positions in different chunks have different addresses, so `next` alone decides.
        self.next.get() == position.next
    }

    /// Returns whether an address was allocated after a position.
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

    /// Releases everything allocated after a position of this arena. The chunks are kept for later
    /// allocations.
    ///
    /// # Safety
    ///
    /// Nothing that was allocated after the position is used any more, and nothing that was
    /// allocated before the position has been released since.
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
                self.use_chunk(&self.chunks.borrow()[newest]);
            }
            None => {
                let nowhere = NonNull::<Word>::dangling().cast();
                self.start.set(nowhere);
                self.end.set(nowhere);
            }
        }
    }

    /// Overwrites everything allocated after a position.
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
            // SAFETY: the range lies inside one chunk, between an earlier and the current start of
            // its free part, and the caller of `rewind` has promised that nothing in it is used any
            // more.
            unsafe { at.write_bytes(RELEASED, end - at.addr().get()) };
        }
    }

    /// Makes the next [`reset`](Arena::reset) return true, so that its caller resets more than this
    /// arena.
    pub fn require_full_reset(&self) {
        self.needs_full_reset.set(true);
    }

    /// Releases everything, and keeps the largest chunk for the next run. Returns true if the run
    /// has used more than one chunk, or if [`require_full_reset`](Arena::require_full_reset) was
    /// called.
    #[inline(always)]
    pub fn reset(&mut self) -> bool {
        let needs_full_reset = self.needs_full_reset.get();
        if needs_full_reset {
            self.full_reset();
        }
        self.next.set(self.start.get());
        needs_full_reset
    }

    #[cold]
    #[inline(never)]
    fn full_reset(&mut self) {
        let chunks = self.chunks.get_mut();
        if chunks.iter().map(Chunk::size).sum::<usize>() > MAX_KEPT {
            *self = Arena::default();
            return;
        }
        chunks.drain(..chunks.len().saturating_sub(1));
        self.needs_full_reset.set(false);
        self.used.set(chunks.len());
        if let Some(chunk) = self.chunks.borrow().last() {
            self.use_chunk(chunk);
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

    /// Allocates, fills the room with a byte and returns it.
    fn filled(arena: &Arena, size: usize, byte: u8) -> &[u8] {
        let room = arena.allocate(size).unwrap();
        // SAFETY: the room was just allocated with `size` bytes, and all of them are written here.
        unsafe {
            room.write_bytes(byte, size);
            std::slice::from_raw_parts(room.as_ptr(), size)
        }
    }

    #[test]
    fn allocations_are_aligned_and_disjoint() {
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
        arena.allocate(MAX_KEPT + 1).unwrap();
        arena.reset();
        assert!(arena.chunks.borrow().is_empty());
        filled(&arena, 10, 1);
    }

    #[test]
    fn a_rewind_releases_later_allocations() {
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
                // SAFETY: the slices made in this iteration are not used after this line.
                unsafe { arena.rewind(position) };
                assert!(arena.is_at(position));
            }
            assert!(kept.iter().all(|&byte| byte == 1));
        }
    }

    #[test]
    fn a_rewind_keeps_chunks() {
        let mut arena = Arena::default();
        let position = arena.position();
        let mut places = Vec::new();
        for _ in 0..3 {
            filled(&arena, 4000, 1);
            places.push(filled(&arena, 4000, 1).as_ptr());
            // SAFETY: the slices made in this iteration are not used after this line, only compared
            // by address.
            unsafe { arena.rewind(position) };
        }
        assert!(places.iter().all(|place| *place == places[0]));
        assert!(arena.reset());
        assert!(!arena.reset());
        assert_eq!(arena.chunks.borrow().len(), 1);
    }
}
