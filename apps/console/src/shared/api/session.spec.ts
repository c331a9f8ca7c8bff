import { describe, expect, it } from 'vitest';
import { Session, type SessionState } from './session.js';

function sessionWith(token?: string) {
  const kept = new Map(token === undefined ? [] : [['k', token]]);
  const session = new Session('k', {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  });
  const states: SessionState[] = [];
  const stop = session.onChange((state) => states.push(state));
  return { session, kept, states, stop };
}

describe('a session', () => {
  it('goes on with the token of the tab', () => {
    const { session } = sessionWith('t');
    expect([session.state, session.token]).toEqual(['unknown', 't']);
    session.begin(true);
    expect(session.state).toBe('signed-in');
  });

  it('needs no token where login is off, and drops an old one', () => {
    const { session, kept } = sessionWith('t');
    session.begin(false);
    expect([session.state, session.token, kept.size]).toEqual(['open', null, 0]);
  });

  it('reports each change until the listener is removed', () => {
    const { session, states, stop } = sessionWith();
    session.begin(true);
    session.signIn('t');
    session.expire();
    session.signIn('u');
    session.signOut();
    stop();
    session.signIn('v');
    expect(states).toEqual(['signed-out', 'signed-in', 'expired', 'signed-in', 'signed-out']);
  });
});
