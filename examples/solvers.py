# Solvers of the puzzles in examples/tasks, one per task, in the arc-dsl dialect.
# The last one is wrong on its test on purpose: README.md shows how to see that.

from dsl import *
from constants import *


# Reflection: put the mirror image to the right of the picture.
def solve_a1c0ffee(I):
    x1 = vmirror(I)
    O = hconcat(I, x1)
    return O


# The largest: the largest grey shape turns red.
def solve_b0a710ad(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    O = fill(I, TWO, x2)
    return O


# The frame: show what is inside the green frame.
def solve_c0de5eed(I):
    x1 = ofcolor(I, THREE)
    x2 = subgrid(x1, I)
    O = trim(x2)
    return O


# Rain: every dot runs down to the bottom of the picture. `fgpartition` makes one object of all dots
# of a colour, so two dots of one colour leave one line. `objects(I, T, F, T)` keeps them separate.
def solve_d00d1e55(I):
    x1 = fgpartition(I)
    x2 = rbind(shoot, DOWN)
    x3 = compose(x2, ulcorner)
    x4 = fork(recolor, color, x3)
    x5 = mapply(x4, x1)
    O = paint(I, x5)
    return O
