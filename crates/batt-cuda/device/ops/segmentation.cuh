// Objects, partitions, frontiers.
