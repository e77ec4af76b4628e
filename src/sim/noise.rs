//! Noise by address: every uniform is a function of (seed, run, channel, round, place), and of nothing else.
//!
//! It is not a generator with a state. Nothing is consumed, so no law, no cell of a sweep and no order of calls can
//! shift what another one meets: they all meet the same luck, and differences between them are paired. The function is
//! Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011), checked
//! against its published vectors. Key: the low half of the seed, and the run. Counter: round, block, channel (high half:
//! attempt), high half of the seed. A block holds two uniforms. The numbers of [`Channel`] are fixed for ever.

/// Blocks that are computed side by side: as many 64-bit products as the least of vector units makes at once. More were
/// slower, because four words of each have to stay in registers.
const LANES: usize = 2;
const LOW: u64 = 0xFFFF_FFFF;
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
    /// Whether the agent fails, by round.
    Failed = 22,
    /// After how many turns it fails, by round.
    FailedAt = 23,
    /// Whether a limit of the backend begins, by round.
    Limit = 24,
    /// Before which turn it begins, by round.
    LimitAt = 25,
    /// How long it lasts, by round.
    LimitLasts = 26,
    /// Whether it says until when, by round.
    LimitTold = 27,
    /// Whether a round leaves the project as it was, by round.
    Unchanged = 28,
    /// Whether a round ends with the error of the one before, by round.
    SameError = 29,
    /// Whether a round finishes the task, by round.
    Finished = 30,
    /// Whether the oracle finds that nothing more can be done, by round.
    Blocked = 31,
    /// Where in its prior the ladder of a run lies, by run.
    Ladder = 32,
    /// Which member of a family of agents it is, by number of the draw.
    Member = 33,
    /// Whether the oracle breaks, by round.
    OracleError = 34,
    /// Whether a kill-on rule matches, by round.
    KillOn = 35,
    /// Whether the task of a run can be finished at all, by run.
    Hopeless = 36,
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
        let [[first, second]] = self.blocks(channel.word(attempt), round, [block]);
        (first, second)
    }

    /// The first `out.len()` uniforms of the stream of `channel` in `round`, the same as [`uniform`](Self::uniform) at
    /// 0, 1, 2 and on.
    pub fn fill(&self, channel: Channel, round: u32, out: &mut [f64]) {
        let (groups, rest) = out.as_chunks_mut::<{ 2 * LANES }>();
        let mut block = 0_u32;
        for group in groups {
            let [[a, b], [c, d]] = self.blocks(channel.word(0), round, [block, block.wrapping_add(1)]);
            *group = [a, b, c, d];
            block = block.wrapping_add(2);
        }
        if rest.is_empty() {
            return;
        }
        let [first, second] = self.blocks(channel.word(0), round, [block, block.wrapping_add(1)]);
        for (out, uniform) in rest.iter_mut().zip(first.into_iter().chain(second)) {
            *out = uniform;
        }
    }

    /// The two uniforms of each of these blocks.
    #[inline]
    fn blocks<const N: usize>(&self, channel: u32, round: u32, blocks: [u32; N]) -> [[f64; 2]; N] {
        let counter = [[round; N], blocks, [channel; N], [self.high; N]];
        let [a, b, c, d] = philox(counter.map(|word| word.map(u64::from)), self.key);
        std::array::from_fn(|lane| [unit(a[lane], b[lane]), unit(c[lane], d[lane])])
    }
}

/// Philox4x32-10 of `N` counters at once; word `w` of counter `n` is the low half of `[w][n]`, before and after.
#[inline]
fn philox<const N: usize>(counter: [[u64; N]; 4], mut key: [u32; 2]) -> [[u64; N]; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    for _ in 0..ROUNDS {
        let first = a.map(|word| (word & LOW) * MULTIPLIER[0]);
        let second = c.map(|word| (word & LOW) * MULTIPLIER[1]);
        a = std::array::from_fn(|lane| (second[lane] >> 32) ^ b[lane] ^ u64::from(key[0]));
        c = std::array::from_fn(|lane| (first[lane] >> 32) ^ d[lane] ^ u64::from(key[1]));
        (b, d) = (second, first);
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

/// The low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn low(word: u64) -> u32 {
    word as u32
}

/// Top 52 bits and a half of two low halves: the bits become a float in [1, 2), from which just under one is taken,
/// exactly.
#[inline]
fn unit(low: u64, high: u64) -> f64 {
    let bits = (high << 32) | (low & LOW);
    f64::from_bits(0x3FF0_0000_0000_0000 | (bits >> 12)) - (1.0 - f64::EPSILON / 2.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "pinned values are the same bits or are wrong")]
mod tests {
    use super::*;

    /// Counter, key and result, from the vectors published with Random123.
    const VECTORS: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];

    #[test]
    fn the_published_vectors_come_out() {
        for (counter, key, result) in VECTORS {
            let one = philox(counter.map(|word| [u64::from(word)]), key).map(|[word]| low(word));
            assert_eq!(one, result);
            let two = philox(counter.map(|word| [u64::from(!word), u64::from(word)]), key).map(|[_, word]| low(word));
            assert_eq!(two, result);
        }
    }

    #[test]
    fn an_address_is_laid_out_as_documented() {
        let (seed, run, round, place) = (0x0370_7344_a409_3822, 0x299f_31d0, 0x243f_6a88, 0x0b);
        let counter = [0x243f_6a88, 5, 3 | (7 << 16), 0x0370_7344_u64].map(|word| [word]);
        let words = philox(counter, [0xa409_3822, 0x299f_31d0]);
        let noise = Noise::new(seed, run);
        let (first, second) = noise.pair(Channel::Outlier, 7, round, place / 2);
        assert_eq!([first, second], [unit(words[0][0], words[1][0]), unit(words[2][0], words[3][0])]);
        assert_eq!(noise.uniform(Channel::Outlier, round, 11), noise.pair(Channel::Outlier, 0, round, 5).1);
        assert_eq!(noise.uniform(Channel::Outlier, round, 10), noise.pair(Channel::Outlier, 0, round, 5).0);
    }

    #[test]
    fn a_row_is_its_places_whatever_its_length() {
        let noise = Noise::new(u64::MAX, 3);
        for length in 0..23 {
            let mut row = vec![0.0; length];
            noise.fill(Channel::Tool, 9, &mut row);
            let single: Vec<f64> = (0_u32..).take(length).map(|place| noise.uniform(Channel::Tool, 9, place)).collect();
            assert_eq!(row, single);
        }
    }

    #[test]
    fn uniforms_never_touch_the_ends() {
        assert_eq!(unit(0, 0), f64::EPSILON / 2.0);
        assert_eq!(unit(LOW, LOW), 1.0 - f64::EPSILON / 2.0);
        assert_eq!(unit(0, 1 << 31), 0.5 + f64::EPSILON / 2.0);
    }

    #[test]
    fn streams_and_neighbours_are_not_correlated() {
        let row = |seed, run, channel, round| {
            let mut row = vec![0.0; 20_000];
            Noise::new(seed, run).fill(channel, round, &mut row);
            row
        };
        let base = row(1, 0, Channel::Size, 0);
        let mut others = vec![
            row(2, 0, Channel::Size, 0),
            row(1, 1, Channel::Size, 0),
            row(1 << 32, 0, Channel::Size, 0),
            row(1, 0, Channel::Tool, 0),
            row(1, 0, Channel::Size, 1),
        ];
        others.push(base.iter().cycle().skip(1).take(base.len()).copied().collect());
        for other in others {
            let product: f64 = base.iter().zip(&other).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum();
            // Each product has a standard deviation of 1/12.
            let sigmas = product * 12.0 / 20_000_f64.sqrt();
            assert!(sigmas.abs() < 4.0, "{sigmas}");
        }
    }

    #[test]
    fn every_stream_keeps_its_numbers() {
        let noise = Noise::new(0x1234_5678_9abc_def0, 42);
        let channels = [
            Channel::Size,
            Channel::Component,
            Channel::Outlier,
            Channel::Overhead,
            Channel::Tool,
            Channel::GammaAttempt,
            Channel::GammaBoost,
            Channel::TurnCount,
            Channel::Session,
            Channel::Walk,
            Channel::Empty,
            Channel::Truncated,
            Channel::CutShare,
            Channel::Ladder,
        ];
        let got = channels.map(|channel| [0, 1, 57].map(|place| noise.uniform(channel, 3, place).to_bits()));
        assert_eq!(got, PINNED);
    }

    /// Bits of the uniforms at places 0, 1 and 57, computed by a second program from the documented layout alone.
    const PINNED: [[u64; 3]; 14] = [
        [0x3fe1_7797_cd0a_7037, 0x3fe5_3b91_d547_a8b5, 0x3fdd_1fd7_48d3_b0f2],
        [0x3fa5_8b64_41bb_48d0, 0x3fef_19ef_36c5_2641, 0x3fdb_b4b4_f737_598a],
        [0x3fbc_23b1_de68_c3d8, 0x3fe6_ec9b_45bc_1413, 0x3fe3_3867_4e22_eba7],
        [0x3fcb_36a9_a1b7_d23c, 0x3fe8_3c6d_ccc9_bcdb, 0x3fea_7528_898c_33f1],
        [0x3fe8_ac34_7245_fa87, 0x3fc4_198b_8a22_21ec, 0x3fbb_7d2f_5aee_5078],
        [0x3fcf_0707_bd0b_3404, 0x3fd2_9ac1_47d2_b682, 0x3fe8_ce7e_9dbb_3b3d],
        [0x3fdc_daaa_d43d_6d1a, 0x3fdb_1336_e188_9e7a, 0x3fc7_a6c5_7eab_334c],
        [0x3fd0_7d57_249c_9526, 0x3fd0_2336_b63d_40ae, 0x3fe0_d570_60ce_76d1],
        [0x3fe1_8a9e_e0cb_3e5b, 0x3fc4_cc6c_3eb7_391c, 0x3fbc_17b8_df45_7218],
        [0x3fe5_d2ba_749a_e75d, 0x3fc4_901a_0c00_244c, 0x3fd3_1a5e_b73b_44c6],
        [0x3fcf_2c18_89c5_729c, 0x3fe6_0365_fd9f_2fd1, 0x3fe4_bc6b_5f76_7b7b],
        [0x3fe5_4a72_cf8e_0e73, 0x3fdc_7a0c_2590_3c6e, 0x3fe5_27ba_8252_e337],
        [0x3fe5_6e4f_35dc_5bad, 0x3fef_a1e9_ecfc_f35f, 0x3fbe_6356_c580_fa98],
        [0x3fe6_5602_784e_bccd, 0x3fd0_e551_88fb_a32a, 0x3fd2_ddc5_cf4b_820a],
    ];
}
