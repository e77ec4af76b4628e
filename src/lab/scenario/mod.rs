//! Scenarios: a simulated agent, a plan and the settings to try on it, as a versioned TOML file.
//!
//! Format 1. Rungs are listed *hardest first*; times are seconds or a duration in quotes; tokens are output tokens per
//! turn; `tau`, `trend`, `walk`, `ramp_per_100` and `shift` are on the scale of ln tokens; rounds count from 0. What is
//! not known is refused with its line and the nearest known key; `nan`, `inf` and whatever else cannot be meant, too. It
//! runs nothing and holds no default that the file could not state. The canonical scenarios S01-S18 and the schema
//! follow the control study.
//!
//! | table | holds |
//! |---|---|
//! | top | `format = 1`, `name` (the file's stem), `about` |
//! | `[governor]` | `juice`, `over`, `slack`, `rest`; `law` `"stride"`; `budget` in millions of output tokens, 0 for none; `cooldown` 0; `slack_below`, `slack_above` as `slack`; a table for each law that has something to set |
//! | `[plan]` | `start` (an effort's word), `rounds`, `runs`, `seed` |
//! | `[sweep]` | lists for `law`, `juice`, `over`, `slack`, `rest`; a text may be a range `"0.15:0.4:0.05"` |
//! | `[evaluate]` | `band` 0.15, `hold` 10 |
//! | `[[rung]]` | `effort`, `size`; `turns_factor` 1, `seconds_factor` 1; `measured`, or `assumed` with `shift` |
//! | `[prior.NAME]` | `source` |
//! | `[turn]` | `rho` 0, `outliers = { share, factor }` |
//! | `[session]` | `tau` 0, `rho` 0, `trend` 0 |
//! | `[turns]` | `mean`, `cv`, `min`; `max` 6 x mean |
//! | `[time]` | `overhead` and `tool` as `{ mean, cv }`, `tokens_per_second` |
//! | `[drift]` | `steps = [{ round, level }]`, `ramp_per_100` 0, `walk` 0 |
//! | `[faults]` | `empty` 0, `truncated` 0, `outages = [[from, to]]` |
//! | `[accounting]` | `mode` `"final"`, `"partial"` with `phi` and `correction`, `"round-total-only"` |
//! | `[outcome]` | chances of a round: `failed` 0, of which `early` 0.5 before the first turn; `limit = { chance, lasts = { mean, cv }, told 1 }`; `unchanged` 0; `same_error` none; `done` 0; `hopeless` 0 of runs; `blocked` 0; `oracle_error` 0; `kill_on` 0; and `finish`, the tokens that a task takes on each rung, hardest first |
//! | `[usage]` | `input` 1, tokens of input of each turn; `input_price` 0 and `output_price` 0, USD for a million tokens |
//! | `[controls]` | `rounds`, `tokens` (millions), `cost` (USD), `wall`, `round`, `inactivity`, `requests`, `failures`, `no_progress`, `same_error`, `limit_wait`, `limit_rounds`: none; `backoff` 0, `limit_backoff` 60 s |
//!
//! A number that stands after a key is its default; a key without one must be there if its table is.
//!
//! With one of the last three tables a run may end before its last planned round, and what comes of it hangs on the path that it
//! took. Running totals per rung cannot say that: such a scenario is always run by the loop machine, on the same luck for every cell,
//! whichever engine was asked for ([`Scenario::hangs_on_the_path`]). How outcomes are drawn is said in [`crate::sim::outcome`].

mod agent;
mod derived;
mod error;
pub(in crate::lab) mod fields;
pub mod file;
mod load;
mod model;
mod outcome;
mod sections;

pub use derived::Derived;
pub use error::{Problem, ScenarioError};
pub use load::{Entry, Takes, entries};
pub(in crate::lab) use load::{document, governor_of};
pub use model::{Controls, Evaluate, Evidence, GovernorSettings, Plan, Scenario};

#[cfg(test)]
mod tests;
