import { describe, expect, it } from 'vitest';
import { SessionShares, type PlacedSession } from './session-shares.js';

class Session implements PlacedSession {
  readonly clientId: number;
  readonly address: string;
  answered = false;
  usedAt = 0;
  gone = false;
  private readonly shares: SessionShares<Session>;

  constructor(shares: SessionShares<Session>, clientId: number, address: string) {
    this.shares = shares;
    this.clientId = clientId;
    this.address = address;
  }

  evict(): void {
    this.gone = true;
    this.shares.delete(this);
  }
}

function open(shares: SessionShares<Session>, clientId: number, address: string, answered = false): Session {
  shares.makeRoom(clientId, address);
  const session = new Session(shares, clientId, address);
  session.answered = answered;
  shares.add(session);
  return session;
}

const address = (index: number): string => `192.0.${index >> 8}.${index & 255}`;

describe('SessionShares', () => {
  it('leaves half of the places to others, whatever one client uses', () => {
    const shares = new SessionShares<Session>(1000);
    const taken = Array.from({ length: 5000 }, (_, index) => open(shares, 1, address(index)));
    expect(taken.filter(({ gone }) => !gone)).toHaveLength(500);
    // The oldest went.
    expect(taken.slice(-500).every(({ gone }) => !gone)).toBe(true);
    const others = Array.from({ length: 250 }, (_, index) => open(shares, 2, address(index)));
    expect(others.every(({ gone }) => !gone)).toBe(true);
    expect(shares.evicted).toBe(4500);
  });

  it('never ends an answered session for an unanswered one', () => {
    const shares = new SessionShares<Session>(10);
    const answered = Array.from({ length: 3 }, (_, index) => open(shares, 1, address(index), true));
    const late = open(shares, 1, address(3));
    const flood = Array.from({ length: 100 }, (_, index) => {
      if (index === 0) {
        late.answered = true;
        shares.answered(late);
      }
      return open(shares, 1, address(index + 4));
    });
    expect([...answered, late].every(({ gone }) => !gone)).toBe(true);
    expect(flood.filter(({ gone }) => !gone)).toHaveLength(1);
  });

  it('refuses a session if all others were answered', () => {
    const shares = new SessionShares<Session>(10);
    for (let index = 0; index < 5; index += 1) open(shares, 1, address(index), true);
    expect(() => open(shares, 1, address(9))).toThrow('too many');
    expect(open(shares, 2, address(9)).gone).toBe(false);
  });

  it('limits the sessions of a source with each client, in IPv6 for a whole /64', () => {
    const shares = new SessionShares<Session>(1000, 3);
    const six = [1, 2, 3, 4].map((index) => open(shares, 1, `2001:db8::${index}`));
    expect(six.map(({ gone }) => gone)).toEqual([true, false, false, false]);
    expect([open(shares, 1, '2001:db8:0:1::1'), open(shares, 2, '2001:db8::9')].some(({ gone }) => gone)).toBe(false);
    expect(six.filter(({ gone }) => !gone)).toHaveLength(3);
  });

  it('ends the unanswered sessions of a source first, then the one that was idle longest', () => {
    const shares = new SessionShares<Session>(1000, 3);
    const sessions = [7, 3, 5].map((usedAt) => Object.assign(open(shares, 1, '192.0.2.1', true), { usedAt }));
    open(shares, 1, '192.0.2.1');
    expect(sessions.map(({ gone }) => gone)).toEqual([false, true, false]);
    open(shares, 1, '192.0.2.1');
    expect(sessions.map(({ gone }) => gone)).toEqual([false, true, false]);
  });

  it('releases places', () => {
    const shares = new SessionShares<Session>(10);
    for (let round = 0; round < 20; round += 1) {
      const sessions = [0, 1, 2, 3, 4].map((index) => open(shares, 1, address(index), true));
      for (const session of sessions) shares.delete(session);
      for (const session of sessions) shares.delete(session);
    }
    expect(shares.evicted).toBe(0);
  });
});
