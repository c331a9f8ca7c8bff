import { describe, expect, it } from 'vitest';
import { readCorpus } from './corpus.js';
import { judge } from './judge.js';
import { mutate, seeded } from './mutate.js';
import { TARGETS } from './targets.js';

describe.each(Object.entries(TARGETS))('%s', (name, target) => {
  it('reads its own seeds without a fault', () => {
    for (const seed of target.seeds) expect(judge(target, Buffer.from(seed as string)), String(seed)).toBeNull();
  });

  it('handles every input that once broke it', () => {
    for (const [file, input] of readCorpus(name)) expect(judge(target, input), file).toBeNull();
  });

  it('handles a few hundred mutated inputs, which are the same in every run', () => {
    const random = seeded(7);
    const seeds = target.seeds.map((seed) => Buffer.from(seed as string));
    for (let round = 0; round < 200; round++) {
      const input = mutate(seeds, random, 2_048);
      expect(judge(target, input), input.toString('base64')).toBeNull();
    }
  });
});

describe('the fuzz judge', () => {
  it('detects crashes and slow inputs', () => {
    const crash = { seeds: [], run: () => JSON.parse('{') };
    expect(judge(crash, Buffer.alloc(0))).toMatch(/^crash: SyntaxError/);
    const slow = {
      seeds: [],
      run: () => {
        const until = process.threadCpuUsage().user + 150_000;
        while (process.threadCpuUsage().user < until);
      },
    };
    expect(judge(slow, Buffer.alloc(0))).toMatch(/^hang: \d+ ms/);
  });
});
