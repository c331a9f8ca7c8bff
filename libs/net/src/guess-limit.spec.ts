import { beforeEach, describe, expect, it } from 'vitest';
import { GuessLimit, type Guess } from './guess-limit.js';

let now: number;
let limit: GuessLimit;
beforeEach(() => {
  now = 1_000_000;
  limit = new GuessLimit(() => now);
});

const guess = (account: string, address = '192.0.2.1', scope = 1): Guess => ({ scope, address, account });

function guesses(times: number, next: (at: number) => Guess): number {
  let taken = 0;
  for (let at = 0; at < times; at += 1) taken += limit.acquire(next(at)) ? 1 : 0;
  return taken;
}

describe('guesses at passwords', () => {
  it('close one account to one address after five', () => {
    expect(guesses(100, () => guess('ann'))).toBe(5);
    expect(limit.secondsToWait(guess('ann'))).toBe(60);
    expect(limit.secondsToWait(guess('bob'))).toBe(0);
    expect(limit.secondsToWait(guess('ann', '192.0.2.2'))).toBe(0);
    expect(limit.secondsToWait(guess('ann', '192.0.2.1', 2))).toBe(0);
    now += 59_001;
    expect(limit.secondsToWait(guess('ann'))).toBe(1);
    now += 999;
    expect(limit.acquire(guess('ann'))).toBe(true);
  });

  it('do not count if they are right', () => {
    for (let times = 0; times < 100; times += 1) {
      expect(limit.acquire(guess('ann'))).toBe(true);
      limit.succeed(guess('ann'));
    }
    expect(guesses(100, () => guess('ann'))).toBe(5);
  });

  it('at many accounts close the address to accounts that never logged in from it', () => {
    limit.acquire(guess('ann'));
    limit.succeed(guess('ann'));
    expect(guesses(1000, (at) => guess(`account ${at}`))).toBe(20);
    expect(limit.secondsToWait(guess('bob'))).toBe(60);
    expect(limit.acquire(guess('ann'))).toBe(true);
    expect(limit.acquire(guess('bob', '192.0.2.2'))).toBe(true);
  });

  it('from many addresses close the account to addresses that never logged in to it', () => {
    limit.acquire(guess('ann', '203.0.113.9'));
    limit.succeed(guess('ann', '203.0.113.9'));
    expect(guesses(1000, (at) => guess('ann', `198.51.100.${at}`))).toBe(100);
    expect(limit.acquire(guess('ann', '198.18.0.1'))).toBe(false);
    expect(limit.acquire(guess('ann', '203.0.113.9'))).toBe(true);
    expect(limit.acquire(guess('bob', '198.18.0.1'))).toBe(true);
  });

  it('from addresses of one IPv6 network count together', () => {
    expect(guesses(100, (at) => guess('ann', `2001:db8:1:2::${at.toString(16)}`))).toBe(5);
    expect(limit.secondsToWait(guess('ann', '2001:db8:1:3::1'))).toBe(0);
  });

  it('are kept for a bounded number of accounts', () => {
    for (let at = 0; at < 70_000; at += 1)
      limit.acquire(guess('ann', `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, at));
    const { windows } = limit as unknown as { windows: Map<string, unknown> };
    expect(windows.size).toBeLessThanOrEqual(60_000);
    expect(windows.size).toBeGreaterThan(50_000);
  });
});
