import { describe, expect, it } from 'vitest';
import { HOSTILE_ATTACKS } from './attack-list.js';
import { Chance } from '../trials/chance.js';
import { ODD_ANSWERS, oddAnswerFor } from './odd-answers.js';

describe('the list of attacks', () => {
  it('names each once, and has some of every role', () => {
    expect(new Set(HOSTILE_ATTACKS.map(({ name }) => name)).size).toBe(HOSTILE_ATTACKS.length);
    const roles = new Set(HOSTILE_ATTACKS.map(({ role }) => role));
    expect([...roles].toSorted()).toEqual(
      ['API client', 'agent', 'node', 'origin', 'proxy client', 'target', 'visitor'].toSorted(),
    );
  });

  it('finds each odd answer by the path that asks for it', () => {
    for (const [at, answer] of ODD_ANSWERS.entries()) {
      expect(oddAnswerFor(`GET http://a/odd/${at} HTTP/1.1\r\n`)).toBe(answer);
    }
    expect(oddAnswerFor('GET /ok HTTP/1.1\r\n')).toBeUndefined();
  });
});

describe('the choices of a seed', () => {
  const choices = (seed: number): unknown[] => {
    const chance = new Chance(seed);
    return [chance.below(1_000), chance.stranger(), chance.pick(['a', 'b', 'c']), chance.bytes(8).toString('hex')];
  };

  it('are the same again, and others for another seed', () => {
    expect(choices(7)).toEqual(choices(7));
    expect(choices(7)).not.toEqual(choices(8));
  });

  it('stay below the limit and reach every value under it', () => {
    const chance = new Chance(1);
    const seen = new Set(Array.from({ length: 500 }, () => chance.below(6)));
    expect([...seen].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
