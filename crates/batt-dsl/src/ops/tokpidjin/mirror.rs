//! Mirror images, rotations and scaling of grids (`_t`), patches (`_f`), locations (`_i`) and
//! objects (`_o`).

use super::extremes::{lrcorner, ulcorner};
use super::patch::{is_empty, is_indices, is_object, is_patch, shift};
use crate::fault::{Fault, Outcome};
use crate::ops::mirror::{self, flipped, image_of, transposed, upscaled_cells, upscaled_rows};
use crate::ops::patch::holds_cells;
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "mirror";

pub(super) const OPS: &[&Op] = &[
    &hmirror_t::OP,
    &hmirror_f::OP,
    &hmirror_i::OP,
    &hmirror_o::OP,
    &vmirror_t::OP,
    &vmirror_f::OP,
    &vmirror_i::OP,
    &vmirror_o::OP,
    &dmirror_t::OP,
    &dmirror_f::OP,
    &dmirror_i::OP,
    &dmirror_o::OP,
    &cmirror_t::OP,
    &cmirror_f::OP,
    &cmirror_i::OP,
    &cmirror_o::OP,
    &rot90::OP,
    &rot180::OP,
    &rot270::OP,
    &mir_rot_t::OP,
    &mir_rot_f::OP,
    &upscale_t::OP,
    &upscale_f::OP,
    &hupscale::OP,
    &vupscale::OP,
    &downscale::OP,
];

/// The direction of a mirror image.
#[derive(Clone, Copy)]
enum MirrorDirection {
    Horizontal,
    Vertical,
    Diagonal,
}

/// Mirrors any value, taken for cells or for locations.
#[cold]
fn general_image<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    cells: bool,
    direction: MirrorDirection,
) -> Outcome<Value<'r>> {
    let upper = ulcorner(run, patch)?;
    let axis = match direction {
        MirrorDirection::Horizontal => 0,
        MirrorDirection::Vertical => 1,
        MirrorDirection::Diagonal => {
            let (top, left) = run.unpack2(upper)?;
            return image_of(run, patch, cells, |run, i, j| {
                let (row, column) = (run.sub(j, left)?, run.sub(i, top)?);
                Ok((run.add(row, top)?, run.add(column, left)?))
            });
        }
    };
    let low = run.at(upper, axis)?;
    let lower = lrcorner(run, patch)?;
    let high = run.at(lower, axis)?;
    let sum = run.add(low, high)?;
    image_of(run, patch, cells, |run, i, j| {
        Ok(match axis {
            0 => (run.sub(sum, i)?, j),
            _ => (i, run.sub(sum, j)?),
        })
    })
}

/// Fails, because a set has no last row to begin with.
fn fail_for_set<'r>(_run: &mut Run<'r>, _grid: Value<'r>) -> Outcome<Value<'r>> {
    Err(Fault::Type)
}

/// Declares the four variants of a mirror image. The grid variant accepts a set in place of a grid
/// unless rows have to be read backwards.
macro_rules! mirror {
    (
        $which:literal, $same:ident, $direction:expr;
        $grid:ident or $of_set:ident, $patch:ident, $indices:ident, $object:ident
    ) => {
        safe! {
            #[doc = "A grid mirrored"]
            #[doc = $which]
            pub $grid(grid: Grid) -> Grid;
            |run| {
                if grid.is_tuple() {
                    return mirror::$same(run, grid);
                }
                $of_set(run, grid)
            }
        }
        safe! {
            #[doc = "A patch mirrored"]
            #[doc = $which]
            pub $patch(patch: Patch) -> Patch;
            |run| {
                if is_patch(patch) {
                    return mirror::$same(run, patch);
                }
                if is_empty(run, patch) {
                    return Err(Fault::Index);
                }
                let cells = holds_cells(run, patch)?;
                general_image(run, patch, cells, $direction)
            }
        }
        safe! {
            #[doc = "Locations mirrored"]
            #[doc = $which]
            pub $indices(indices: Indices) -> Indices;
            |run| {
                if is_indices(indices) {
                    return mirror::$same(run, indices);
                }
                general_image(run, indices, false, $direction)
            }
        }
        safe! {
            #[doc = "An object mirrored"]
            #[doc = $which]
            pub $object(obj: Object) -> Object;
            |run| {
                if is_object(obj) {
                    return mirror::$same(run, obj);
                }
                general_image(run, obj, true, $direction)
            }
        }
    };
}

mirror! { " top to bottom.", hmirror, MirrorDirection::Horizontal; hmirror_t or fail_for_set, hmirror_f, hmirror_i, hmirror_o }
mirror! { " left to right.", vmirror, MirrorDirection::Vertical; vmirror_t or flipped, vmirror_f, vmirror_i, vmirror_o }
mirror! { " along the main diagonal.", dmirror, MirrorDirection::Diagonal; dmirror_t or transposed, dmirror_f, dmirror_i, dmirror_o }

safe! {
    /// A grid mirrored along the other diagonal.
    pub cmirror_t(grid: Grid) -> Grid;
    |run| {
        if grid.is_tuple() {
            return mirror::cmirror(run, grid);
        }
        fail_for_set(run, grid)
    }
}

safe! {
    /// A patch mirrored along the other diagonal.
    pub cmirror_f(patch: Patch) -> Patch;
    |run| {
        let patch = vmirror_f(run, patch)?;
        let patch = dmirror_f(run, patch)?;
        vmirror_f(run, patch)
    }
}

safe! {
    /// Locations, or any patch, mirrored along the other diagonal.
    pub cmirror_i(indices: Indices) -> Indices = cmirror_f;
}

safe! {
    /// An object, or any patch, mirrored along the other diagonal.
    pub cmirror_o(obj: Object) -> Object = cmirror_f;
}

safe! {
    /// The grid rotated by a quarter turn, clockwise.
    pub rot90(grid: Grid) -> Grid = mirror::rot90;
}

safe! {
    /// The grid rotated by a half turn.
    pub rot180(grid: Grid) -> Grid = mirror::rot180;
}

safe! {
    /// The grid rotated by a quarter turn, anticlockwise.
    pub rot270(grid: Grid) -> Grid = mirror::rot270;
}

safe! {
    /// A grid mirrored or rotated, by a code: top to bottom, main diagonal, left to right, other
    /// diagonal, a quarter turn clockwise, a half turn, a quarter turn anticlockwise. Unchanged for
    /// another code.
    pub mir_rot_t(grid: Grid, r#type: A8) -> Grid;
    |run| {
        match r#type.integral() {
            Some(0) => hmirror_t(run, grid),
            Some(1) => dmirror_t(run, grid),
            Some(2) => vmirror_t(run, grid),
            Some(3) => cmirror_t(run, grid),
            Some(4) => rot90(run, grid),
            Some(5) => rot180(run, grid),
            Some(6) => rot270(run, grid),
            _ => Ok(grid),
        }
    }
}

safe! {
    /// A patch mirrored, by a code: top to bottom, main diagonal, left to right, other diagonal.
    /// Unchanged for another code.
    pub mir_rot_f(patch: Patch, r#type: A4) -> Patch;
    |run| {
        match r#type.integral() {
            Some(0) => hmirror_f(run, patch),
            Some(1) => dmirror_f(run, patch),
            Some(2) => vmirror_f(run, patch),
            Some(3) => cmirror_f(run, patch),
            _ => Ok(patch),
        }
    }
}

safe! {
    /// The grid enlarged: every cell becomes a square of cells.
    pub upscale_t(grid: Grid, factor: Integer) -> Grid;
    |run| {
        if grid.is_tuple() {
            return mirror::upscale(run, grid, factor);
        }
        upscaled_rows(run, grid, factor)
    }
}

safe! {
    /// The object enlarged: every cell becomes a square of cells.
    pub upscale_f(obj: Object, factor: Integer) -> Object;
    |run| {
        if is_object(obj) {
            return mirror::upscale(run, obj, factor);
        }
        // A value that is not a cell fails in any case. It fails here already, because moving it to
        // the origin may take numbers beyond 64 bits.
        for &cell in run.items(obj)? {
            if run.len(cell)? != 3 {
                return Err(Fault::Value);
            }
        }
        upscaled_cells(run, obj, factor, ulcorner, shift)
    }
}

safe! {
    /// The grid with every column repeated a number of times.
    pub hupscale(grid: Grid, factor: Integer) -> Grid = mirror::hupscale;
}

safe! {
    /// The grid with every row repeated a number of times.
    pub vupscale(grid: Grid, factor: Integer) -> Grid = mirror::vupscale;
}

safe! {
    /// Every n-th row and column of a grid, beginning with the first.
    pub downscale(grid: Grid, factor: Integer) -> Grid = mirror::downscale;
}
