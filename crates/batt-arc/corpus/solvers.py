# Reference solvers of the embedded corpus, one per task, in the arc-dsl dialect.
# The comment above a solver is the rule of its puzzle.

from dsl import *
from constants import *


# Knights: Mark in green where the magenta knights may jump, as in chess.
def solve_002e3123(I):
    x1 = astuple(NEG_ONE, ONE)
    x2 = astuple(NEG_TWO, TWO)
    x3 = product(x1, x2)
    x4 = product(x2, x1)
    x5 = combine(x3, x4)
    x6 = lbind(shift, x5)
    x7 = ofcolor(I, SIX)
    x8 = mapply(x6, x7)
    O = underfill(I, THREE, x8)
    return O


# Nearest neighbour: The grey shape closest to the red dot, in steps without diagonals, turns
# red.
def solve_0f995f90(I):
    x1 = objects(I, T, F, T)
    x2 = colorfilter(x1, FIVE)
    x3 = ofcolor(I, TWO)
    x4 = lbind(manhattan, x3)
    x5 = argmin(x2, x4)
    O = fill(I, TWO, x5)
    return O


# Peel the onion: Take off as many outer layers as there are red cells.
def solve_1673c3ec(I):
    x1 = colorcount(I, TWO)
    x2 = power(trim, x1)
    O = x2(I)
    return O


# Majority: Of four pictures stacked on each other show the one that appears most often.
def solve_17de12d9(I):
    x1 = vsplit(I, FOUR)
    O = mostcommon(x1)
    return O


# Zipper: Close the zipper: the rows of the upper and the lower half alternate.
def solve_18f7b29f(I):
    x1 = tophalf(I)
    x2 = bottomhalf(I)
    x3 = pair(x1, x2)
    O = merge(x3)
    return O


# Gravity: The red block flies straight to the light blue wall and stops when it touches it.
def solve_19052d22(I):
    x1 = objects(I, T, F, T)
    x2 = colorfilter(x1, TWO)
    x3 = first(x2)
    x4 = ofcolor(I, EIGHT)
    x5 = gravitate(x3, x4)
    O = move(I, x3, x5)
    return O


# Filled frames: Every open frame is filled with yellow.
def solve_1b91133d(I):
    x1 = objects(I, T, F, T)
    x2 = mapply(delta, x1)
    O = fill(I, FOUR, x2)
    return O


# Exchange: The most frequent and the rarest colour change places.
def solve_2120d3af(I):
    x1 = mostcolor(I)
    x2 = leastcolor(I)
    O = switch(I, x1, x2)
    return O


# Leapfrog: Blue leaps over red and lands right behind it, and red takes one step to where blue
# came from.
def solve_23e33718(I):
    x1 = objects(I, T, F, T)
    x2 = colorfilter(x1, ONE)
    x3 = first(x2)
    x4 = other(x1, x3)
    x5 = center(x3)
    x6 = center(x4)
    x7 = subtract(x6, x5)
    x8 = crement(x7)
    x9 = move(I, x3, x8)
    x10 = sign(x7)
    x11 = invert(x10)
    O = move(x9, x4, x11)
    return O


# Only the tall: Remove every shape that is not taller than it is wide.
def solve_2498803a(I):
    x1 = objects(I, T, F, T)
    x2 = compose(flip, portrait)
    x3 = mfilter(x1, x2)
    O = cover(I, x3)
    return O


# Into the corner: The shape moves into the upper left corner and leaves a grey shadow where it
# was.
def solve_2e708028(I):
    x1 = objects(I, F, F, T)
    x2 = first(x1)
    x3 = normalize(x2)
    x4 = fill(I, FIVE, x2)
    O = paint(x4, x3)
    return O


# The commonest shape: Show the figure that appears most often, in its own colours.
def solve_30c45629(I):
    x1 = objects(I, F, F, T)
    x2 = totuple(x1)
    x3 = apply(normalize, x2)
    x4 = mostcommon(x3)
    x5 = shape(x4)
    x6 = canvas(ZERO, x5)
    O = paint(x6, x4)
    return O


# Colour ladder: List all colours in a column, from the rarest to the most common.
def solve_33b64ef9(I):
    x1 = partition(I)
    x2 = order(x1, size)
    x3 = apply(color, x2)
    x4 = repeat(x3, ONE)
    O = dmirror(x4)
    return O


# Odd one out: Of three pictures side by side two are equal; show the third.
def solve_343bb5f3(I):
    x1 = hsplit(I, THREE)
    O = leastcommon(x1)
    return O


# Agreement: Compare the two halves beside the grey bar: cells on which they agree stay, all
# others turn black.
def solve_346517f2(I):
    x1 = lefthalf(I)
    x2 = righthalf(I)
    O = cellwise(x1, x2, ZERO)
    return O


# The largest, enlarged: Cut out the largest shape and draw it at twice the size.
def solve_3470f492(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = subgrid(x2, I)
    O = upscale(x3, TWO)
    return O


# The lucky dot: One of the blue dots turns red: the one that a Python set of their (row,
# column) pairs, filled row by row, yields first.
def solve_3a3265fd(I):
    x1 = ofcolor(I, ONE)
    x2 = first(x1)
    x3 = initset(x2)
    O = fill(I, TWO, x3)
    return O


# Copies of the stamp: Wherever the two by two stamp of the upper left corner appears again, it
# turns light blue.
def solve_3b2e454a(I):
    x1 = crop(I, ORIGIN, TWO_BY_TWO)
    x2 = asobject(x1)
    x3 = occurrences(I, x2)
    x4 = remove(ORIGIN, x3)
    x5 = lbind(shift, x2)
    x6 = mapply(x5, x4)
    O = fill(I, EIGHT, x6)
    return O


# Touched: Green shapes that touch a red cell turn blue.
def solve_3bd82c66(I):
    x1 = objects(I, T, F, T)
    x2 = colorfilter(x1, THREE)
    x3 = ofcolor(I, TWO)
    x4 = rbind(adjacent, x3)
    x5 = mfilter(x2, x4)
    O = fill(I, ONE, x5)
    return O


# Halo: Every green dot gets a blue ring around it.
def solve_424e76d1(I):
    x1 = compose(outbox, initset)
    x2 = ofcolor(I, THREE)
    x3 = mapply(x1, x2)
    O = fill(I, ONE, x3)
    return O


# Lines in the noise: Every line that crosses the whole picture in one colour turns red.
def solve_46efe71b(I):
    x1 = frontiers(I)
    x2 = merge(x1)
    O = fill(I, TWO, x2)
    return O


# Two ninths: Cut the picture into nine equal pieces and show the middle one beside the lower
# right one.
def solve_4b2d86c5(I):
    x1 = shape(I)
    x2 = divide(x1, THREE)
    x3 = multiply(x2, TWO)
    x4 = crop(I, x2, x2)
    x5 = crop(I, x3, x2)
    O = hconcat(x4, x5)
    return O


# Progress bar: Count the red cells on a bar of ten.
def solve_516c26bb(I):
    x1 = colorcount(I, TWO)
    x2 = astuple(ONE, TEN)
    x3 = canvas(ZERO, x2)
    x4 = decrement(x1)
    x5 = tojvec(x4)
    x6 = connect(ORIGIN, x5)
    O = fill(x3, THREE, x6)
    return O


# Mended mosaic: The mosaic is symmetric from left to right; restore the black hole from the
# other side.
def solve_51bd4c62(I):
    x1 = vmirror(I)
    x2 = ofcolor(I, ZERO)
    x3 = toobject(x2, x1)
    O = paint(I, x3)
    return O


# Compass: The red dot sends an orange ray towards and behind the blue block, along one of eight
# directions.
def solve_541ebf37(I):
    x1 = ofcolor(I, TWO)
    x2 = ofcolor(I, ONE)
    x3 = position(x1, x2)
    x4 = center(x1)
    x5 = shoot(x4, x3)
    O = underfill(I, SEVEN, x5)
    return O


# Blossoms: Blue dots grow four orange petals beside them, red dots four yellow ones at their
# corners, green dots light blue ones all around.
def solve_59938dad(I):
    x1 = ofcolor(I, ONE)
    x2 = mapply(dneighbors, x1)
    x3 = ofcolor(I, TWO)
    x4 = mapply(ineighbors, x3)
    x5 = ofcolor(I, THREE)
    x6 = mapply(neighbors, x5)
    x7 = fill(I, SEVEN, x2)
    x8 = fill(x7, FOUR, x4)
    O = fill(x8, EIGHT, x6)
    return O


# A measured slide: The shape slides to the right by twice its height and up by half its width.
def solve_60cdbe1d(I):
    x1 = objects(I, T, F, T)
    x2 = first(x1)
    x3 = height(x2)
    x4 = double(x3)
    x5 = tojvec(x4)
    x6 = width(x2)
    x7 = halve(x6)
    x8 = invert(x7)
    x9 = toivec(x8)
    x10 = add(x5, x9)
    O = move(I, x2, x10)
    return O


# Five points: The light blue cells span a box: shade it blue behind them and mark its corners
# and its centre yellow.
def solve_6a229efe(I):
    x1 = ofcolor(I, EIGHT)
    x2 = backdrop(x1)
    x3 = underfill(I, ONE, x2)
    x4 = corners(x1)
    x5 = center(x1)
    x6 = insert(x5, x4)
    O = fill(x3, FOUR, x6)
    return O


# Magnifier: Show the three by three neighbourhood of the cell whose colour appears only once.
def solve_6faa2351(I):
    x1 = leastcolor(I)
    x2 = ofcolor(I, x1)
    x3 = first(x2)
    x4 = add(x3, NEG_UNITY)
    O = crop(I, x4, THREE_BY_THREE)
    return O


# Echo: Every shape throws a red echo two cells to the right and a blue one two cells down, both
# behind what is there already.
def solve_71fb66c4(I):
    x1 = objects(I, T, F, T)
    x2 = merge(x1)
    x3 = shift(x2, ZERO_BY_TWO)
    x4 = recolor(TWO, x3)
    x5 = underpaint(I, x4)
    x6 = shift(x2, TWO_BY_ZERO)
    x7 = recolor(ONE, x6)
    O = underpaint(x5, x7)
    return O


# Joined dots: Two magenta dots in one row or column are joined by a red line.
def solve_7aa34ab3(I):
    x1 = ofcolor(I, SIX)
    x2 = prapply(connect, x1, x1)
    x3 = fork(either, vline, hline)
    x4 = mfilter(x2, x3)
    O = underfill(I, TWO, x4)
    return O


# Stretch: Stretch the picture sideways by the number of its colours, and to twice its height.
def solve_7e5335ee(I):
    x1 = numcolors(I)
    x2 = hupscale(I, x1)
    O = vupscale(x2, TWO)
    return O


# Which diagonal?: A blue upper left corner flips the picture over the main diagonal, any other
# corner over the anti-diagonal.
def solve_8108c5f2(I):
    x1 = index(I, ORIGIN)
    x2 = equality(x1, ONE)
    x3 = branch(x2, dmirror, cmirror)
    O = x3(I)
    return O


# Tie break: Both colours cover half of the picture; the one that a Python set of them yields
# first wins a three by three square.
def solve_832b8cb4(I):
    x1 = mostcolor(I)
    O = canvas(x1, THREE_BY_THREE)
    return O


# Crosshair: Grey lines run through every blue dot, along its row and its column, behind
# everything else.
def solve_8484b47d(I):
    x1 = fork(combine, hfrontier, vfrontier)
    x2 = ofcolor(I, ONE)
    x3 = mapply(x1, x2)
    O = underfill(I, FIVE, x3)
    return O


# Shrink: The picture is made of square blocks; draw each block as one cell.
def solve_87dbabaa(I):
    x1 = objects(I, T, F, F)
    x2 = valmin(x1, width)
    O = downscale(I, x2)
    return O


# Slanted rays: Red dots send red rays up and down along the falling diagonal, magenta dots
# magenta rays along the rising one.
def solve_88d9434f(I):
    x1 = rbind(shoot, UNITY)
    x2 = rbind(shoot, NEG_UNITY)
    x3 = fork(combine, x1, x2)
    x4 = ofcolor(I, TWO)
    x5 = mapply(x3, x4)
    x6 = rbind(shoot, UP_RIGHT)
    x7 = rbind(shoot, DOWN_LEFT)
    x8 = fork(combine, x6, x7)
    x9 = ofcolor(I, SIX)
    x10 = mapply(x8, x9)
    x11 = fill(I, TWO, x5)
    O = fill(x11, SIX, x10)
    return O


# Between the marks: Four maroon marks stand at the corners of a window: show what is inside.
def solve_8d3e25e2(I):
    x1 = ofcolor(I, NINE)
    x2 = uppermost(x1)
    x3 = leftmost(x1)
    x4 = astuple(x2, x3)
    x5 = lowermost(x1)
    x6 = rightmost(x1)
    x7 = astuple(x5, x6)
    x8 = increment(x4)
    x9 = subtract(x7, x8)
    O = crop(I, x8, x9)
    return O


# The smallest shines: The smallest shape turns light blue.
def solve_99a36d2b(I):
    x1 = objects(I, T, F, T)
    x2 = argmin(x1, size)
    x3 = recolor(EIGHT, x2)
    O = paint(I, x3)
    return O


# Legend: The grey shapes, from left to right, take the colours written in the top row.
def solve_a14c3282(I):
    x1 = first(I)
    x2 = remove(ZERO, x1)
    x3 = dedupe(x2)
    x4 = objects(I, T, F, T)
    x5 = colorfilter(x4, FIVE)
    x6 = order(x5, leftmost)
    x7 = mpapply(recolor, x3, x6)
    O = paint(I, x7)
    return O


# Overlay: Lay the lower half over the upper one; the upper half stays in front.
def solve_a231bee0(I):
    x1 = tophalf(I)
    x2 = bottomhalf(I)
    x3 = asobject(x2)
    x4 = matcher(first, ZERO)
    x5 = compose(flip, x4)
    x6 = sfilter(x3, x5)
    O = underpaint(x1, x6)
    return O


# Wallpaper: Find the smallest tile that repeats over the whole wall.
def solve_a4310bde(I):
    x1 = asobject(I)
    x2 = vperiod(x1)
    x3 = hperiod(x1)
    x4 = astuple(x2, x3)
    O = crop(I, ORIGIN, x4)
    return O


# Staircase: Counted from the left, the first shape stays, the second falls by one cell, the
# third by two, and so on.
def solve_a5eecb84(I):
    x1 = objects(I, T, F, T)
    x2 = order(x1, leftmost)
    x3 = size(x2)
    x4 = interval(ZERO, x3, ONE)
    x5 = apply(toivec, x4)
    x6 = papply(shift, x2, x5)
    x7 = merge(x6)
    x8 = merge(x1)
    x9 = cover(I, x8)
    O = paint(x9, x7)
    return O


# The one with the berry: Cut out the figure that has a red berry.
def solve_a75d64c5(I):
    x1 = objects(I, F, F, T)
    x2 = lbind(contained, TWO)
    x3 = compose(x2, palette)
    x4 = extract(x1, x3)
    O = subgrid(x4, I)
    return O


# Without the lines: Take the frame off and close the picture up where straight lines run from
# side to side.
def solve_aabed0aa(I):
    x1 = trim(I)
    O = compress(x1)
    return O


# Coloured corners: Colour the corners of every grey rectangle: blue upper left, red upper
# right, green lower left, yellow lower right.
def solve_aefab048(I):
    x1 = objects(I, T, F, T)
    x2 = apply(ulcorner, x1)
    x3 = apply(urcorner, x1)
    x4 = apply(llcorner, x1)
    x5 = apply(lrcorner, x1)
    x6 = fill(I, ONE, x2)
    x7 = fill(x6, TWO, x3)
    x8 = fill(x7, THREE, x4)
    O = fill(x8, FOUR, x5)
    return O


# Lattice: Plant the only colour at the crossings of every second row and every third column,
# from the upper left corner on.
def solve_af59e06f(I):
    x1 = height(I)
    x2 = interval(ZERO, x1, TWO)
    x3 = width(I)
    x4 = interval(ZERO, x3, THREE)
    x5 = product(x2, x4)
    x6 = palette(I)
    x7 = other(x6, ZERO)
    O = fill(I, x7, x5)
    return O


# Lie down: Pictures taller than wide are turned clockwise to lie down, then every row is
# doubled.
def solve_b803c0b9(I):
    x1 = portrait(I)
    x2 = branch(x1, rot90, identity)
    x3 = x2(I)
    O = vupscale(x3, TWO)
    return O


# All champions: Every shape that is as large as the largest turns green.
def solve_b9832b5b(I):
    x1 = objects(I, T, F, T)
    x2 = valmax(x1, size)
    x3 = sizefilter(x1, x2)
    x4 = merge(x3)
    O = fill(I, THREE, x4)
    return O


# In line with the marker: Green shapes in the rows of the grey marker turn blue, those in its
# columns turn red.
def solve_be9e1fc8(I):
    x1 = objects(I, T, F, T)
    x2 = colorfilter(x1, THREE)
    x3 = ofcolor(I, FIVE)
    x4 = lbind(hmatching, x3)
    x5 = mfilter(x2, x4)
    x6 = lbind(vmatching, x3)
    x7 = mfilter(x2, x6)
    x8 = fill(I, ONE, x5)
    O = fill(x8, TWO, x7)
    return O


# Corner dye: Cells of the upper left corner's colour take the colour of the lower right corner.
def solve_bf7b6d9d(I):
    x1 = index(I, ORIGIN)
    x2 = shape(I)
    x3 = decrement(x2)
    x4 = index(I, x3)
    O = replace(I, x1, x4)
    return O


# Pinwheel: Turn the tile a quarter at a time, clockwise around the centre of a square twice its
# size.
def solve_cdd75e46(I):
    x1 = rot90(I)
    x2 = hconcat(I, x1)
    x3 = rot270(I)
    x4 = rot180(I)
    x5 = hconcat(x3, x4)
    O = vconcat(x2, x5)
    return O


# Chessboard: Lay a grey chessboard under the picture: a cell is dark when its row and column
# add up to an even number.
def solve_d66c1b89(I):
    x1 = asindices(I)
    x2 = fork(add, first, last)
    x3 = compose(even, x2)
    x4 = sfilter(x1, x3)
    O = underfill(I, FIVE, x4)
    return O


# Balance point: Mark the point on which the cloud of blue cells balances, rounded up and to the
# left, in red.
def solve_da3bd076(I):
    x1 = ofcolor(I, ONE)
    x2 = centerofmass(x1)
    x3 = initset(x2)
    O = fill(I, TWO, x3)
    return O


# Contest: Blue or red, whichever has more cells, fills a rectangle as tall as the tallest shape
# and as wide as the narrowest.
def solve_dae41a63(I):
    x1 = objects(I, T, F, T)
    x2 = apply(height, x1)
    x3 = maximum(x2)
    x4 = apply(width, x1)
    x5 = minimum(x4)
    x6 = astuple(x3, x5)
    x7 = colorcount(I, ONE)
    x8 = colorcount(I, TWO)
    x9 = greater(x7, x8)
    x10 = branch(x9, ONE, TWO)
    O = canvas(x10, x6)
    return O


# Overlap: The blue dots span a box and so do the red ones: the common part turns green, the
# rest of the blue box grey, behind the dots.
def solve_db8712d1(I):
    x1 = ofcolor(I, ONE)
    x2 = backdrop(x1)
    x3 = ofcolor(I, TWO)
    x4 = backdrop(x3)
    x5 = intersection(x2, x4)
    x6 = difference(x2, x5)
    x7 = underfill(I, THREE, x5)
    O = underfill(x7, FIVE, x6)
    return O


# Squares away from the edge: Solid squares that do not touch the edge of the picture turn
# yellow.
def solve_dc8f2a9b(I):
    x1 = objects(I, T, F, T)
    x2 = rbind(bordering, I)
    x3 = compose(flip, x2)
    x4 = fork(both, square, x3)
    x5 = mfilter(x1, x4)
    O = fill(I, FOUR, x5)
    return O


# Four winds: Blue dots shoot upwards, red ones to the right, green ones downwards, yellow ones
# to the left; where rays cross, the first in this order stays in front.
def solve_ddf7d84c(I):
    x1 = rbind(shoot, UP)
    x2 = ofcolor(I, ONE)
    x3 = mapply(x1, x2)
    x4 = underfill(I, ONE, x3)
    x5 = rbind(shoot, RIGHT)
    x6 = ofcolor(I, TWO)
    x7 = mapply(x5, x6)
    x8 = underfill(x4, TWO, x7)
    x9 = rbind(shoot, DOWN)
    x10 = ofcolor(I, THREE)
    x11 = mapply(x9, x10)
    x12 = underfill(x8, THREE, x11)
    x13 = rbind(shoot, LEFT)
    x14 = ofcolor(I, FOUR)
    x15 = mapply(x13, x14)
    O = underfill(x12, FOUR, x15)
    return O


# Red signal: With a red cell anywhere the picture turns upside down, without one it swaps left
# and right.
def solve_decfe7a7(I):
    x1 = astuple(hmirror, vmirror)
    x2 = rapply(x1, I)
    x3 = colorcount(I, TWO)
    x4 = positive(x3)
    x5 = branch(x4, first, last)
    O = x5(x2)
    return O


# Even shapes stay: Shapes with an odd number of cells disappear.
def solve_e24aa73e(I):
    x1 = objects(I, T, F, T)
    x2 = chain(flip, even, size)
    x3 = mfilter(x1, x2)
    O = cover(I, x3)
    return O


# Targets: Paint every grey square as a target: blue rim, red ring, green centre.
def solve_e73fc175(I):
    x1 = objects(I, T, F, T)
    x2 = mapply(box, x1)
    x3 = mapply(inbox, x1)
    x4 = apply(center, x1)
    x5 = fill(I, ONE, x2)
    x6 = fill(x5, TWO, x3)
    O = fill(x6, THREE, x4)
    return O


# Ranked flag: The colours except the background, rarest first, become the stripes of a square
# flag.
def solve_e89a5dd5(I):
    x1 = fgpartition(I)
    x2 = order(x1, size)
    x3 = apply(color, x2)
    x4 = size(x3)
    O = repeat(x3, x4)
    return O


# Outline: Draw a red line around the shape, along its sides.
def solve_ec786e12(I):
    x1 = objects(I, F, F, T)
    x2 = first(x1)
    x3 = toindices(x2)
    x4 = mapply(dneighbors, x3)
    x5 = difference(x4, x3)
    O = fill(I, TWO, x5)
    return O


# Kaleidoscope: Mirror the tile to the right, then mirror both downwards.
def solve_f92937ab(I):
    x1 = vmirror(I)
    x2 = hconcat(I, x1)
    x3 = hmirror(x2)
    O = vconcat(x2, x3)
    return O


# Counting diagonal: Draw a maroon diagonal with one cell for every shape.
def solve_fc032018(I):
    x1 = objects(I, T, T, T)
    x2 = size(x1)
    x3 = astuple(x2, x2)
    x4 = canvas(ZERO, x3)
    x5 = decrement(x3)
    x6 = connect(ORIGIN, x5)
    O = fill(x4, NINE, x6)
    return O
