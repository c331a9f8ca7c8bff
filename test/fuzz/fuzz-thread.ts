/** Runs one target on input after input until it is stopped, or until one breaks a rule. */
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { mutate, seeded } from './mutate.js';
import { judge } from './judge.js';
import { MAX_INPUT, type ThreadOptions } from './limits.js';
import { TARGETS } from './targets.js';

const { target: name, seed, corpus, current, count } = workerData as ThreadOptions;
const target = TARGETS[name]!;
const seeds = [...target.seeds, ...corpus].map((one) => Buffer.from(one as string));
const random = seeded(seed);
const length = new Int32Array(current, 0, 1);
const bytes = Buffer.from(current, 4);
const counter = new Int32Array(count);

/** What targets put off to another turn keeps its memory until that comes. */
const TURN = 32;

for (let round = 1; ; round++) {
  if (round % TURN === 0) await setImmediate();
  const input = mutate(seeds, random, MAX_INPUT);
  // Where the main thread finds it should this thread never come back.
  input.copy(bytes);
  length[0] = input.length;
  const problem = judge(target, input);
  if (problem !== null) {
    parentPort?.postMessage({ problem, input });
    break;
  }
  Atomics.add(counter, 0, 1);
}
