//! Recorded turns, read again: what a law and settings would have read after each round, and what they would have asked
//! for next.
//!
//! A [`Tape`] is what was recorded, round by round: a session of an agent's log, or a round of a run's trace. [`replay`]
//! tells it to the engine's own governor, with the effort that was recorded as the rung in force, and takes down each
//! verdict. Past tokens do not react to decisions: a round ran at its recorded effort whatever a law asked for after the one
//! before, so what is shown is a law's opinion of what happened and not what would have happened. A law that reads the turns
//! since its last move takes each move that it asks for as made. It is not `conform`, which judges the engine by recordings
//! of another program, and it opens no files.
//!
//! Units: milliseconds, tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::laws::Tuning;
use crate::engine::{
    BandError, Governor, Ladder, LadderError, LawKind, Millis, Over, Ratio, Rung, Target, Timestamp, Tokens,
    TurnRecord, Verdict, counted, one_or,
};
use crate::lab::recorded::effort_of;
use crate::trace::{Record, Setup, Trace};

/// What past tokens do not do: to be shown wherever a replay is.
pub const NOTE: &str = "The tokens are those that were recorded: they do not react to what a law would have decided. Each round \
is read at the effort that it ran at.";

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// What it is called: a file, or a model.
    pub name: String,
    /// The efforts, hardest first.
    pub ladder: Ladder,
    /// The settings of the run, where a run's trace says so.
    pub setup: Option<Setup>,
    /// The rounds, in time.
    pub rounds: Vec<Round>,
    /// What is left out, or guessed.
    pub notes: Vec<String>,
}

/// One recorded round.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// The session, where the records name it.
    pub session: Option<Arc<str>>,
    /// The rung that it ran at.
    pub rung: Rung,
    /// What was told in it, in order.
    pub facts: Vec<Fact>,
    /// When it ended.
    pub end: Timestamp,
    /// Output that was told after the round before had ended, and charged all the same.
    pub late: Tokens,
    /// Whether it was read at its end; a round that was stopped by hand is not.
    pub read: bool,
    /// The effort that the recorded run decided on after it.
    pub decided: Option<String>,
}

/// Something told in a round.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A report.
    Turn(TurnRecord),
    /// A closing total, with the turns whose own count it names.
    Settled(Tokens, Vec<(Arc<str>, Tokens)>),
}

impl Round {
    /// Turns told in it.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.facts.iter().filter(|fact| matches!(fact, Fact::Turn(turn) if turn.counts_as_turn)).count()
    }

    /// Output told in it turn by turn.
    #[must_use]
    pub fn output(&self) -> Tokens {
        self.facts.iter().fold(Tokens::ZERO, |sum, fact| match fact {
            Fact::Turn(turn) => sum.plus(turn.output),
            Fact::Settled(..) => sum,
        })
    }
}

/// Why there is nothing to replay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The ladder is none.
    #[error("the ladder: {0}")]
    Ladder(#[from] LadderError),
    /// A recorded effort is not on the ladder.
    #[error("round {round} ran at {effort:?}, which is not on the ladder: {}", ladder.join(", "))]
    Effort {
        /// The round.
        round: u64,
        /// Its effort.
        effort: String,
        /// The ladder, hardest first.
        ladder: Vec<String>,
    },
    /// The target and the slack make no band.
    #[error("these settings have no band: {0}")]
    Band(#[from] BandError),
    /// No effort is recorded at all.
    #[error("none of the turns says at which effort it was made")]
    NoEffort,
    /// There is no whole round.
    #[error("there is no round that ended")]
    NoRound,
}

impl Tape {
    /// A run's trace, round by round as the machine was told it. A round that did not end is left out.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn of_trace(name: &str, trace: &Trace) -> Result<Self, ReplayError> {
        let setup = trace.header.setup.clone();
        let ladder = Ladder::new(setup.ladder.iter().map(String::as_str))?;
        let mut tape =
            Self { name: name.to_owned(), ladder, setup: Some(setup), rounds: Vec::new(), notes: Vec::new() };
        let (mut open, mut late): (Option<Round>, Tokens) = (None, Tokens::ZERO);
        for line in &trace.lines {
            match &line.record {
                Record::Spawn { round, effort } => {
                    let rung = tape.rung(*round, effort)?;
                    let begun = Round {
                        number: *round,
                        session: None,
                        rung,
                        facts: Vec::new(),
                        end: Timestamp::from_millis(line.at_ms),
                        late: std::mem::take(&mut late),
                        read: false,
                        decided: None,
                    };
                    open = Some(begun);
                }
                Record::Turned(turn) => match &mut open {
                    Some(round) if round.number == turn.round => round.facts.push(Fact::Turn(turn.record())),
                    _ => late = late.plus(Tokens::new(turn.output_tokens)),
                },
                Record::Settled { round: number, total_tokens, turns } => {
                    if let Some(round) = open.as_mut().filter(|round| round.number == *number) {
                        let stated = turns.iter().map(|turn| (Arc::from(&*turn.id), Tokens::new(turn.output_tokens)));
                        round.facts.push(Fact::Settled(Tokens::new(*total_tokens), stated.collect()));
                    }
                }
                Record::Ended { .. } => {
                    if let Some(mut round) = open.take() {
                        round.end = Timestamp::from_millis(line.at_ms);
                        tape.rounds.push(round);
                    }
                }
                Record::Decided { round, to, .. } => {
                    if let Some(last) = tape.rounds.last_mut().filter(|last| last.number == *round) {
                        last.read = true;
                        last.decided = Some(to.clone());
                    }
                }
                Record::Persisted { .. }
                | Record::Spawned { .. }
                | Record::Heard { .. }
                | Record::Refused { .. }
                | Record::Opened { .. }
                | Record::Group { .. }
                | Record::Agent { .. }
                | Record::Note { .. }
                | Record::Verified { .. }
                | Record::Progress { .. }
                | Record::LimitUntil { .. }
                | Record::Shared(_)
                | Record::Asked { .. }
                | Record::Woke {}
                | Record::Absorbed {}
                | Record::Laid { .. }
                | Record::Persist { .. }
                | Record::Terminate { .. }
                | Record::Verify { .. }
                | Record::Wait { .. }
                | Record::Stop { .. } => {}
            }
        }
        if let Some(round) = open {
            tape.notes.push(format!("round {} did not end, and is left out", round.number));
        }
        tape.sound()
    }

    /// The records of one model, a session a round, in order of their ends. The effort of a round is that of its last turn
    /// that says one; a round without any runs on at the effort before.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn of_records(name: &str, records: &[TurnRecord], ladder: Ladder) -> Result<Self, ReplayError> {
        let mut sessions: BTreeMap<u64, Vec<&TurnRecord>> = BTreeMap::new();
        for record in records {
            sessions.entry(record.round).or_default().push(record);
        }
        let mut tape = Self { name: name.to_owned(), ladder, setup: None, rounds: Vec::new(), notes: Vec::new() };
        let mut sessions: Vec<Vec<&TurnRecord>> = sessions.into_values().collect();
        for session in &mut sessions {
            session.sort_by_key(|turn| turn.end);
        }
        sessions.sort_by_key(|session| session.last().map(|turn| (turn.end, turn.round)));
        let first = sessions.iter().flatten().find_map(|turn| effort_of(turn)).ok_or(ReplayError::NoEffort)?;
        let mut rung = tape.rung(1, first)?;
        let (mut silent, mut mixed) = (0_u64, 0_u64);
        for (number, session) in (1..).zip(&sessions) {
            let efforts: Vec<&str> = session.iter().filter_map(|turn| effort_of(turn)).collect();
            match efforts.last() {
                Some(effort) => rung = tape.rung(number, effort)?,
                None => silent += 1,
            }
            mixed += u64::from(efforts.windows(2).any(|pair| pair[0] != pair[1]));
            tape.rounds.push(Round {
                number,
                session: session.iter().find_map(|turn| turn.session.clone()),
                rung,
                facts: session.iter().map(|turn| Fact::Turn((*turn).clone())).collect(),
                end: session.last().map_or(Timestamp::EPOCH, |turn| turn.end),
                late: Tokens::ZERO,
                read: true,
                decided: None,
            });
        }
        if silent > 0 {
            let (sessions, are) = (
                counted(silent, "session"),
                one_or(silent, "does not say its effort, and is", "do not say their effort, and are"),
            );
            tape.notes.push(format!("{sessions} {are} taken to run on at the one before"));
        }
        if mixed > 0 {
            let (sessions, are) = (counted(mixed, "session"), one_or(mixed, "is read at its", "are read at their"));
            tape.notes.push(format!("{sessions} changed effort on the way, and {are} last one"));
        }
        tape.sound()
    }

    fn sound(self) -> Result<Self, ReplayError> {
        if self.rounds.is_empty() { Err(ReplayError::NoRound) } else { Ok(self) }
    }

    /// The rung of an effort, with or without its width prefix.
    fn rung(&self, round: u64, effort: &str) -> Result<Rung, ReplayError> {
        let plain = || effort.strip_prefix(Ladder::WIDTH).and_then(|word| self.ladder.find(word));
        self.ladder.find(effort).or_else(plain).ok_or_else(|| ReplayError::Effort {
            round,
            effort: effort.to_owned(),
            ladder: self.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
        })
    }
}

/// What is read with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The laws, one or more.
    pub laws: Vec<LawKind>,
    /// The target.
    pub juice: Target,
    /// The window.
    pub over: Millis,
    /// Half width of the band.
    pub slack: Ratio,
    /// What laws are told may be spent.
    pub budget: Option<Tokens>,
    /// What else is set.
    pub tuning: Tuning,
    /// Whether to read after each turn too.
    pub every_turn: bool,
}

/// A reading by every law, at the same moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place of the round on the tape.
    pub round: usize,
    /// After which turn of the round, from 1; none at its end.
    pub turn: Option<usize>,
    /// When.
    pub at: Timestamp,
    /// What each law made of it, in the order of [`Reader::laws`].
    pub verdicts: Vec<Verdict>,
}

impl Row {
    /// Whether two laws ask for different efforts.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.verdicts.windows(2).any(|pair| pair[0].to != pair[1].to)
    }
}

/// Reads a tape with every law. Rounds that were stopped by hand have no row, as they had no reading.
///
/// # Errors
/// [`ReplayError::Band`].
pub fn replay(tape: &Tape, reader: &Reader) -> Result<Vec<Row>, ReplayError> {
    let band = reader.tuning.band(reader.juice, reader.slack)?;
    let (over, rungs) = (Over::new(reader.over), tape.ladder.rungs());
    let mut governors: Vec<_> =
        reader.laws.iter().map(|law| Governor::new(law.tuned(&reader.tuning), band, over, rungs)).collect();
    let (mut rows, mut spent) = (Vec::new(), Tokens::ZERO);
    for (place, round) in tape.rounds.iter().enumerate() {
        spent = spent.plus(round.late);
        governors.iter_mut().for_each(|governor| governor.begin(round.rung));
        let mut turns = 0;
        for fact in &round.facts {
            match fact {
                Fact::Turn(turn) => {
                    if turn.is_nothing() {
                        continue;
                    }
                    spent = spent.plus(turn.output);
                    governors.iter_mut().for_each(|governor| governor.report(turn));
                    turns += usize::from(turn.counts_as_turn);
                    if reader.every_turn && turn.counts_as_turn {
                        let look = |governor: &Governor<_>| governor.clone().read(turn.end, spent, reader.budget);
                        let verdicts = governors.iter().map(look).collect();
                        rows.push(Row { round: place, turn: Some(turns), at: turn.end, verdicts });
                    }
                }
                Fact::Settled(total, stated) => {
                    let mut added = Tokens::ZERO;
                    for governor in &mut governors {
                        let before = governor.meter().open_output();
                        let settled = governor.settle(*total, stated);
                        added = governor.meter().open_output().minus(before).plus(settled.homeless);
                    }
                    spent = spent.plus(added);
                }
            }
        }
        if round.read {
            let close = |governor: &mut Governor<_>| governor.read(round.end, spent, reader.budget);
            rows.push(Row {
                round: place,
                turn: None,
                at: round.end,
                verdicts: governors.iter_mut().map(close).collect(),
            });
        } else {
            governors.iter_mut().for_each(Governor::skip);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NoTrace;
    use crate::lab::grid::Cell;
    use crate::lab::scenario::Scenario;
    use crate::lab::simulate::{Once, simulate};
    use crate::trace::{Header, Writer, read};

    fn setup(scenario: &Scenario, cell: Cell) -> Setup {
        Setup {
            ladder: scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
            configured: scenario.ladder.effort(scenario.plan.start).word().to_owned(),
            law: cell.law.name().to_owned(),
            juice_millionths: cell.juice.micros(),
            over_ms: cell.over.count(),
            slack_ppm: cell.slack.ppm(),
            rest_ms: cell.rest.count(),
            budget_tokens: None,
            rounds: None,
            set: BTreeMap::new(),
        }
    }

    fn taped(text: &str, law: LawKind, file: &str) -> (Scenario, Cell, Tape) {
        let scenario = Scenario::load(text, file).unwrap();
        let cell = Cell { law, ..scenario.base() };
        let once = Once { scenario: &scenario, cell, run: 3, rounds: 60, seed: 9 };
        let mut writer = Writer::new(Vec::new(), &Header::new(setup(&scenario, cell))).unwrap();
        simulate(&once, &mut writer).unwrap();
        let trace = read(&*writer.finish().unwrap()).unwrap();
        let tape = Tape::of_trace("trace", &trace).unwrap();
        (scenario, cell, tape)
    }

    fn reader(cell: Cell, laws: &[LawKind]) -> Reader {
        Reader {
            laws: laws.to_vec(),
            juice: cell.juice,
            over: cell.over,
            slack: cell.slack,
            budget: None,
            tuning: Tuning::USUAL,
            every_turn: false,
        }
    }

    /// Plain turns, closing totals laid onto turns, and lumps that are no turn; a law with memory among them.
    #[test]
    fn the_recorded_law_and_settings_give_the_recorded_decisions() {
        let typical = include_str!("../../scenarios/s02-typical.toml");
        let totals = format!("{typical}\n[accounting]\nmode = \"round-total-only\"\n");
        let spread = format!("{typical}\n[accounting]\nmode = \"partial\"\nphi = 0.3\ncorrection = \"spread\"\n");
        let files = [
            (typical, "s02-typical.toml"),
            (&totals, "s02-typical.toml"),
            (&spread, "s02-typical.toml"),
            (include_str!("../../scenarios/s14-flaky.toml"), "s14-flaky.toml"),
            (include_str!("../../scenarios/s18a-lump-fed-typical.toml"), "s18a-lump-fed-typical.toml"),
        ];
        for (text, file) in files {
            for law in LawKind::ALL {
                let (scenario, cell, tape) = taped(text, law, file);
                let rows = replay(&tape, &reader(cell, &[law])).unwrap();
                let once = Once { scenario: &scenario, cell, run: 3, rounds: 60, seed: 9 };
                let run = simulate(&once, &mut NoTrace).unwrap();
                let (again, ran): (Vec<Verdict>, Vec<Verdict>) =
                    rows.iter().zip(&run.rounds).map(|(row, round)| (row.verdicts[0], round.verdict)).unzip();
                assert_eq!((again, rows.len()), (ran, 60), "{file} {law}");
                for row in &rows {
                    let decided = tape.rounds[row.round].decided.as_deref();
                    assert_eq!(decided, Some(tape.ladder.effort(row.verdicts[0].to).word()), "{file} {law}");
                }
            }
        }
    }

    #[test]
    fn two_laws_differ_where_they_ask_for_different_efforts() {
        let (_, cell, tape) =
            taped(include_str!("../../scenarios/s02-typical.toml"), LawKind::Reference, "s02-typical.toml");
        let rows = replay(&tape, &reader(cell, &[LawKind::Reference, LawKind::Fixed])).unwrap();
        let moves = rows.iter().filter(|row| row.verdicts[0].to != row.verdicts[0].from).count();
        assert!(moves > 0 && rows.iter().filter(|row| row.differs()).count() == moves, "{moves}");
        let same = replay(&tape, &reader(cell, &[LawKind::Reference, LawKind::Reference])).unwrap();
        assert!(same.iter().all(|row| !row.differs()));
    }

    #[test]
    fn looking_after_every_turn_changes_no_reading_at_the_end() {
        let (_, cell, tape) =
            taped(include_str!("../../scenarios/s02-typical.toml"), LawKind::Reset, "s02-typical.toml");
        let plain = reader(cell, &[LawKind::Reset]);
        let all = replay(&tape, &Reader { every_turn: true, ..plain.clone() }).unwrap();
        let turns: usize = tape.rounds.iter().map(Round::turns).sum();
        assert_eq!(all.len(), tape.rounds.len() + turns);
        let ends: Vec<Row> = all.iter().filter(|row| row.turn.is_none()).cloned().collect();
        assert_eq!(ends, replay(&tape, &plain).unwrap());
        for pair in all.windows(2).filter(|pair| pair[1].turn.is_none()) {
            assert_eq!(pair[0].verdicts, pair[1].verdicts, "the last turn ends the round");
        }
    }

    fn turn(session: u64, effort: Option<&str>, end: u64, output: u64) -> TurnRecord {
        let mut turn = TurnRecord::new(session, Timestamp::from_millis(end), Tokens::new(output), "test");
        turn.effort_confirmed = effort.map(Into::into);
        turn
    }

    #[test]
    fn a_session_is_a_round_at_its_recorded_effort() {
        let ladder = Ladder::new(["high", "low"]).unwrap();
        let records = [
            turn(1, Some("high"), 1000, 100),
            turn(1, None, 2000, 300),
            turn(2, None, 3000, 50),
            turn(3, Some("high"), 4000, 10),
            turn(3, Some("low"), 5000, 10),
        ];
        let tape = Tape::of_records("m", &records, ladder.clone()).unwrap();
        assert_eq!(tape.rounds.iter().map(|round| round.rung.index()).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(tape.notes.len(), 2, "{:?}", tape.notes);
        let reader = Reader {
            laws: vec![LawKind::Reference],
            juice: Target::from_tokens(100),
            over: Millis::new(1000),
            slack: Ratio::from_ppm(150_000),
            budget: None,
            tuning: Tuning::USUAL,
            every_turn: false,
        };
        let rows = replay(&tape, &reader).unwrap();
        let read: Vec<(u64, u64, usize)> = rows
            .iter()
            .map(|row| (row.verdicts[0], row.verdicts[0].decision.evidence.mean.unwrap()))
            .map(|(verdict, mean)| (mean.total().count(), mean.turns(), verdict.to.index()))
            .collect();
        assert_eq!(read, [(400, 2, 1), (350, 2, 1), (20, 2, 0)]);

        let off = [turn(1, Some("ultra"), 1, 1)];
        let error = Tape::of_records("m", &off, ladder.clone()).unwrap_err();
        assert!(error.to_string().contains("ultra") && error.to_string().contains("high, low"), "{error}");
        assert_eq!(Tape::of_records("m", &[turn(1, None, 1, 1)], ladder.clone()), Err(ReplayError::NoEffort));
        assert_eq!(Tape::of_records("m", &[], ladder), Err(ReplayError::NoEffort));
    }
}
