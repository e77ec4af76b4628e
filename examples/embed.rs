//! The loop inside another program: the engine decides, this file acts. Build it with `--no-default-features`.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]
use core::{error::Error, num::NonZeroU64};
use flyball::engine::{
    Band, Checkpoint, Governor, Input, Ladder, Limits, Machine, Millis, NoTrace, Output, Over, Plan, Ratio, RoundExit,
    Target, Timestamp, Tokens, TurnRecord, laws::Reset,
};

fn main() -> Result<(), Box<dyn Error>> {
    let ladder = Ladder::new(["max", "high", "medium", "low"])?;
    let band = Band::new(Target::from_tokens(900), Ratio::from_ppm(250_000))?;
    let governor = Governor::new(Reset, band, Over::new(Millis::from_secs(3600)), ladder.rungs());
    let limits = Limits { rounds: NonZeroU64::new(6), ..Limits::default() };
    let plan = Plan { limits, ..Plan::new(ladder, "max") };
    let (mut machine, mut now) = (Machine::new(plan, governor, Checkpoint::default()), Timestamp::EPOCH);
    let mut facts = Vec::new(); // what is to be told next, each at its time
    loop {
        match machine.poll(&mut NoTrace) {
            Output::Persist { seq, .. } => facts.push((now, Input::Persisted { seq })), // a real host writes it first
            Output::Spawn { round, effort } => {
                println!("round {round} at {effort}");
                facts.push((now, Input::Spawned { round }));
                let size = [3000, 1800, 900, 400][machine.rung().index()];
                for at in (1..=10).map(|turn| now.after(Millis::from_secs(20 * turn))) {
                    facts.push((at, Input::Turned { turn: TurnRecord::new(round, at, Tokens::new(size), "made-up") }));
                }
                facts.push((now.after(Millis::from_secs(210)), Input::Ended { round, exit: RoundExit::Done }));
            }
            Output::Wait { until, .. } => {
                let next = if facts.is_empty() { (until.unwrap_or(now), Input::Woke) } else { facts.remove(0) };
                now = next.0;
                machine.handle(now, next.1, &mut NoTrace);
            }
            Output::Stop(control) => break println!("stopped by {control}"),
            Output::Verify { .. } | Output::Terminate { .. } => {} // no oracle, and no limit on a round, is set
        }
    }
    Ok(())
}
