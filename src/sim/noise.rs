//! Noise by address: every uniform is a function of (seed, run, channel, round, place), and of nothing else.
//!
//! It is not a generator with a state. Nothing is consumed, so no law, no cell of a sweep and no order of calls can
//! shift what another one meets: they all meet the same luck, and differences between them are paired. The function is
//! Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011), checked
//! against its published vectors. Key: the low half of the seed, and the run. Counter: round, block, channel (high half:
//! attempt), high half of the seed. A block holds two uniforms. The numbers of [`Channel`] are fixed for ever.

/// Blocks that are computed side by side, as plain loops over arrays, which the compiler turns into vector code.
const LANES: usize = 8;
const MULTIPLIER: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// What a draw is for. Each purpose has a stream of its own, so that using more of one moves nothing in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Channel {
    /// Size of a turn, by turn.
    Size = 1,
    /// Which component of a mixture a turn comes from, by turn.
    Component = 2,
    /// Whether a turn is an outlier, by turn.
    Outlier = 3,
    /// Overhead of a turn, by turn.
    Overhead = 4,
    /// Tool time of a turn, by turn.
    Tool = 5,
    /// Normal and acceptance of one attempt at a gamma, by turn and attempt.
    GammaAttempt = 6,
    /// Boost of a gamma whose shape is below one, by turn.
    GammaBoost = 7,
    /// How many turns a round has, by round.
    TurnCount = 16,
    /// Session effect, by round.
    Session = 17,
    /// Step of the drift's random walk, by round.
    Walk = 18,
    /// Whether a round is empty, by round.
    Empty = 19,
    /// Whether a round is cut short, by round.
    Truncated = 20,
    /// After what share of its turns a round is cut short, by round.
    CutShare = 21,
    /// Where in its prior the ladder of a run lies, by run.
    Ladder = 32,
}

impl Channel {
    const fn word(self, attempt: u16) -> u32 {
        (self as u32) | ((attempt as u32) << 16)
    }
}

/// The noise of one run: a pure function from an address to a uniform.
///
/// ```
/// use flyball::sim::{Channel, Noise};
/// let noise = Noise::new(1, 0);
/// let mut row = [0.0; 40];
/// noise.fill(Channel::Size, 7, &mut row);
/// assert_eq!(row[33], noise.uniform(Channel::Size, 7, 33));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    key: [u32; 2],
    high: u32,
}

impl Noise {
    /// The noise of run `run` of `seed`.
    #[must_use]
    pub const fn new(seed: u64, run: u32) -> Self {
        Self { key: [low(seed), run], high: low(seed >> 32) }
    }

    /// The uniform at `place` of the stream of `channel` in `round`: an odd multiple of 2^-53, never 0 and never 1.
    #[must_use]
    pub fn uniform(&self, channel: Channel, round: u32, place: u32) -> f64 {
        let pair = self.pair(channel, 0, round, place / 2);
        if place.is_multiple_of(2) { pair.0 } else { pair.1 }
    }

    /// Both uniforms of one block: for purposes that need a pair, each `attempt` with its own.
    #[must_use]
    pub fn pair(&self, channel: Channel, attempt: u16, round: u32, block: u32) -> (f64, f64) {
        let words = philox([[round], [block], [channel.word(attempt)], [self.high]], self.key);
        (unit(words[0][0], words[1][0]), unit(words[2][0], words[3][0]))
    }

    /// The first `out.len()` uniforms of the stream of `channel` in `round`, the same as [`uniform`](Self::uniform) at
    /// 0, 1, 2 and on.
    pub fn fill(&self, channel: Channel, round: u32, out: &mut [f64]) {
        let mut block = 0_u32;
        for chunk in out.chunks_mut(2 * LANES) {
            let mut blocks = [0; LANES];
            for place in &mut blocks {
                *place = block;
                block = block.wrapping_add(1);
            }
            let counter = [[round; LANES], blocks, [channel.word(0); LANES], [self.high; LANES]];
            let words = philox(counter, self.key);
            let mut row = [0.0; 2 * LANES];
            for lane in 0..LANES {
                row[2 * lane] = unit(words[0][lane], words[1][lane]);
                row[2 * lane + 1] = unit(words[2][lane], words[3][lane]);
            }
            chunk.copy_from_slice(&row[..chunk.len()]);
        }
    }
}

/// Philox4x32-10 of `N` counters at once; word `w` of counter `n` is `[w][n]`.
#[inline]
fn philox<const N: usize>(mut counter: [[u32; N]; 4], mut key: [u32; 2]) -> [[u32; N]; 4] {
    for _ in 0..ROUNDS {
        let [a, b, c, d] = &mut counter;
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let first = u64::from(*a) * MULTIPLIER[0];
            let second = u64::from(*c) * MULTIPLIER[1];
            *a = low(second >> 32) ^ *b ^ key[0];
            *b = low(second);
            *c = low(first >> 32) ^ *d ^ key[1];
            *d = low(first);
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// The low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn low(word: u64) -> u32 {
    word as u32
}

/// Top 52 bits and a half: the bits become a float in [1, 2), from which just under one is taken, exactly.
#[inline]
fn unit(low: u32, high: u32) -> f64 {
    let bits = (u64::from(high) << 32) | u64::from(low);
    f64::from_bits(0x3FF0_0000_0000_0000 | (bits >> 12)) - (1.0 - f64::EPSILON / 2.0)
}
