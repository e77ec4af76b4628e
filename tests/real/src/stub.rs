//! A model server on loopback that answers from a script and keeps what it was asked and what it stated.
//!
//! Requests that carry tools take the turns of the script in order. Others (titles, probes) get a short answer of a
//! count that no turn of a script has, and are kept as hidden calls.

use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Answer, Api};
use crate::http::{self, Request};
use crate::script::{Act, Script, Turn, Whose};

/// Output tokens of an answer to a request that no turn is for.
pub const HIDDEN: u64 = 5;

/// Numbers of answers, so that no identifier comes twice in a run of all cases.
static ANSWERS: AtomicU64 = AtomicU64::new(1);

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// A turn of the script, by number from 0.
    Turn(usize),
    /// A call that the CLI makes beside its turns.
    Hidden,
    /// No call of a model.
    Other,
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Duration,
    pub path: String,
    pub of: For,
    pub model: String,
    pub effort: Option<String>,
    pub thinking: Value,
    pub tools: usize,
    pub status: u16,
    /// The turn, where the script or the hidden answer was used.
    pub turn: Option<Turn>,
    /// The whole answer went out, so that its counts were stated.
    pub whole: bool,
}

impl Seen {
    /// A turn of the script whose counts the client was told.
    pub fn stated(&self) -> Option<&Turn> {
        let turn = self.turn.as_ref()?;
        (self.whole && self.status == 200 && matches!(self.of, For::Turn(_))).then_some(turn)
    }

    fn digest(&self) -> Value {
        let (of, number) = match self.of {
            For::Turn(number) => ("turn", Some(number)),
            For::Hidden => ("hidden", None),
            For::Other => ("other", None),
        };
        let stated = self.turn.as_ref().filter(|_| self.whole && self.status == 200).map(|turn| {
            let [input, cached, output, thinking] = [turn.input, turn.cached, turn.output, turn.thinking];
            json!({"input": input, "cached": cached, "output": output, "thinking": thinking})
        });
        json!({
            "at_ms": u64::try_from(self.at.as_millis()).unwrap_or(u64::MAX), "path": self.path, "for": of, "turn": number,
            "round": self.turn.as_ref().map(|turn| turn.round), "model": self.model, "effort": self.effort,
            "thinking": self.thinking, "tools": self.tools, "status": self.status, "whole": self.whole, "stated": stated,
        })
    }
}

struct State {
    began: Instant,
    seen: Mutex<Seens>,
    changed: Condvar,
    over: AtomicBool,
}

struct Seens {
    script: Script,
    all: Vec<Seen>,
    turns: usize,
}

impl State {
    fn seen(&self) -> MutexGuard<'_, Seens> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that runs until it is dropped.
pub struct Stub {
    state: Arc<State>,
    port: u16,
}

impl Stub {
    /// Starts to listen on a free port of loopback.
    ///
    /// # Errors
    /// No port can be had.
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            began: Instant::now(),
            seen: Mutex::new(Seens { script, all: Vec::new(), turns: 0 }),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let of = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if of.over.load(Ordering::SeqCst) {
                    break;
                }
                if let Ok(stream) = stream {
                    let of = Arc::clone(&of);
                    thread::spawn(move || {
                        // a client that goes away in the middle is a thing that clients do
                        let _ = serve(&of, stream);
                    });
                }
            }
        });
        Ok(Self { state, port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// All that was asked so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen().all.clone()
    }

    /// Waits until this many turns of the script were asked for; false when the time is over first.
    pub fn wait_for_turns(&self, turns: usize, most: Duration) -> bool {
        let seen = self.state.seen();
        let waited = self.state.changed.wait_timeout_while(seen, most, |seen| seen.turns < turns);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// The digest of every request, a JSON line each.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, to: &Path) -> io::Result<()> {
        let lines: Vec<String> = self.state.seen().all.iter().map(|seen| format!("{}\n", seen.digest())).collect();
        std::fs::write(to, lines.concat())
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        // wakes the listener, which then looks at the mark
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(state: &State, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    while let Some(request) = http::read(&mut from)? {
        if !reply(state, &request, &mut to)? {
            return to.shutdown(std::net::Shutdown::Both);
        }
    }
    Ok(())
}

/// Answers one request; false where the connection ends with the answer.
fn reply(state: &State, request: &Request, to: &mut TcpStream) -> io::Result<bool> {
    let path = request.path.split('?').next().unwrap_or_default();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(api) = Api::of(&request.path).filter(|_| request.method == "POST") else {
        let websocket = request.header("upgrade").is_some();
        let (status, json) = if path.ends_with("/count_tokens") {
            (200, json!({"input_tokens": 1234}))
        } else if path.ends_with(":countTokens") {
            (200, json!({"totalTokens": 1234}))
        } else if websocket {
            (426, json!({"error": {"message": "no websocket here"}}))
        } else if path.ends_with("/models") {
            (200, json!({"object": "list", "data": [], "has_more": false}))
        } else if request.method == "HEAD" {
            (200, json!({}))
        } else {
            (404, json!({"error": {"type": "not_found_error", "message": "no such path"}}))
        };
        note(state, request, None, status);
        http::answer(to, status, &json.to_string(), request.method != "HEAD")?;
        return Ok(true);
    };
    let (at, turn) = note(state, request, Some((api, &body)), 200);
    let turn = turn.unwrap_or_else(|| Turn::text(0, HIDDEN));
    let model = api.model(&request.path, &body);
    let call = api.call(&turn, &api.tools(&body));
    let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let answer = Answer { turn: &turn, model: &model, call, number };
    if let Act::Error { status, message, code } = &turn.act {
        state.seen().all[at].status = *status;
        http::answer(to, *status, &api.error(*status, message, *code).to_string(), true)?;
        return Ok(true);
    }
    if !api.streams(&request.path, &body) {
        http::answer(to, 200, &api.whole(&answer).to_string(), true)?;
        state.seen().all[at].whole = true;
        return Ok(true);
    }
    http::stream(to)?;
    if send(state, api, &answer, to)? {
        state.seen().all[at].whole = true;
    }
    Ok(false)
}

/// Keeps a request; gives its place and, where it takes one, its turn.
fn note(state: &State, request: &Request, call: Option<(Api, &Value)>, status: u16) -> (usize, Option<Turn>) {
    let path = &request.path;
    let mut seen = state.seen();
    // the only CLI whose sub-agents run beside it says so in a header
    let whose = if request.header("x-openai-subagent").is_some() { Whose::SubAgent } else { Whose::Agent };
    let tools = call.map_or(0, |(api, body)| api.tools(body).len());
    let of = match call {
        None => For::Other,
        Some(_) if tools == 0 => For::Hidden,
        Some(_) => {
            seen.turns += 1;
            For::Turn(seen.turns - 1)
        }
    };
    let turn = match of {
        For::Turn(_) => Some(seen.script.take(whose)),
        For::Hidden => Some(Turn::text(0, HIDDEN)),
        For::Other => None,
    };
    seen.all.push(Seen {
        at: state.began.elapsed(),
        path: path.clone(),
        of,
        model: call.map_or_else(String::new, |(api, body)| api.model(path, body)),
        effort: call.and_then(|(api, body)| api.effort(body)),
        thinking: call.map_or(Value::Null, |(api, body)| api.thinking(body)),
        tools,
        status,
        turn: turn.clone(),
        whole: false,
    });
    state.changed.notify_all();
    (seen.all.len() - 1, turn)
}

/// Sends the events of an answer; true when all of them went out.
fn send(state: &State, api: Api, answer: &Answer<'_>, to: &mut TcpStream) -> io::Result<bool> {
    let frames = api.events(answer);
    let count = match answer.turn.act {
        Act::Drop(after) | Act::Stall(after) => after.min(frames.len()),
        _ => frames.len(),
    };
    let gap = answer.turn.lasts / u32::try_from(frames.len()).unwrap_or(u32::MAX).max(1);
    for frame in &frames[..count] {
        let name = frame.name.map_or_else(String::new, |name| format!("event: {name}\n"));
        to.write_all(format!("{name}data: {}\n\n", frame.data).as_bytes())?;
        to.flush()?;
        if !gap.is_zero() && gone(state, to, gap)? {
            return Ok(false);
        }
    }
    match answer.turn.act {
        Act::Stall(_) => {
            while !gone(state, to, Duration::from_millis(200))? {}
            Ok(false)
        }
        Act::Drop(_) => Ok(false),
        _ => Ok(true),
    }
}

/// Waits, and says whether the client (or the server) went away meanwhile.
fn gone(state: &State, to: &TcpStream, wait: Duration) -> io::Result<bool> {
    to.set_read_timeout(Some(wait))?;
    let mut byte = [0];
    let over = match to.peek(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    };
    to.set_read_timeout(None)?;
    Ok(over || state.over.load(Ordering::SeqCst))
}
