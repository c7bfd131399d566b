// tokpidjin: elements by rank.
