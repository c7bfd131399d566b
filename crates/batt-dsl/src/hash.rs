//! CPython's hashes of integers, tuples and frozensets (64-bit builds, 3.8 and later).
//!
//! The hashes decide where a set keeps its elements, so the iteration order of every set follows
//! from them. `None` and functions hash by address in CPython 3.11. Their order is unspecified
//! there, so any stable hash serves here.

const P1: u64 = 11_400_714_785_074_694_791;
const P2: u64 = 14_029_467_366_897_019_727;
const P5: u64 = 2_870_177_450_012_600_261;

/// Returns `hash(n)`.
#[inline]
pub fn int(n: i64) -> u64 {
    const MODULUS: u64 = (1 << 61) - 1;
    let magnitude = n.unsigned_abs();
    let reduced = if magnitude < MODULUS {
        magnitude
    } else {
        magnitude % MODULUS
    };
    if n >= 0 {
        return reduced;
    }
    // -1 is CPython's error marker, so nothing hashes to it.
    if reduced == 1 {
        (-2i64) as u64
    } else {
        reduced.wrapping_neg()
    }
}

/// Returns `hash(n)` for the small integers of coordinates and colours.
#[inline(always)]
const fn small(n: i64) -> u64 {
    (if n == -1 { -2 } else { n }) as u64
}

#[inline(always)]
const fn lane(acc: u64, hash: u64) -> u64 {
    acc.wrapping_add(hash.wrapping_mul(P2))
        .rotate_left(31)
        .wrapping_mul(P1)
}

#[inline(always)]
const fn close_tuple(acc: u64, len: u64) -> u64 {
    let acc = acc.wrapping_add(len ^ (P5 ^ 3_527_539));
    if acc == u64::MAX { 1_546_275_796 } else { acc }
}

/// Returns the `hash` of a tuple whose elements have these hashes.
pub fn tuple(hashes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let len = hashes.len() as u64;
    close_tuple(hashes.fold(P5, lane), len)
}

/// Returns the part of a pair's hash that its first element decides.
#[inline(always)]
pub(crate) fn begin_pair(first: u64) -> u64 {
    lane(P5, first)
}

/// Completes the hash of a pair with the hash of its second element.
#[inline(always)]
pub(crate) fn end_pair(begin: u64, second: u64) -> u64 {
    close_tuple(lane(begin, second), 2)
}

/// Returns `hash((i, j))`.
#[inline(always)]
pub fn pair(i: i16, j: i16) -> u64 {
    // Negative coordinates become large unsigned ones, so one test covers both ends.
    let (row, column) = (i as usize, j as usize);
    if row < SIDE && column < SIDE {
        PAIRS[row * SIDE + column]
    } else {
        compute_pair(i, j)
    }
}

/// Returns `hash((colour, (i, j)))`.
#[inline(always)]
pub fn cell(color: i32, i: i16, j: i16) -> u64 {
    let acc = match COLORS.get(color as usize) {
        Some(&acc) => acc,
        None => lane(P5, small(color as i64)),
    };
    close_tuple(lane(acc, pair(i, j)), 2)
}

/// Returns `hash((i, j, colour))`.
#[inline(always)]
pub fn triple(i: i16, j: i16, color: i32) -> u64 {
    let (row, column) = (i as usize, j as usize);
    let acc = if row < SIDE && column < SIDE {
        LOCATIONS[row * SIDE + column]
    } else {
        compute_location(i, j)
    };
    close_tuple(lane(acc, small(color as i64)), 3)
}

/// Returns the part of a triple's hash that its first two members decide.
const fn compute_location(i: i16, j: i16) -> u64 {
    lane(lane(P5, small(i as i64)), small(j as i64))
}

/// Returns `hash(x)` for a float that equals no 64-bit integer.
pub fn float(x: f64) -> u64 {
    if x.is_infinite() {
        return int(if x > 0.0 { 314_159 } else { -314_159 });
    }
    // CPython hashes a nan by its address; any stable number serves.
    0x2545_f491
}

const fn compute_pair(i: i16, j: i16) -> u64 {
    close_tuple(compute_location(i, j), 2)
}

/// An exclusive bound of the row and column numbers of grids.
const SIDE: usize = 32;

/// The hashes of the locations of grids. The 8 KiB save four multiplications per hash.
static PAIRS: [u64; SIDE * SIDE] = {
    let mut hashes = [0; SIDE * SIDE];
    let mut at = 0;
    while at < hashes.len() {
        hashes[at] = compute_pair((at / SIDE) as i16, (at % SIDE) as i16);
        at += 1;
    }
    hashes
};

/// The part of a triple's hash that its location decides.
static LOCATIONS: [u64; SIDE * SIDE] = {
    let mut accs = [0; SIDE * SIDE];
    let mut at = 0;
    while at < accs.len() {
        accs[at] = compute_location((at / SIDE) as i16, (at % SIDE) as i16);
        at += 1;
    }
    accs
};

/// The part of a cell's hash that its colour decides.
static COLORS: [u64; 10] = {
    let mut accs = [0; 10];
    let mut color = 0;
    while color < accs.len() {
        accs[color] = lane(P5, small(color as i64));
        color += 1;
    }
    accs
};

/// Returns the `hash` of a frozenset whose elements have these hashes, in any order.
pub fn set(hashes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let len = hashes.len() as u64;
    let mut x = hashes.fold(0, |acc: u64, h| {
        acc ^ ((h ^ 89_869_747) ^ (h << 16)).wrapping_mul(3_644_798_167)
    });
    x ^= (len + 1).wrapping_mul(1_927_868_237);
    x ^= (x >> 11) ^ (x >> 25);
    x = x.wrapping_mul(69_069).wrapping_add(907_133_923);
    if x == u64::MAX { 590_923_713 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(hash: u64) -> i64 {
        hash as i64
    }

    #[test]
    fn integers() {
        assert_eq!(signed(int(0)), 0);
        assert_eq!(signed(int(1)), 1);
        assert_eq!(signed(int(-1)), -2);
        assert_eq!(signed(int(-2)), -2);
        assert_eq!(signed(int(1 << 61)), 1);
        assert_eq!(signed(int(i64::MIN)), -4);
    }

    #[test]
    fn tuples() {
        assert_eq!(signed(tuple([].into_iter())), 5740354900026072187);
        assert_eq!(signed(tuple([0].into_iter())), -8753497827991233192);
        assert_eq!(signed(pair(0, 0)), -8458139203682520985);
        assert_eq!(signed(pair(1, 2)), -3550055125485641917);
        assert_eq!(signed(pair(-1, 0)), 2575514064802888272);
        assert_eq!(pair(-1, 0), pair(-2, 0));
        for i in -3..40 {
            for j in -3..40 {
                assert_eq!(
                    pair(i, j),
                    tuple([int(i.into()), int(j.into())].into_iter())
                );
                let cell_hashes = [int(12), pair(i, j)];
                assert_eq!(cell(12, i, j), tuple(cell_hashes.into_iter()));
                let triple_hashes = [int(i.into()), int(j.into()), int(7)];
                assert_eq!(triple(i, j, 7), tuple(triple_hashes.into_iter()));
            }
        }
        assert_eq!(signed(triple(0, 0, 0)), 3010437511937009226);
        assert_eq!(signed(triple(1, 1, 4)), -1926672114936953222);
        assert_eq!(signed(cell(0, 1, 2)), -6693097878080571193);
        assert_eq!(signed(cell(3, 0, 0)), -63324408149810037);
        assert_eq!(signed(tuple([1, 2, 3].into_iter())), 529344067295497451);
    }

    #[test]
    fn sets() {
        assert_eq!(signed(set([].into_iter())), 133146708735736);
        assert_eq!(signed(set([0].into_iter())), -2704248722033767810);
        assert_eq!(signed(set([1, 2, 3].into_iter())), -272375401224217160);
        assert_eq!(
            signed(set([cell(1, 0, 0), cell(1, 0, 1)].into_iter())),
            7733202875546575367
        );
    }
}
