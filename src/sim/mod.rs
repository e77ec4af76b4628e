//! The simulated agent, its keyed noise, and the world that drives the machine event by event.
//!
//! It is not a second loop: the rules of the loop are the engine's alone.
