//! What the model server answers: a script of turns, taken one by one by the requests that carry tools.
//!
//! Counts are tokens as the API of the request states them; every turn says which round of the loop it belongs to, so
//! that what a runner recorded can be compared with what was stated, round by round.

use std::time::Duration;

/// What one turn does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A final answer.
    Text,
    /// One call of the CLI's shell tool with this command line.
    Shell(String),
    /// One call of the CLI's tool for sub-agents, with this prompt.
    SubAgent(String),
    /// One call of the CLI's tool that waits for sub-agents.
    Await,
    /// An HTTP error instead of an answer.
    Error { status: u16, message: String, code: Option<&'static str> },
    /// The model declines.
    Refusal,
    /// The stream is cut by the server after this many events.
    Drop(usize),
    /// After this many events nothing more comes, and the connection stays open.
    Stall(usize),
}

/// Whose request a turn answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Anyone,
    /// The agent's own, where it runs beside its sub-agents.
    Agent,
    /// A sub-agent's that runs beside its parent.
    SubAgent,
}

/// One turn of the script.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The round that it belongs to, from 1.
    pub round: u64,
    pub whose: Whose,
    pub act: Act,
    /// Input tokens, without those read from a cache.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Of the output, tokens of thinking.
    pub thinking: u64,
    /// The answer's words, sent one an event.
    pub text: String,
    /// How long the whole stream takes.
    pub lasts: Duration,
}

impl Turn {
    fn new(round: u64, act: Act, output: u64) -> Self {
        let text = match act {
            Act::Text => "All is done.",
            _ => "Running a step.",
        };
        Self {
            round,
            whose: Whose::Anyone,
            act,
            input: 1_000 + output % 97,
            cached: 200,
            output,
            thinking: output / 4,
            text: text.into(),
            lasts: Duration::ZERO,
        }
    }

    pub fn text(round: u64, output: u64) -> Self {
        Self::new(round, Act::Text, output)
    }

    pub fn shell(round: u64, output: u64, command: &str) -> Self {
        Self::new(round, Act::Shell(command.into()), output)
    }

    pub fn sub_agent(round: u64, output: u64) -> Self {
        Self::new(round, Act::SubAgent("Do the part, then say done.".into()), output)
    }

    pub fn wait(round: u64, output: u64) -> Self {
        Self::new(round, Act::Await, output)
    }

    /// The same for this requester alone.
    pub fn whose(self, whose: Whose) -> Self {
        Self { whose, ..self }
    }

    pub fn refusal(round: u64, output: u64) -> Self {
        Self::new(round, Act::Refusal, output)
    }

    pub fn stall(round: u64, output: u64, after: usize) -> Self {
        Self { text: WORDS.into(), ..Self::new(round, Act::Stall(after), output) }
    }

    pub fn drop(round: u64, output: u64, after: usize) -> Self {
        Self { text: WORDS.into(), ..Self::new(round, Act::Drop(after), output) }
    }

    /// A text whose words come slowly.
    pub fn slow(round: u64, output: u64, lasts: Duration) -> Self {
        Self { text: WORDS.into(), lasts, ..Self::text(round, output) }
    }

    pub fn error(status: u16) -> Self {
        let act = Act::Error { status, message: format!("the script says {status}"), code: None };
        Self { input: 0, cached: 0, ..Self::new(0, act, 0) }
    }

    /// The request is larger than the model's context, in the words of the API that is asked.
    pub fn overflow() -> Self {
        let message = "prompt is too long: 215000 tokens > 200000 maximum".into();
        let act = Act::Error { status: 400, message, code: Some("context_length_exceeded") };
        Self { input: 0, cached: 0, ..Self::new(0, act, 0) }
    }
}

/// A text of many events.
const WORDS: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";

/// The whole script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Answers in order.
    pub turns: Vec<Turn>,
    /// What every later request is answered with; a short text where there is nothing.
    pub ever: Option<Turn>,
}

impl Script {
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns, ever: None }
    }

    pub fn ever(turn: Turn) -> Self {
        Self { turns: Vec::new(), ever: Some(turn) }
    }

    /// Takes the next turn for this requester.
    pub fn take(&mut self, whose: Whose) -> Turn {
        let next = self.turns.iter().position(|turn| turn.whose == Whose::Anyone || turn.whose == whose);
        let next = next.map(|at| self.turns.remove(at));
        next.or_else(|| self.ever.clone()).unwrap_or_else(|| Turn::text(u64::MAX, 7))
    }
}
