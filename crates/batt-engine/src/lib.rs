//! batt-engine
