// Lines, frames and neighbourhoods.
