// Sorting: order and what is built on it.
