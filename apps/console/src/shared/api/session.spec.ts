import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionTabs, TabMessage } from './session-tabs.js';
import { ASK_MS, Session, type SessionState } from './session.js';

function sessionWith(token?: string, tabs: SessionTabs | null = null) {
  const kept = new Map(token === undefined ? [] : [['k', token]]);
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  const session = new Session('k', storage, tabs);
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

/** Tabs of one browser: what one sends, all others hear. */
class Tabs {
  readonly #listeners: ((message: TabMessage) => void)[] = [];

  open(): SessionTabs {
    const at = this.#listeners.push(() => undefined) - 1;
    return {
      send: (message) => this.#listeners.forEach((listener, index) => index !== at && listener(message)),
      onMessage: (listener) => (this.#listeners[at] = listener),
    };
  }
}

describe('sessions of several tabs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('sign a new tab in with the token of another one', () => {
    const tabs = new Tabs();
    sessionWith('t', tabs.open()).session.begin(true);
    const { session, kept } = sessionWith(undefined, tabs.open());
    session.begin(true);
    expect([session.state, session.token, kept.get('k')]).toEqual(['signed-in', 't', 't']);
  });

  it('show the login where no tab answers, and end it with a late answer', () => {
    const tabs = new Tabs();
    const late = tabs.open();
    const { session } = sessionWith(undefined, tabs.open());
    session.begin(true);
    expect(session.state).toBe('unknown');
    vi.advanceTimersByTime(ASK_MS);
    expect(session.state).toBe('signed-out');
    late.send({ kind: 'answer', token: 't' });
    expect([session.state, session.token]).toEqual(['signed-in', 't']);
  });

  it('begin and end together', () => {
    const tabs = new Tabs();
    const [one, other] = [sessionWith(undefined, tabs.open()), sessionWith(undefined, tabs.open())];
    one.session.begin(true);
    other.session.begin(true);
    one.session.signIn('t');
    expect([other.session.state, other.session.token]).toEqual(['signed-in', 't']);
    other.session.signOut();
    expect([one.session.state, one.session.token, one.kept.size]).toEqual(['signed-out', null, 0]);
  });

  it('expire together, but not with the token of an earlier login', () => {
    const tabs = new Tabs();
    const [one, other] = [sessionWith('t', tabs.open()), sessionWith('t', tabs.open())];
    const voice = tabs.open();
    one.session.begin(true);
    other.session.begin(true);
    voice.send({ kind: 'expired', token: 'earlier' });
    expect(one.session.state).toBe('signed-in');
    one.session.expire();
    expect([one.session.state, other.session.state]).toEqual(['expired', 'expired']);
  });

  it('keep a tab as it is where no login is needed', () => {
    const tabs = new Tabs();
    const voice = tabs.open();
    const { session, kept } = sessionWith(undefined, tabs.open());
    session.begin(false);
    voice.send({ kind: 'signed-in', token: 't' });
    voice.send({ kind: 'signed-out' });
    expect([session.state, session.token, kept.size]).toEqual(['open', null, 0]);
  });
});
