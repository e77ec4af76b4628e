//! The simulated agent, its keyed noise, and the world that drives the machine event by event.
//!
//! It is not a second loop: the rules of the loop are the engine's alone.
//!
//! | module | holds |
//! |---|---|
//! | [`noise`] | uniforms by address, one stream per purpose |
//! | [`normal`] | the normal distribution and its inverse |
//! | `exp` | powers of e of a whole row, with the bits of `libm` |
//! | [`dist`] | sizes of turns, and the one place where numbers become whole |
//! | [`agent`] | the simulated agent as plain, checked data |
//! | [`luck`] | what that agent does in one run, rung by rung |
//! | [`outcome`] | what comes of a round apart from its tokens |
//! | [`world`] | the agent on a clock, driving the machine event by event |
//! | [`oracle`] | the law that is told what is right |

pub mod agent;
pub mod dist;
mod exp;
pub mod luck;
pub mod noise;
pub mod normal;
pub mod oracle;
pub mod outcome;
pub mod world;

pub use agent::{
    Accounting, AgentModel, AgentSpec, Correction, Drift, Faults, ModelError, Outliers, RungModel, SessionModel, Span,
    Step, TurnCount, TurnModel, TurnTime,
};
pub use dist::{Component, Moves, Size, SizeError};
pub use luck::{Closing, Luck, RoundDraw};
pub use noise::{Channel, Noise};
pub use oracle::Oracle;
pub use outcome::{Fate, Fortune, Left, Limit, LimitSpec, Made, OutcomeModel, OutcomeSpec, Outcomes};
pub use world::{RoundFacts, Usage, World};
