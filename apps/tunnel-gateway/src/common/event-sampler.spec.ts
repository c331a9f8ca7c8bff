import { describe, expect, it } from 'vitest';
import { EventSampler } from './event-sampler.js';

function sampler(): { now: { ms: number }; reported: string[]; events: EventSampler<string> } {
  const now = { ms: 0 };
  const reported: string[] = [];
  return {
    now,
    reported,
    events: new EventSampler<string>(
      () => now.ms,
      (latest, count) => reported.push(`${latest} ${count}`),
    ),
  };
}

describe('the sampler of events', () => {
  it('reports the first event at once, then one a minute with the total count', () => {
    const { now, reported, events } = sampler();
    events.count('a', 1, 'first');
    for (let i = 0; i < 100_000; i++) events.count('a', 2, `later ${i}`);
    now.ms = 59_999;
    events.release();
    expect(reported).toEqual(['first 1']);
    now.ms = 60_000;
    events.release();
    expect(reported).toEqual(['first 1', 'later 99999 200000']);
    now.ms = 130_000;
    events.release();
    events.count('a', 1, 'again');
    expect(reported.at(-1)).toBe('again 1');
  });

  it('remembers a limited number of kinds and loses no count', () => {
    const { reported, events } = sampler();
    for (let i = 0; i < 10_000; i++) events.count(`kind ${i}`, 1, `kind ${i}`);
    events.count('kind 9999', 5, 'last');
    for (let i = 10_000; i < 20_000; i++) events.count(`kind ${i}`, 1, `kind ${i}`);
    expect(reported).toContain('last 5');
    expect(reported).toHaveLength(20_001);
  });
});
