// tokpidjin: extremes of patches.
