//! The closeness of an output to the expected one.

use batt_arc::{Grid, Score};
use batt_engine::Verdict;

/// The closeness of an output that equals the expected one.
pub(crate) const WHOLE: u32 = Score::WHOLE;

/// Returns how close an output is, judged by its verdict alone, which every device reports.
///
/// A grid of the right shape is closer than any other. A grid with half of its cells wrong is no
/// closer than a blank one.
pub fn closeness(verdict: &Verdict, expected: &Grid) -> u32 {
    let (height, width) = (expected.height(), expected.width());
    match *verdict {
        Verdict::Right => WHOLE,
        Verdict::WrongCells(wrong) => {
            let right = (height * width).saturating_sub(wrong) as u64;
            let share = right * 680_000 / (height * width).max(1) as u64;
            200_000 + share as u32
        }
        Verdict::WrongShape(h, w) => {
            let near = |a: usize, b: usize| (a.min(b) * 1000 / a.max(b).max(1)) as u32;
            let sides = near(h, height) + near(w, width);
            sides * 50 + 20_000 * u32::from(h == height || w == width)
        }
        Verdict::NotAGrid | Verdict::Unknown | Verdict::Failed(_) => 0,
    }
}

/// Returns an addition to the closeness of a wrong output for its colours. Differs add a little
/// more.
pub fn refinement(got: &[u8], expected: &Grid) -> u32 {
    let palette = |cells: &[u8]| {
        let cells = cells.iter().filter(|&&color| color < 10);
        cells.fold(0u16, |palette, &color| palette | 1 << color)
    };
    let (got, wanted) = (palette(got), palette(expected.cells()));
    let all = (got | wanted).count_ones().max(1);
    (got & wanted).count_ones() * 90_000 / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closer_is_more() {
        let expected = Grid::from_rows(&[[1, 2], [3, 4]]).expect("a grid");
        let of = |verdict| closeness(&verdict, &expected);
        let rising = [
            of(Verdict::NotAGrid),
            of(Verdict::WrongShape(30, 30)),
            of(Verdict::WrongShape(2, 30)),
            of(Verdict::WrongShape(2, 3)),
            of(Verdict::WrongCells(4)),
            of(Verdict::WrongCells(1)),
            of(Verdict::Right),
        ];
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        let refined = of(Verdict::WrongCells(1)) + refinement(&[1, 2, 3, 4], &expected);
        assert!(refined < WHOLE);
        assert!(refinement(&[1, 2, 3, 3], &expected) < refinement(&[1, 2, 3, 4], &expected));
    }
}
