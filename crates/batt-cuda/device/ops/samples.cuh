// tokpidjin: what the demonstrations tell.
