// Generic containers: tuples and frozensets of anything.
