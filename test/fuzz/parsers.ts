/**
 * Fuzzes every parser of outside data. What breaks a rule is minimised and kept in `corpus/<parser>/`.
 *
 * node --conditions=gatehouse-source --import ./apps/proxy-gateway/test/support/typescript-sources.mjs \
 *   test/fuzz/parsers.ts [seconds for each, 40] [parser,parser...] [seed]
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { corpusFolder, readCorpus } from './corpus.js';
import { MAX_INPUT, MAX_MEMORY_MB } from './limits.js';
import type { ThreadOptions } from './limits.js';
import { minimise } from './minimise.js';
import { TARGETS } from './targets.js';

/** An input that takes this long by the clock is taken from its thread. */
const STUCK_MS = 10_000;

interface Finding {
  problem: string;
  input: Buffer;
}

interface Round {
  inputs: number;
  finding: Finding | null;
}

const [secondsText = '40', names = Object.keys(TARGETS).join(','), seedText = String(Date.now() % 2 ** 31)] =
  process.argv.slice(2);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
let findings = 0;

for (const [index, name] of names.split(',').entries()) {
  if (TARGETS[name] === undefined) throw new Error(`no parser "${name}": ${Object.keys(TARGETS).join(', ')}`);
  const until = Date.now() + Number(secondsText) * 1000;
  let inputs = 0;
  for (let round = 0; Date.now() < until; round++) {
    const result = await fuzz(name, Number(seedText) + index * 1_000 + round, until);
    inputs += result.inputs;
    if (result.finding) await keep(name, result.finding);
  }
  say(`${name}: ${inputs} inputs`);
}
say(findings === 0 ? 'nothing found' : `${findings} found`);
process.exitCode = findings === 0 ? 0 : 1;

/** Until the time is over or something was found. */
async function fuzz(target: string, seed: number, until: number): Promise<Round> {
  const current = new SharedArrayBuffer(4 + MAX_INPUT);
  const count = new SharedArrayBuffer(4);
  const counter = new Int32Array(count);
  const worker = new Worker(fileURLToPath(new URL('./fuzz-thread.ts', import.meta.url)), {
    workerData: { target, seed, current, count, corpus: [...readCorpus(target).values()] } satisfies ThreadOptions,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  const { promise, resolve } = Promise.withResolvers<Finding | null>();
  const atWork = (problem: string): Finding => {
    const length = new Int32Array(current, 0, 1)[0]!;
    return { problem, input: Buffer.from(Buffer.from(current, 4, length)) };
  };
  worker.once('message', ({ problem, input }: Finding) => resolve({ problem, input: Buffer.from(input) }));
  worker.once('error', (error: Error) => resolve(atWork(`memory or thread: ${error.message}`)));
  let seen = -1;
  let since = Date.now();
  const watch = setInterval(() => {
    const done = Atomics.load(counter, 0);
    const begun = new Int32Array(current, 0, 1)[0]! > 0;
    if (!begun || done !== seen) [seen, since] = [done, Date.now()];
    else if (Date.now() - since > STUCK_MS) resolve(atWork('stuck'));
    if (Date.now() > until) resolve(null);
  }, 100);
  const finding = await promise;
  clearInterval(watch);
  await worker.terminate();
  return { inputs: Atomics.load(counter, 0), finding };
}

async function keep(name: string, { problem, input }: Finding): Promise<void> {
  findings += 1;
  const small = await minimise(name, input);
  const folder = corpusFolder(name);
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${createHash('sha256').update(small).digest('hex').slice(0, 12)}`;
  writeFileSync(file, small);
  say(`${name}: ${problem}\n  ${small.length} bytes in ${file}`);
}
