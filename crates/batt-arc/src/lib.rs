//! batt-arc
