//! The memory of a run: handed out piece by piece, taken back all at once.
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

pub(crate) struct Arena {
    /// Where the free part of the newest chunk starts, always aligned, and where it ends.
    next: Cell<NonNull<u8>>,
    end: Cell<NonNull<u8>>,
    /// Where the newest chunk starts.
    start: Cell<NonNull<u8>>,
    /// Has the run needed a new chunk?
    grown: Cell<bool>,
    /// The newest last. They are only capacity: their length stays 0.
    chunks: RefCell<Vec<Vec<Word>>>,
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
            grown: false.into(),
            chunks: RefCell::default(),
        }
    }
}

impl Arena {
    /// Room for so many bytes, aligned to [`ALIGN`], not yet written and nobody else's until the next
    /// reset; none when the system has no memory.
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
        let doubled = chunks.last().map_or(FIRST_CHUNK, |last| 2 * capacity(last));
        let mut chunk: Vec<Word> = Vec::new();
        chunk
            .try_reserve_exact(size.max(doubled) / size_of::<Word>())
            .or_else(|_| chunk.try_reserve_exact(size / size_of::<Word>()))
            .ok()?;
        chunks.try_reserve(1).ok()?;
        let start = NonNull::new(chunk.as_mut_ptr())?.cast::<u8>();
        // SAFETY: both lie in the chunk or at its end: it has room for `size` bytes, which are a
        // whole number of words.
        unsafe {
            self.next.set(start.add(size));
            self.end.set(start.add(capacity(&chunk)));
        }
        self.start.set(start);
        self.grown.set(true);
        chunks.push(chunk);
        Some(start)
    }

    /// Takes everything back. The newest and largest chunk is kept for the next run.
    #[inline(always)]
    pub fn reset(&mut self) {
        if self.grown.get() {
            self.tidy();
        }
        self.next.set(self.start.get());
    }

    #[cold]
    #[inline(never)]
    fn tidy(&mut self) {
        let chunks = self.chunks.get_mut();
        if chunks.iter().map(capacity).sum::<usize>() > KEEP {
            *self = Arena::default();
            return;
        }
        chunks.drain(..chunks.len() - 1);
        self.grown.set(false);
    }
}

/// The size of a chunk.
fn capacity(chunk: &Vec<Word>) -> usize {
    chunk.capacity() * size_of::<Word>()
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
}
