//! The end of a round: all sources joined, and what that changes of what landed.

use std::sync::Arc;

use super::super::join::join;
use super::super::log::{Coverage, Log, LogTurn};
use super::sign::Signs;
use super::{
    AgentKind, Closed, Landed, Ledger, Live, Open, Place, ProcessEnd, Source, has_calls, only_in_files, plain,
};
use crate::engine::{Grade, RoundExit, Timestamp, Tokens, TurnRecord, counted};

/// Bytes of text in a token, about, where nobody counts.
const BYTES_PER_TOKEN: u64 = 4;

/// The logs of a round, each with the place of its source.
struct Logs {
    logs: Vec<Log>,
    places: Vec<usize>,
}

impl Live {
    /// The round is over. `cut`: it was ended by us.
    #[must_use]
    pub fn close(mut self, end: ProcessEnd, cut: bool) -> Closed {
        let mut last = Vec::new();
        self.finish_lines(&mut last);
        let Self { kind, signs, sources, mut ledger, .. } = self;
        let counts_live = signs.as_ref().is_some_and(Signs::counts_live);
        let closes = signs.as_ref().is_some_and(Signs::closes);
        let known = signs.is_some();
        let logs = logs(kind, &ledger, sources);
        let mut joined = join(&logs.logs);
        // what came with the last half lines did not reach anybody
        let mut late: Vec<TurnRecord> = Vec::new();
        for landed in last {
            if let Landed::Turn(record) = landed {
                ledger.take_back(&record);
            }
        }
        let mut notes: Vec<String> = ledger.passed_over(&joined.health).into_iter().collect();
        let pieces = signs.as_ref().is_none_or(Signs::prints_pieces);
        let mut estimated = ledger.estimate(&mut joined.turns, cut, counts_live, pieces);
        // a program may print an answer and say nothing of its call
        if let Some(record) = ledger.silent(&joined.turns, cut && estimated == 0) {
            estimated += 1;
            late.push(record);
        }
        if estimated > 0 {
            notes.push(format!("calls that broke off before their counts were stated, and are estimated: {estimated}"));
        }
        let mut named = Vec::new();
        let mut total = late.iter().fold(Tokens::ZERO, |sum, record| sum.plus(record.output));
        for (record, &file) in joined.turns.into_iter().zip(&joined.files) {
            total = total.plus(record.output);
            match ledger.landed_as(&record, logs.places[file]) {
                None => late.push(record),
                Some(output) if output < record.output => named.extend(record.id.map(|id| (id, record.output))),
                Some(_) => {}
            }
        }
        let mut coverage = joined.stated.unwrap_or_default();
        let calls = ledger.landed.len() + late.len();
        if let Some(unknown) = ledger.unmetered(kind, known, calls, &logs.logs) {
            notes.push("nothing tells what the round's requests came to".to_owned());
            // nothing of something: whatever it was, it was not counted
            coverage = Coverage { counted: Tokens::ZERO, stated: coverage.stated.plus(Tokens::new(1)) };
            late.push(unknown);
        }
        let (exit, why) = ledger.verdict(end, cut, known, closes);
        let error = (exit == RoundExit::Failed).then(|| ledger.error(why.as_deref())).flatten();
        let version =
            ledger.version.take().or_else(|| logs.logs.iter().rev().find_map(|log| log.versions.last().cloned()));
        Closed {
            late,
            total: (!named.is_empty()).then_some((total, named)),
            coverage,
            exit,
            why,
            error,
            confirmed: ledger.effort,
            model: ledger.answered.or(ledger.model),
            version,
            notes,
            cost: joined.cost,
        }
    }
}

/// Finishes the readers. A file of another session that was followed by mistake is left out.
fn logs(kind: AgentKind, ledger: &Ledger, sources: Vec<Source>) -> Logs {
    let mut read = Logs { logs: Vec::with_capacity(sources.len()), places: Vec::with_capacity(sources.len()) };
    for (place, source) in sources.into_iter().enumerate() {
        let Ok(mut log) = source.reader.finish() else { continue };
        if kind == AgentKind::Gemini && place > 0 && ledger.session.is_some() {
            // a subagent's calls are under a session of its own, and are in the sum of the round's
            let mine = |mut turn: LogTurn| {
                turn.record.session.clone_from(&ledger.session);
                turn
            };
            log.turns = log.turns.iter().map(mine).collect();
        }
        let told =
            ledger.session.as_ref().filter(|_| kind == AgentKind::Copilot && place > 0 && !log.lineage.is_empty());
        if told.is_none_or(|session| log.lineage.contains(session)) {
            read.logs.push(log);
            read.places.push(place);
        }
    }
    read
}

impl Ledger {
    /// Forgets that a record landed.
    fn take_back(&mut self, record: &TurnRecord) {
        match &record.id {
            Some(id) => drop(self.landed.remove(&Place::Message(Arc::clone(id)))),
            None => drop(self.nameless.pop()),
        }
    }

    /// With what count a record landed.
    fn landed_as(&mut self, record: &TurnRecord, source: usize) -> Option<Tokens> {
        if let Some(id) = &record.id {
            return self.landed.get(&Place::Message(Arc::clone(id))).copied();
        }
        let same = |&(from, end, output): &(usize, Timestamp, Tokens)| {
            (from, end, output) == (source, record.end, record.output)
        };
        let at = self.nameless.iter().position(same)?;
        Some(self.nameless.swap_remove(at).2)
    }

    /// Estimates calls that were begun and never counted; how many.
    fn estimate(&mut self, turns: &mut [TurnRecord], cut: bool, counts_live: bool, pieces: bool) -> usize {
        let open = |ledger: &Self, record: &TurnRecord| -> Option<Open> {
            let id = record.id.as_ref()?;
            ledger.open.get(&Place::Message(Arc::clone(id))).copied()
        };
        let broke = |ledger: &Self, record: &TurnRecord| {
            let open = open(ledger, record);
            let side = open.is_some_and(|open| open.side);
            let never = record.grade == Grade::Unknown || (open.is_some() && record.grade == Grade::Estimated);
            record.counts_as_turn && never && (record.grade == Grade::Unknown || !side) && (cut || counts_live)
        };
        let places: Vec<usize> = (0..turns.len()).filter(|&at| broke(self, &turns[at])).collect();
        // the last is the one that was cut; it alone may go by what was printed without a name
        let last = places.iter().copied().max_by_key(|&at| (turns[at].start, turns[at].end, at));
        // where nothing is printed before a call is over, the one that was cut is taken for one like the others
        let usual = if pieces { Tokens::ZERO } else { mean(turns) };
        for &at in &places {
            let named = turns[at].id.as_deref().and_then(|id| self.printed.get(id).copied());
            let nameless = || self.printed.get("").copied().filter(|_| last == Some(at));
            let (bytes, stated) = named.or_else(nameless).unwrap_or_default();
            let begun = open(self, &turns[at]).and_then(|open| open.begun).unwrap_or_default();
            let printed = Tokens::new(tokens(bytes).max(stated).max(1));
            let usual = if cut && last == Some(at) { usual } else { Tokens::ZERO };
            let record = &mut turns[at];
            record.output = record.output.max(begun).max(printed).max(usual);
            record.grade = Grade::Estimated;
            record.counts_as_turn = cut && last == Some(at) || !counts_live;
        }
        places.len()
    }

    /// A call that was cut while its answer was printed and that no source tells; `cut` says that there is one.
    fn silent(&self, turns: &[TurnRecord], cut: bool) -> Option<TurnRecord> {
        let &(bytes, stated) = self.printed.get("").filter(|&&(bytes, stated)| cut && (bytes > 0 || stated > 0))?;
        let end = turns.iter().map(|turn| turn.end).max().unwrap_or(Timestamp::EPOCH);
        let mut record = TurnRecord::new(1, end, Tokens::new(tokens(bytes).max(stated).max(1)), "printed");
        (record.grade, record.session) = (Grade::Estimated, self.session.clone());
        Some(record)
    }

    /// What stands for a round of which nothing is known.
    fn unmetered(&self, kind: AgentKind, known: bool, calls: usize, logs: &[Log]) -> Option<TurnRecord> {
        let stated = logs.iter().any(|log| log.stated.is_some() || has_calls(log.format) && !log.turns.is_empty());
        let begun = self.requests > 0 || self.session.is_some();
        let hidden = only_in_files(kind) && begun && !logs.iter().any(|log| is_file(kind, log));
        let strange = kind == AgentKind::Command && !known && logs.is_empty();
        if calls > 0 || stated || !(hidden || strange) {
            return None;
        }
        let mut record = TurnRecord::new(1, Timestamp::EPOCH, Tokens::ZERO, "unmetered");
        record.grade = Grade::Unknown;
        Some(record)
    }

    /// What could not be read, for people.
    fn passed_over(&self, health: &super::super::Health) -> Option<String> {
        let lost = health.unreadable + health.too_long + health.not_utf8;
        (lost + health.bad_numbers > 0).then(|| {
            format!(
                "{} could not be read, and {} could not be believed",
                counted(lost, "line"),
                counted(health.bad_numbers, "count")
            )
        })
    }

    /// Whether it went well, and why not.
    fn verdict(&self, end: ProcessEnd, cut: bool, known: bool, closes: bool) -> (RoundExit, Option<String>) {
        let ending = &self.ending;
        let failed = ending.failed.clone().or_else(|| ending.why.clone().filter(|_| ending.ended == Some(false)));
        let complaint = || self.complaint.as_ref().map(|(_, line)| format!(": {line}")).unwrap_or_default();
        let why = match (end, ending.ended) {
            _ if failed.is_some() => failed,
            (ProcessEnd::Signalled(signal), _) => Some(format!("killed by signal {signal}")),
            (ProcessEnd::Exited(code), _) if code != 0 => {
                let trouble = ending.trouble.clone().map(|text| format!(": {text}"));
                Some(format!("exit code {code}{}", trouble.unwrap_or_else(complaint)))
            }
            (_, Some(false)) => Some("it says that it failed".to_owned()),
            (_, None) if known && closes => {
                let trouble = ending.trouble.clone().map(|text| format!(": {text}"));
                Some(format!("it ended without saying how{}", trouble.unwrap_or_else(complaint)))
            }
            (_, None) if known => Some(format!("it ended without an answer{}", complaint())),
            (_, Some(true) | None) => None,
        };
        let why = why.as_deref().map(plain);
        match (cut, why) {
            (true, why) => (RoundExit::Cut, why),
            (false, None) => (RoundExit::Done, None),
            (false, why) => (RoundExit::Failed, why),
        }
    }

    fn error(&self, why: Option<&str>) -> Option<String> {
        let own = self.ending.failed.as_deref().or(self.ending.why.as_deref()).or(self.ending.trouble.as_deref());
        let complaint = self.complaint.as_ref().map(|(_, line)| line.as_str());
        own.or(complaint).or(why).map(plain)
    }
}

/// Whether a log is one of the agent's files and not what it printed.
fn is_file(kind: AgentKind, log: &Log) -> bool {
    // what copilot prints has the same shape as its log, and names neither version nor count
    has_calls(log.format) && (kind != AgentKind::Copilot || !log.versions.is_empty())
}

/// Output per known turn.
fn mean(turns: &[TurnRecord]) -> Tokens {
    let known = || turns.iter().filter(|turn| turn.counts_as_turn && turn.grade == Grade::Known);
    let sum = known().fold(Tokens::ZERO, |sum, turn| sum.plus(turn.output)).count();
    let count = u64::try_from(known().count()).unwrap_or(u64::MAX);
    Tokens::new(sum.checked_div(count).unwrap_or(0))
}

/// Tokens of so many bytes, about.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}
