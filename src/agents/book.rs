//! The book of one file: rows and totals in, each call once with its grade out.
//!
//! Every reader writes into a [`Book`], so that each of the ways in which programs tell the same tokens twice, late, in
//! sum or not at all is dealt with once:
//!
//! * rows of one message that repeat or grow: a call is a key, and its counts are the largest of its rows;
//! * start values: a call whose rows are none of them final is [unknown](Grade::Unknown), with an output of zero;
//! * closing totals, of a stretch or running on ([`counter`](super::counter)): each becomes a [`Sum`] with the calls that it counts, which
//!   [`join`](super::join()) settles when all files are there;
//! * numbers that cannot be: refused, counted, the call is unknown;
//! * text and names: kept once, shared.
//!
//! It reads no line and knows no format. Copies in other files are [`join`](super::join())'s.
//!
//! Units: tokens, milliseconds of Unix time, millionths of a USD.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::counter::{Counter, Fall};
use super::log::{Closing, Coverage, Log, LogTurn, Sum, TurnKey};
use super::loose::{Count, MAX_PER_CALL, Price};
use super::{Format, Health};
use crate::engine::{Grade, MicroUsd, Timestamp, Tokens, TurnRecord};

/// What a row or a total states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Output, reasoning included.
    pub output: Count,
    /// Input outside the cache.
    pub input: Count,
    /// Read from the cache.
    pub cache_read: Count,
    /// Written to the cache.
    pub cache_write: Count,
    /// The part of the output that was reasoning.
    pub reasoning: Count,
    /// What it cost.
    pub cost: Price,
}

impl Usage {
    /// Every count is zero or not there: nothing was measured. An answer costs input at least.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let counts = [self.output, self.input, self.cache_read, self.cache_write, self.reasoning];
        counts.iter().all(|count| matches!(count, Count::Absent | Count::Of(0)))
    }
}

/// By what a row's call is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key<'a> {
    /// A message id; rows of one id are one call.
    Message(&'a str),
    /// Running totals after the call.
    Totals([u64; 5]),
    /// Nothing: the row is a call.
    #[default]
    Own,
}

/// One row about a call.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// By what the call is known.
    pub key: Key<'a>,
    /// The session.
    pub session: Option<&'a str>,
    /// When the request was sent; the first row's stands.
    pub start: Option<Timestamp>,
    /// When the row's part of the answer was complete; the last row's stands.
    pub end: Option<Timestamp>,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// The effort recorded.
    pub effort: Option<&'a str>,
    /// The counts.
    pub usage: Usage,
    /// The counts are final, as far as the program says.
    pub last: bool,
    /// A subagent's call: in totals over all, not in totals of the main chain.
    pub side: bool,
}

/// How a closing statement counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Since the statement before.
    #[default]
    Stretch,
    /// Since the process, thread or session began; what a lower figure means.
    Running(Fall),
}

/// A closing statement; by default one that states nothing.
#[derive(Clone, Debug, Default)]
pub struct Total<'a> {
    /// The statement's own id.
    pub id: Option<&'a str>,
    /// The session.
    pub session: Option<&'a str>,
    /// When.
    pub time: Option<Timestamp>,
    /// Output by model; `None` is all models together.
    pub output: Vec<(Option<&'a str>, Count)>,
    /// The output is that of the main chain alone.
    pub main_only: bool,
    /// Output of this stretch at least, where it is stated beside running totals: more than they grew by tells a new process.
    pub stretch: Count,
    /// Over what the output counts.
    pub extent: Extent,
    /// Cost, over the process.
    pub cost: Price,
    /// Whether the program said that it went well.
    pub ok: Option<bool>,
    /// It ends a run, and is not a note on the way.
    pub result: bool,
    /// By what a settle-up of it is known in other files.
    pub key: Key<'a>,
}

#[derive(Debug)]
struct Call {
    key: TurnKey,
    session: Option<Arc<str>>,
    model: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    last: bool,
    side: bool,
    output: Option<u64>,
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
    cost: Option<MicroUsd>,
}

/// A total that waits for the file's end: later rows may still make calls known.
#[derive(Debug)]
struct Waiting {
    from: usize,
    until: usize,
    model: Option<Arc<str>>,
    main_only: bool,
    output: u64,
    session: Option<Arc<str>>,
    time: Option<Timestamp>,
    key: TurnKey,
}

/// A call that a row has just changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The call, as its rows so far tell it.
    pub turn: LogTurn,
    /// The largest output that a row of it had, final or not.
    pub begun: Option<Tokens>,
    /// A subagent's call.
    pub side: bool,
}

/// The two methods of a reader that let its calls be seen while it reads; for an `impl` whose type has a `book`.
macro_rules! watched {
    ($format:expr) => {
        /// From now on the calls can be seen while it reads.
        pub fn watch(&mut self) {
            self.book.watch();
        }

        /// Hands over the calls that changed since it was last asked.
        pub fn drain_touched(&mut self, out: &mut Vec<crate::agents::book::Touched>) {
            self.book.drain_touched($format, out);
        }
    };
}
pub(crate) use watched;

type Counters = BTreeMap<(Option<Arc<str>>, Option<Arc<str>>), Counter>;

/// The book of one file.
#[derive(Debug, Default)]
pub struct Book {
    calls: Vec<Call>,
    places: BTreeMap<Arc<str>, usize>,
    names: BTreeSet<Arc<str>>,
    waiting: Vec<Waiting>,
    closings: Vec<Closing>,
    results: u64,
    outputs: Counters,
    costs: BTreeMap<Option<Arc<str>>, Counter>,
    settled_until: usize,
    versions: BTreeSet<Arc<str>>,
    lineage: BTreeSet<Arc<str>>,
    forked: bool,
    last_time: Option<Timestamp>,
    /// Places of calls that changed; kept only where somebody watches.
    touched: Option<Vec<usize>>,
    /// What was odd so far.
    pub health: Health,
}

impl Book {
    /// Says that a line had this time, whatever the line was.
    pub fn saw(&mut self, time: Option<Timestamp>) {
        self.last_time = self.last_time.max(time);
    }

    /// Says that the program names this version of itself.
    pub fn version(&mut self, version: Option<&str>) {
        if let Some(version) = version
            && !self.versions.contains(version)
        {
            let version = self.name(version);
            self.versions.insert(version);
        }
    }

    /// Says that the file belongs to this session, or to one that descends from it.
    pub fn session(&mut self, session: Option<&str>) {
        if let Some(session) = session
            && !self.lineage.contains(session)
        {
            let session = self.name(session);
            self.lineage.insert(session);
        }
    }

    /// Says that the file continues the history of another session.
    pub const fn forked(&mut self) {
        self.forked = true;
    }

    /// Says to which session the rows so far belong that named none.
    pub fn belong_to(&mut self, session: Option<&str>) {
        self.session(session);
        let session = self.maybe(session);
        for call in self.calls.iter_mut().filter(|call| call.session.is_none()) {
            call.session.clone_from(&session);
        }
    }

    /// Takes one row about a call.
    pub fn row(&mut self, row: &Row<'_>) {
        self.session(row.session);
        let place = self.place(row);
        let (session, model, effort) = (self.maybe(row.session), self.maybe(row.model), self.maybe(row.effort));
        let call = &mut self.calls[place];
        call.session = session.or(call.session.take());
        call.model = model.or(call.model.take());
        call.effort = effort.or(call.effort.take());
        call.end = call.end.max(row.end);
        call.last |= row.last;
        call.side |= row.side;
        let usage = &row.usage;
        let parts = [
            (&mut call.output, usage.output),
            (&mut call.input, usage.input),
            (&mut call.cache_read, usage.cache_read),
            (&mut call.cache_write, usage.cache_write),
            (&mut call.reasoning, usage.reasoning),
        ];
        for (part, stated) in parts {
            let stated = stated.within(MAX_PER_CALL);
            self.health.bad_numbers += u64::from(stated == Count::Bad);
            *part = (*part).max(stated.get());
        }
        self.health.bad_numbers += u64::from(usage.cost == Price::Bad);
        call.cost = call.cost.max(usage.cost.get());
        if let Some(touched) = self.touched.as_mut().filter(|touched| touched.last() != Some(&place)) {
            touched.push(place);
        }
    }

    /// From now on, keeps which calls change.
    pub fn watch(&mut self) {
        self.touched.get_or_insert_default();
    }

    /// Hands over the calls that changed since it was last asked, each once, in the order of their first rows.
    pub fn drain_touched(&mut self, format: Format, out: &mut Vec<Touched>) {
        let Some(touched) = &mut self.touched else { return };
        touched.sort_unstable();
        touched.dedup();
        let fallback = self.last_time.unwrap_or(Timestamp::EPOCH);
        out.extend(touched.drain(..).map(|place| {
            let call = &self.calls[place];
            let turn = LogTurn { key: call.key.clone(), record: call.record(format, fallback) };
            Touched { turn, begun: call.output.map(Tokens::new), side: call.side }
        }));
    }

    /// Where the row's call stands; a new one is opened where it is new.
    fn place(&mut self, row: &Row<'_>) -> usize {
        let known = match row.key {
            Key::Message(id) => self.places.get(id).copied(),
            Key::Totals(_) | Key::Own => None,
        };
        if let Some(place) = known {
            self.health.repeats += 1;
            return place;
        }
        let place = self.calls.len();
        let key = self.key(row.key, row.end, place);
        if let TurnKey::Message(id) = &key {
            self.places.insert(Arc::clone(id), place);
        }
        self.calls.push(Call {
            key,
            session: None,
            model: None,
            effort: None,
            start: row.start,
            end: None,
            last: false,
            side: false,
            output: None,
            input: None,
            cache_read: None,
            cache_write: None,
            reasoning: None,
            cost: None,
        });
        place
    }

    fn key(&self, key: Key<'_>, at: Option<Timestamp>, nth: usize) -> TurnKey {
        match key {
            Key::Message(id) => TurnKey::Message(id.into()),
            Key::Totals(totals) => TurnKey::Totals(totals),
            Key::Own => TurnKey::Place { at: at.or(self.last_time).unwrap_or(Timestamp::EPOCH), nth },
        }
    }

    /// Whether running totals are those of a new process, though none of them fell: the stretch alone has clearly more than they grew by,
    /// and no more than they say. Programs add a few tokens of a broken try to a stretch; that tells nothing.
    fn begins_anew(&self, total: &Total<'_>, session: Option<&Arc<str>>) -> bool {
        let (Extent::Running(Fall::Restart), Some(stretch)) = (total.extent, total.stretch.get()) else { return false };
        let (mut figures, mut grew, mut known) = (0_u64, 0_u64, false);
        for &(model, output) in &total.output {
            let figure = output.get().unwrap_or(0);
            let place = (session.cloned(), model.map(Arc::from));
            let counter = self.outputs.get(&place).copied();
            known |= counter.is_some();
            figures = figures.saturating_add(figure);
            grew = grew.saturating_add(counter.unwrap_or_default().take(figure, Fall::Restart).added);
        }
        known && figures >= stretch && stretch > grew.saturating_add(grew / 10).saturating_add(100)
    }

    /// Takes a closing statement.
    pub fn total(&mut self, total: &Total<'_>) {
        self.session(total.session);
        let session = self.maybe(total.session);
        let (from, until) = (self.settled_until, self.calls.len());
        if self.begins_anew(total, session.as_ref()) {
            self.health.falls += 1;
            self.outputs.retain(|(of, _), _| *of != session);
            self.costs.remove(&session);
        }
        let mut stated = None;
        for &(model, output) in &total.output {
            self.health.bad_numbers += u64::from(output == Count::Bad);
            let Some(figure) = output.get() else { continue };
            let model = self.maybe(model);
            let output = match total.extent {
                Extent::Stretch => figure,
                Extent::Running(fall) => {
                    let counter = self.outputs.entry((session.clone(), model.clone())).or_default();
                    let step = counter.take(figure, fall);
                    self.health.falls += u64::from(step.fell);
                    step.added
                }
            };
            stated = Some(stated.unwrap_or(Tokens::ZERO).plus(Tokens::new(output)));
            let key = match total.id {
                // one statement may count several models
                Some(id) => TurnKey::Message(format!("{id} {}", model.as_deref().unwrap_or("")).into()),
                None => self.key(total.key, total.time, until + self.waiting.len()),
            };
            let (time, session) = (total.time.or(self.last_time), session.clone());
            self.waiting.push(Waiting { from, until, model, main_only: total.main_only, output, session, time, key });
        }
        if stated.is_some() {
            self.settled_until = until;
        }
        self.health.bad_numbers += u64::from(total.cost == Price::Bad);
        let cost = total.cost.get().map(|cost| {
            let counter = self.costs.entry(session.clone()).or_default();
            MicroUsd::new(counter.take(cost.count(), Fall::Restart).added)
        });
        let id = self.maybe(total.id);
        self.results += u64::from(total.result);
        self.closings.push(Closing { id, session, ok: total.ok, output: stated, cost, result: total.result });
    }

    fn maybe(&mut self, name: Option<&str>) -> Option<Arc<str>> {
        name.map(|name| self.name(name))
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        // a name goes into tables: what moves a terminal's cursor is no part of it
        let plain: Arc<str> = if name.chars().any(char::is_control) {
            name.replace(char::is_control, "\u{FFFD}").into()
        } else {
            name.into()
        };
        self.names.insert(Arc::clone(&plain));
        plain
    }

    /// Closes the file, and hands everything over.
    #[must_use]
    pub fn close(mut self, format: Format) -> Log {
        let fallback = self.last_time.unwrap_or(Timestamp::EPOCH);
        let mut turns: Vec<LogTurn> = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            self.health.bad_times += u64::from(call.end.is_none());
            turns.push(LogTurn { key: call.key.clone(), record: call.record(format, fallback) });
        }
        let (sums, stated) = self.sums(&turns, fallback);
        let unknown = turns.iter().filter(|turn| turn.record.grade == Grade::Unknown).count();
        self.health.placeholders += u64::try_from(unknown).unwrap_or(u64::MAX);
        Log {
            format,
            versions: self.versions,
            lineage: self.lineage,
            forked: self.forked,
            turns,
            sums,
            closings: self.closings,
            results: self.results,
            stated,
            health: self.health,
        }
    }

    /// What is stated in sum, with the calls that each statement counts, and how much of it these tell.
    fn sums(&mut self, turns: &[LogTurn], fallback: Timestamp) -> (Vec<Sum>, Option<Coverage>) {
        let (mut sums, mut coverage) = (Vec::with_capacity(self.waiting.len()), None);
        for waiting in core::mem::take(&mut self.waiting) {
            let mine = |at: &usize| {
                let call = &self.calls[*at];
                let apart = call.session.is_some() && waiting.session.is_some() && call.session != waiting.session;
                let model = waiting.model.as_deref().zip(call.model.as_deref());
                let outside = apart || waiting.main_only && call.side;
                !outside && (waiting.model.is_none() || model.is_some_and(|(one, other)| same_model(one, other)))
            };
            let places: Vec<usize> = (waiting.from..waiting.until).filter(mine).collect();
            let known = places.iter().map(|&at| &turns[at].record).filter(|record| record.grade == Grade::Known);
            let counted = known.fold(Tokens::ZERO, |sum, record| sum.plus(record.output));
            let stated = Tokens::new(waiting.output);
            self.health.surplus += counted.minus(stated).count();
            coverage = Some(coverage.unwrap_or(Coverage::default()).plus(Coverage { counted, stated }));
            let begun = |at: usize| (at, Tokens::new(self.calls[at].output.unwrap_or(0)));
            sums.push(Sum {
                key: waiting.key,
                calls: places.into_iter().map(begun).collect(),
                session: waiting.session,
                model: waiting.model,
                at: waiting.time.unwrap_or(fallback),
                output: stated,
            });
        }
        (sums, coverage)
    }
}

/// Whether two names mean one model: a total may name it with its date or its context size, such as `claude-x-20260101` or `claude-x[1m]`.
pub(super) fn same_model(one: &str, other: &str) -> bool {
    fn plain(name: &str) -> &str {
        let name = name.split('[').next().unwrap_or(name);
        match name.rsplit_once('-') {
            Some((plain, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => plain,
            _ => name,
        }
    }
    plain(one) == plain(other)
}

impl Call {
    fn record(&self, format: Format, fallback: Timestamp) -> TurnRecord {
        let known = self.output.filter(|_| self.last);
        let end = self.end.unwrap_or(fallback);
        let mut record = TurnRecord::new(1, end, Tokens::new(known.unwrap_or(0)), format.name());
        record.grade = if known.is_some() { Grade::Known } else { Grade::Unknown };
        record.id = match &self.key {
            TurnKey::Message(id) => Some(Arc::clone(id)),
            TurnKey::Totals(_) | TurnKey::Place { .. } => None,
        };
        record.session.clone_from(&self.session);
        record.start = self.start.filter(|&start| self.end.is_some() && start <= end);
        record.model.clone_from(&self.model);
        record.effort_confirmed.clone_from(&self.effort);
        record.input = self.input.map(Tokens::new);
        record.cache_read = self.cache_read.map(Tokens::new);
        record.cache_write = self.cache_write.map(Tokens::new);
        record.reasoning = self.reasoning.map(Tokens::new);
        record.cost = self.cost;
        record
    }
}

#[cfg(test)]
mod tests;
