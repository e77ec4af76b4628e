//! What oracles answer.
