//! The trace, which is also the journal: one versioned JSON-lines format of facts and decisions.
