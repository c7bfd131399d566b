// Colours.
