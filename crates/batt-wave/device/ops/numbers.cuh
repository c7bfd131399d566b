// Numbers, pairs and truth.
