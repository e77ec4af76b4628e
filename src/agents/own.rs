//! Traces of this program: what the simulator and a runner write, read back as turns.
//!
//! Each `turned` line is a record, as it stands: with its grade, its time since the run's epoch (not Unix time), and the effort of
//! the round's `spawn` line. A round is a session; where the trace does not name it, it is called by the round and a hash
//! of the trace's header, so that equal traces are copies of each other and others are not. A `settled` line is laid onto
//! the round's turns by the engine's own settlement, as the machine does it. `stop` is the end of the run.
//!
//! It does not check the chain of hashes and replays nothing. Of a trace of a newer version nothing is read: its lines are counted as
//! unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::book::Touched;
use super::log::{Closing, Coverage, Log, LogTurn, TurnKey};
use super::loose::{Count, Flag, List, MAX_PER_CALL, MAX_TOTAL, Text, object, read_line};
use super::{Format, Health};
use crate::engine::settlement::{Part, settle};
use crate::engine::{Grade, MicroUsd, Timestamp, Tokens, TurnRecord};

/// The newest version that is read.
const VERSION: u64 = 1;

/// Kinds that tell of no spending.
const QUIET: [&str; 14] = [
    "persisted",
    "spawned",
    "verified",
    "progress",
    "limit-until",
    "asked",
    "woke",
    "absorbed",
    "laid",
    "decided",
    "persist",
    "terminate",
    "verify",
    "wait",
];

object! {
    struct Stated {
        id: Text<'a> = "id",
        output: Count = "output_tokens",
    }
    struct Line {
        format: Text<'a> = "format",
        version: Count = "version",
        by: Text<'a> = "by",
        kind: Text<'a> = "kind",
        at: Count = "at_ms",
        round: Count = "round",
        effort: Text<'a> = "effort",
        exit: Text<'a> = "exit",
        control: Text<'a> = "control",
        id: Text<'a> = "id",
        session: Text<'a> = "session",
        start: Count = "start_ms",
        end: Count = "end_ms",
        model: Text<'a> = "model",
        asked: Text<'a> = "effort_asked",
        confirmed: Text<'a> = "effort_confirmed",
        output: Count = "output_tokens",
        input: Count = "input_tokens",
        cache_read: Count = "cache_read_tokens",
        cache_write: Count = "cache_write_tokens",
        reasoning: Count = "reasoning_tokens",
        cost: Count = "cost_micro_usd",
        turn: Flag = "counts_as_turn",
        grade: Text<'a> = "grade",
        source: Text<'a> = "source",
        total: Count = "total_tokens",
        turns: List<Stated<'a>> = "turns",
    }
}

/// Takes the lines of one trace, in order.
#[derive(Debug)]
pub struct Reader {
    log: Log,
    turns: Vec<LogTurn>,
    /// The hash of the header.
    name: String,
    newer: bool,
    efforts: BTreeMap<u64, Arc<str>>,
    /// The round of each record.
    rounds: Vec<u64>,
    places: BTreeMap<Arc<str>, usize>,
    settled: BTreeSet<u64>,
    /// How many records were seen already, where somebody watches.
    watched: Option<usize>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            log: Log::new(Format::Flyball),
            turns: Vec::new(),
            name: String::new(),
            newer: false,
            efforts: BTreeMap::new(),
            rounds: Vec::new(),
            places: BTreeMap::new(),
            settled: BTreeSet::new(),
            watched: None,
        }
    }
}

impl Reader {
    /// From now on the records can be seen while it reads.
    pub fn watch(&mut self) {
        self.watched.get_or_insert(self.turns.len());
    }

    /// Hands over the records that came since it was last asked. One that a later line makes larger is not handed over again.
    pub fn drain_touched(&mut self, out: &mut Vec<Touched>) {
        let Some(seen) = &mut self.watched else { return };
        let new = self.turns.iter().skip(*seen);
        out.extend(new.map(|turn| Touched { turn: turn.clone(), begun: None, side: false }));
        *seen = self.turns.len();
    }

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, text: &str) -> bool {
        read_line!(Line<'_>, text, self.log.health, |line| {
            if line.format.get().is_some() {
                self.header(&line, text);
            } else {
                self.take(&line);
            }
        })
    }

    fn health(&mut self) -> &mut Health {
        &mut self.log.health
    }

    fn header(&mut self, line: &Line<'_>, text: &str) {
        self.newer = line.version.get().is_none_or(|version| version > VERSION);
        self.name = format!("{:016x}", hash(text));
        self.efforts.clear();
        self.settled.clear();
        self.log.versions.extend(line.by.get().map(Arc::from));
    }

    fn take(&mut self, line: &Line<'_>) {
        let (kind, round) = (line.kind.word(), line.round.get().unwrap_or(1));
        match kind {
            _ if self.newer => self.health().unknown(kind),
            "spawn" => {
                let effort = line.effort.get().map(Arc::from);
                self.efforts.extend(effort.map(|effort| (round, effort)));
            }
            "turned" => self.turned(line, round),
            "settled" => self.settled(line, round),
            "ended" if line.exit.word() != "done" => self.health().error(line.exit.word()),
            "ended" => {}
            "stop" => {
                let closing = Closing {
                    id: Some(format!("trace {}", self.name).into()),
                    ok: Some(line.control.word() == "oracle-passed"),
                    result: true,
                    ..Closing::default()
                };
                self.log.closings.push(closing);
                self.log.results += 1;
            }
            quiet if QUIET.contains(&quiet) => {}
            other => self.health().unknown(other),
        }
    }

    fn session(&self, named: Option<&str>, round: u64) -> Arc<str> {
        named.map_or_else(|| format!("round {round} of {}", self.name).into(), Arc::from)
    }

    fn turned(&mut self, line: &Line<'_>, round: u64) {
        let session = self.session(line.session.get(), round);
        self.log.lineage.insert(Arc::clone(&session));
        let Some(end) = line.end.get().or(line.at.get()) else {
            self.health().unreadable += 1;
            return;
        };
        let mut bad = 0;
        let mut count = |count: Count, max: u64| {
            bad += u64::from(count.within(max) == Count::Bad);
            count.within(max).get()
        };
        let output = count(line.output, MAX_PER_CALL);
        let mut record = TurnRecord::new(1, Timestamp::from_millis(end), Tokens::ZERO, Format::Flyball.name());
        record.input = count(line.input, MAX_PER_CALL).map(Tokens::new);
        record.cache_read = count(line.cache_read, MAX_PER_CALL).map(Tokens::new);
        record.cache_write = count(line.cache_write, MAX_PER_CALL).map(Tokens::new);
        record.reasoning = count(line.reasoning, MAX_PER_CALL).map(Tokens::new);
        record.cost = count(line.cost, MAX_TOTAL).map(MicroUsd::new);
        self.health().bad_numbers += bad;
        record.grade = match (line.grade.word(), output) {
            ("known", Some(_)) => Grade::Known,
            ("estimated", Some(_)) => Grade::Estimated,
            _ => Grade::Unknown,
        };
        record.output = Tokens::new(output.filter(|_| record.grade != Grade::Unknown).unwrap_or(0));
        record.id = line.id.get().map(Arc::from);
        record.session = Some(session);
        record.start = line.start.get().filter(|&start| start <= end).map(Timestamp::from_millis);
        record.model = line.model.get().map(Arc::from);
        let spawned = self.efforts.get(&round).cloned();
        // a simulated agent works at the effort that it was asked for
        let simulated = spawned.clone().filter(|_| line.source.word() == "sim");
        record.effort_asked = line.asked.get().map(Arc::from).or(spawned);
        record.effort_confirmed = line.confirmed.get().map(Arc::from).or(simulated);
        record.counts_as_turn = line.turn.0.unwrap_or(true);
        self.add(record, round);
    }

    fn add(&mut self, record: TurnRecord, round: u64) {
        if let Some(&place) = record.id.as_ref().and_then(|id| self.places.get(id)) {
            self.log.health.repeats += 1;
            let held = &mut self.turns[place].record;
            if record.output >= held.output {
                *held = record;
            }
            return;
        }
        let nth = self.turns.len();
        let key = match &record.id {
            Some(id) => {
                self.places.insert(Arc::clone(id), nth);
                TurnKey::Message(Arc::clone(id))
            }
            None => TurnKey::Place { at: record.end, nth },
        };
        self.rounds.push(round);
        self.turns.push(LogTurn { key, record });
    }

    fn settled(&mut self, line: &Line<'_>, round: u64) {
        let Some(total) = line.total.get().map(Tokens::new) else { return };
        // the machine takes one closing total a round
        if !self.settled.insert(round) {
            return;
        }
        let mut places: Vec<usize> = (0..self.rounds.len()).filter(|&place| self.rounds[place] == round).collect();
        let known = places.iter().map(|&place| &self.turns[place].record).filter(|own| own.grade == Grade::Known);
        let counted = known.fold(Tokens::ZERO, |sum, own| sum.plus(own.output));
        let coverage = Coverage { counted, stated: total };
        self.log.stated = Some(self.log.stated.unwrap_or_default().plus(coverage));
        let mut told = Tokens::ZERO;
        for stated in &line.turns.0 {
            let place = stated.id.get().and_then(|id| self.places.get(id)).copied();
            let (Some(place), Some(output)) = (place, stated.output.within(MAX_PER_CALL).get()) else { continue };
            if !places.contains(&place) {
                continue;
            }
            places.retain(|&other| other != place);
            let record = &mut self.turns[place].record;
            (record.output, record.grade) = (Tokens::new(output), Grade::Known);
            told = told.plus(record.output);
        }
        let part = |&place: &usize| {
            let record = &self.turns[place].record;
            Part { output: record.output, grade: record.grade }
        };
        let mut parts: Vec<Part> = places.iter().map(part).collect();
        let settled = settle(&mut parts, total.minus(told));
        for (&place, part) in places.iter().zip(&parts) {
            let record = &mut self.turns[place].record;
            (record.output, record.grade) = (part.output, part.grade);
        }
        self.health().surplus += settled.surplus.count();
        if settled.homeless > Tokens::ZERO {
            let at = Timestamp::from_millis(line.at.get().unwrap_or(0));
            let mut record = TurnRecord::new(1, at, settled.homeless, Format::Flyball.name());
            record.counts_as_turn = false;
            record.session = Some(self.session(None, round));
            self.add(record, round);
        }
    }

    /// Closes the trace.
    #[must_use]
    pub fn finish(mut self) -> Log {
        let unknown = self.turns.iter().filter(|turn| turn.record.grade == Grade::Unknown).count();
        self.log.health.placeholders += u64::try_from(unknown).unwrap_or(u64::MAX);
        Log { turns: self.turns.into(), ..self.log }
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): a name, not a proof.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::join;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn header(seed: u64) -> Value {
        json!({"format": "flyball-trace", "version": 1, "by": "flyball 0.1.0", "seed": seed})
    }

    fn spawn(round: u64, effort: &str) -> Value {
        json!({"at_ms": 0, "kind": "spawn", "round": round, "effort": effort})
    }

    fn turned(round: u64, end: u64, output: u64, grade: &str) -> Value {
        json!({"at_ms": end, "kind": "turned", "round": round, "start_ms": end - 5, "end_ms": end, "output_tokens": output,
               "counts_as_turn": true, "grade": grade, "source": "sim"})
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    fn outputs(log: &Log) -> Vec<(u64, Grade)> {
        log.turns.iter().map(|turn| (turn.record.output.count(), turn.record.grade)).collect()
    }

    #[test]
    fn turns_have_the_effort_of_their_round_and_rounds_are_sessions() {
        let log = read(&[
            header(1),
            spawn(1, "high"),
            turned(1, 10, 5, "known"),
            json!({"at_ms": 10, "kind": "wait", "reason": "turns"}),
            spawn(2, "low"),
            turned(2, 20, 7, "known"),
            turned(2, 30, 9, "unknown"),
            json!({"at_ms": 30, "kind": "ended", "round": 2, "exit": "cut"}),
            json!({"at_ms": 30, "kind": "novel"}),
            json!({"at_ms": 30, "kind": "stop", "control": "rounds"}),
        ]);
        assert_eq!(outputs(&log), [(5, Grade::Known), (7, Grade::Known), (0, Grade::Unknown)]);
        let efforts: Vec<_> = log.turns.iter().map(|turn| turn.record.effort_confirmed.unwrap().to_string()).collect();
        assert_eq!(efforts, ["high", "low", "low"]);
        assert_eq!((log.lineage.len(), log.results, log.closings[0].ok), (2, 1, Some(false)));
        assert_eq!((log.health.errors, log.health.unknown_types, log.health.placeholders), (1, 1, 1));
        let joined = join(&[log.clone(), log]);
        assert_eq!((joined.turns.len(), joined.sessions, joined.results), (3, 2, 1));
        assert_eq!(joined.turns.iter().map(|turn| turn.round).collect::<Vec<_>>(), [1, 2, 2]);
    }

    #[test]
    fn traces_of_other_headers_are_other_turns() {
        let one = |seed: u64| read(&[header(seed), spawn(1, "high"), turned(1, 10, 5, "known")]);
        assert_eq!(join(&[one(1), one(2), one(1)]).turns.len(), 2);
    }

    #[test]
    fn a_closing_total_is_laid_onto_the_turns_of_its_round_once() {
        let settled = |total: u64| json!({"at_ms": 40, "kind": "settled", "round": 1, "total_tokens": total});
        let log = read(&[
            header(1),
            turned(1, 10, 10, "estimated"),
            turned(1, 20, 30, "estimated"),
            turned(2, 30, 7, "known"),
            settled(100),
            settled(900),
        ]);
        assert_eq!(outputs(&log), [(25, Grade::Estimated), (75, Grade::Estimated), (7, Grade::Known)]);
        let mut named = turned(1, 10, 1, "estimated");
        named["id"] = json!("m");
        let mut grown = named.clone();
        grown["output_tokens"] = json!(4);
        let total = json!({"at_ms": 40, "kind": "settled", "round": 1, "total_tokens": 60, "turns": [{"id": "m", "output_tokens": 50}]});
        let log = read(&[header(1), named, grown, total, turned(2, 50, 1, "known")]);
        assert_eq!(outputs(&log), [(50, Grade::Known), (10, Grade::Known), (1, Grade::Known)]);
        assert!(!log.turns.at(1).record.counts_as_turn);
        assert_eq!(log.health.repeats, 1);
    }

    #[test]
    fn a_newer_version_is_not_guessed_at() {
        let log = read(&[json!({"format": "flyball-trace", "version": 2}), turned(1, 10, 5, "known")]);
        assert_eq!((log.turns.len(), log.health.unknown_types), (0, 1));
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..200, mark in any::<char>()) {
            let mut reader = Reader::default();
            for text in [turned(1, 10, 5, "known").to_string(), json!({"kind": "settled", "total_tokens": 9}).to_string()] {
                let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
                let _ = reader.line(&text);
            }
            let _ = reader.finish();
        }
    }
}
