"""The lean peer: the original's meter and rule in plain Python, on the agent of scenarios/s02-typical.toml.

Standard library alone. A deque of (seconds, tokens) that is trimmed from the front and summed anew at each reading, as
the original does; `--trim 300` also forgets at every write what is older than that, as the original does whatever
`over` says. One configuration and one run at a time. It is kept lean on purpose: no classes, no lock, no counter.
Prints one line of JSON: seconds taken (the least of `--repeat`), turns, and for each run tokens per turn, share of the
readings in the band, and moves in 100 rounds.
"""

import argparse
import json
from collections import deque
from math import exp, log, log1p, sqrt
from random import Random
from time import perf_counter

MEANS = (5242.88, 3276.8, 2048.0, 1280.0, 800.0, 500.0)
START = 4
TAU = 0.2


def lognormal(mean, cv):
    sigma = sqrt(log1p(cv * cv))
    return log(mean) - sigma * sigma / 2, sigma


def run(seed, rounds, over, slack, juice, rest, trim):
    gauss = Random(seed).gauss
    sizes = [lognormal(mean, 1.0) for mean in MEANS]
    count_mu, count_sigma = lognormal(20.0, 0.5)
    overhead_mu, overhead_sigma = lognormal(6.0, 0.5)
    tool_mu, tool_sigma = lognormal(8.0, 1.5)
    low, high = juice * (1 - slack), juice * (1 + slack)
    window = deque()
    now, rung = 0.0, START
    all_turns = all_tokens = readings = inside = moves = 0
    for number in range(rounds):
        session = gauss(-TAU * TAU / 2, TAU)
        turns = min(max(round(exp(gauss(count_mu, count_sigma))), 2), 120)
        mu, sigma = sizes[rung]
        mu += session
        for _ in range(turns):
            tokens = max(round(exp(gauss(mu, sigma))), 1)
            now += exp(gauss(overhead_mu, overhead_sigma)) + exp(gauss(tool_mu, tool_sigma)) + tokens / 70
            window.append((now, tokens))
            all_tokens += tokens
            if trim:
                while window[0][0] < now - trim:
                    window.popleft()
        all_turns += turns
        while window and window[0][0] < now - over:
            window.popleft()
        following = rung
        if window:
            mean = sum(tokens for _, tokens in window) / sum(1 for _ in window)
            readings += 1
            if mean < low:
                following = max(rung - 1, 0)
            elif mean > high:
                following = min(rung + 1, len(MEANS) - 1)
            else:
                inside += 1
        if following != rung and number + 1 < rounds:
            moves += 1
        rung = following
        now += rest
    return all_turns, (all_tokens / all_turns, inside / readings, 100 * moves / rounds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--over", type=float, default=300.0)
    parser.add_argument("--slack", type=float, default=0.15)
    parser.add_argument("--juice", type=float, default=2048.0)
    parser.add_argument("--rest", type=float, default=5.0)
    parser.add_argument("--trim", type=float, default=0.0)
    args = parser.parse_args()
    took = []
    for _ in range(args.repeat):
        began = perf_counter()
        done = [
            run(args.seed * 1_000_003 + number, args.rounds, args.over, args.slack, args.juice, args.rest, args.trim)
            for number in range(args.runs)
        ]
        took.append(perf_counter() - began)
    print(json.dumps({
        "seconds": min(took),
        "turns": sum(turns for turns, _ in done),
        "figures": [figures for _, figures in done],
    }))


if __name__ == "__main__":
    main()
