//! Agents' logs: bytes in, turn records out.
//!
//! It starts nothing and opens nothing: whoever has the bytes hands them over.
