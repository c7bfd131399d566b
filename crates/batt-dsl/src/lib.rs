//! batt-dsl
