// Containers in tokpidjin.
