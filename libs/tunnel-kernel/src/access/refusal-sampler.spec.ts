import { describe, expect, it } from 'vitest';
import { RefusalSampler } from './refusal-sampler.js';

const tunnel = { kind: 'tunnel', id: 7 } as const;

describe('refusals', () => {
  it('are reported once in ten seconds, with their number', () => {
    let now = 0;
    const sampler = new RefusalSampler(() => now);
    expect(sampler.count(tunnel, 'address_denied')).toBe(1);
    for (let i = 0; i < 99; i++) expect(sampler.count(tunnel, 'address_denied')).toBe(0);
    now = 10_000;
    expect(sampler.count(tunnel, 'address_denied')).toBe(100);
    expect(sampler.count(tunnel, 'address_denied')).toBe(0);
  });

  it('are counted separately for each resource and reason', () => {
    const sampler = new RefusalSampler(() => 0);
    expect(sampler.count(tunnel, 'address_denied')).toBe(1);
    expect(sampler.count(tunnel, 'too_many_connections')).toBe(1);
    expect(sampler.count({ kind: 'host', id: 7 }, 'address_denied')).toBe(1);
    expect(sampler.count(tunnel, 'address_denied')).toBe(0);
  });

  it('are forgotten first for the resource that was quiet longest', () => {
    const sampler = new RefusalSampler(() => 0);
    for (let id = 0; id < 5000; id++) expect(sampler.count({ kind: 'tunnel', id }, 'address_denied')).toBe(1);
    expect(sampler.count({ kind: 'tunnel', id: 4999 }, 'address_denied')).toBe(0);
    expect(sampler.count({ kind: 'tunnel', id: 0 }, 'address_denied')).toBe(1);
  });
});
