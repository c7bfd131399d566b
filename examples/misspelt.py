# A solver with a misspelt name, for `batt check`.

from dsl import *
from constants import *


def solve_b0a710ad(I):
    x1 = objcts(I, T, F, T)
    x2 = argmax(x1, size)
    O = fill(I, TWO, x2)
    return O
