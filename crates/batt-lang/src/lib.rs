//! batt-lang
