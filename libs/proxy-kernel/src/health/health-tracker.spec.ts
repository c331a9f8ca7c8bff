import { describe, expect, it } from 'vitest';
import type { CircuitChanged } from '../interfaces/kernel.js';
import { DialError, RejectedError, type DialStage } from '../interfaces/outbound.js';
import type { ErrorKind, ErrorStage } from '../interfaces/connection.js';
import { OPENING_FAILURES, OPEN_MS } from './circuits.js';
import { FlowWatch, HealthTracker } from './health-tracker.js';
import { isTransportFailure } from './transport-failure.js';

function newTracker(tags = ['n1', 'n2']) {
  const clock = { at: 1000 };
  const circuits: CircuitChanged[] = [];
  const changed: string[][] = [];
  const tracker = new HealthTracker(() => clock.at, {
    circuit: (change) => circuits.push(change),
    changed: (names) => changed.push([...names]),
  });
  tracker.keepOnly(new Set(tags), new Set(['u']));
  const fail = (times: number): void => {
    for (let index = 0; index < times; index += 1) tracker.flowFailed('n1');
  };
  return { tracker, clock, circuits, changed, fail };
}

const alive = (delayMs: number, testedAt = 0) => ({ alive: true, delayMs, testedAt });
const dead = (testedAt = 0) => ({ alive: false, delayMs: null, testedAt });

describe('measurements', () => {
  it('count by test address; without one for it, the general measurement decides', () => {
    const { tracker } = newTracker();
    expect(tracker.of(undefined, 'n1')).toEqual({ alive: true, delayMs: null });
    tracker.report(null, { n1: alive(10), n2: dead() });
    expect(tracker.of('u', 'n1')).toMatchObject({ alive: true, delayMs: 10 });
    tracker.report('u', { n2: alive(99) });
    expect(tracker.of('u', 'n2')).toMatchObject({ alive: true, delayMs: 99 });
    expect(tracker.of('u', 'n1')).toEqual({ alive: true, delayMs: null });
    expect(tracker.of(undefined, 'n2')).toMatchObject({ alive: false });
  });

  it('are kept across generations for nodes that remain', () => {
    const { tracker, changed } = newTracker();
    tracker.report(null, { n1: alive(10), n2: alive(20), n3: alive(30) });
    tracker.report('u', { n1: alive(11) });
    expect(changed).toEqual([['n1', 'n2'], ['n1']]);
    tracker.keepOnly(new Set(['n1', 'n3']), new Set());
    tracker.keepOnly(new Set(['n1', 'n2', 'n3']), new Set(['u']));
    expect(tracker.of(undefined, 'n1')).toMatchObject({ delayMs: 10 });
    expect(tracker.of('u', 'n1')).toMatchObject({ delayMs: 10 });
    expect(tracker.of(undefined, 'n2')).toEqual({ alive: true, delayMs: null });
    expect(tracker.of(undefined, 'n3')).toEqual({ alive: true, delayMs: null });
  });

  it('can come before the first configuration', () => {
    const tracker = new HealthTracker(() => 0, { circuit: () => undefined, changed: () => undefined });
    tracker.report('u', { n1: dead() });
    tracker.keepOnly(new Set(['n1']), new Set(['u']));
    expect(tracker.of('u', 'n1')).toMatchObject({ alive: false });
  });
});

describe('a circuit', () => {
  it('opens after consecutive failures, and lets one flow try after a pause', () => {
    const { tracker, clock, circuits, changed, fail } = newTracker();
    fail(OPENING_FAILURES - 1);
    tracker.flowSucceeded('n1');
    fail(OPENING_FAILURES - 1);
    expect(tracker.of(undefined, 'n1').alive).toBe(true);
    fail(1);
    expect(circuits).toEqual([{ at: 1000, tag: 'n1', open: true, failures: OPENING_FAILURES }]);
    expect(changed).toEqual([['n1']]);
    expect(tracker.of(undefined, 'n1').alive).toBe(false);
    clock.at += OPEN_MS - 1;
    tracker.settle();
    expect(tracker.mayTry('n1')).toBe(false);
    clock.at += 1;
    tracker.settle();
    expect(tracker.of(undefined, 'n1').alive).toBe(false);
    expect([tracker.mayTry('n1'), tracker.claimTrial('n1'), tracker.claimTrial('n1')]).toEqual([true, true, false]);
    tracker.flowFailed('n1');
    expect(tracker.halfOpen('n1')).toBe(false);
    clock.at += OPEN_MS;
    tracker.settle();
    expect(tracker.claimTrial('n1')).toBe(true);
    tracker.flowSucceeded('n1');
    expect(tracker.of(undefined, 'n1').alive).toBe(true);
    expect(circuits.slice(1)).toEqual([{ at: clock.at, tag: 'n1', open: false, failures: 0 }]);
  });

  it('lets another flow try if the first one has no result', () => {
    const { tracker, clock, fail } = newTracker();
    fail(OPENING_FAILURES);
    clock.at += OPEN_MS;
    tracker.settle();
    tracker.claimTrial('n1');
    tracker.flowEnded('n1');
    expect(tracker.claimTrial('n1')).toBe(true);
    clock.at += OPEN_MS;
    expect(tracker.claimTrial('n1')).toBe(true);
  });

  it('is closed by a measurement begun since, not by an older one', () => {
    const { tracker, circuits, fail } = newTracker();
    fail(OPENING_FAILURES);
    tracker.report(null, { n1: alive(5, 999) });
    expect(tracker.of(undefined, 'n1').alive).toBe(false);
    tracker.report(null, { n1: alive(5, 1000) });
    expect(tracker.of(undefined, 'n1').alive).toBe(true);
    expect(circuits.map(({ open }) => open)).toEqual([true, false]);
  });

  it('does not exist for outbounds outside the configuration, and is removed with them', () => {
    const { tracker, circuits, fail } = newTracker();
    for (let index = 0; index < 9; index += 1) tracker.flowFailed('DIRECT');
    fail(OPENING_FAILURES);
    tracker.keepOnly(new Set(['n2']), new Set());
    tracker.keepOnly(new Set(['n1', 'n2']), new Set());
    expect(tracker.of(undefined, 'n1').alive).toBe(true);
    expect(circuits).toHaveLength(1);
  });
});

describe('failures that count against a node', () => {
  const judge = (error: unknown, type = 'socks5', reached: DialStage[] = []): boolean =>
    isTransportFailure({ error, type, reached: new Set(reached) });

  it.each<[ErrorStage, ErrorKind, boolean]>([
    ['dial', 'connection_refused', true],
    ['dial', 'timeout', true],
    ['dial', 'unreachable', true],
    ['dial', 'other', false],
    ['dns', 'dns_error', true],
    ['dns', 'timeout', true],
    ['dns', 'other', false],
    ['handshake', 'tls_error', true],
    ['handshake', 'auth_failed', true],
    ['handshake', 'protocol_error', true],
    // The far end reports these about the target.
    ['handshake', 'connection_refused', false],
    ['handshake', 'unreachable', false],
    ['handshake', 'timeout', false],
    ['handshake', 'other', false],
    ['relay', 'connection_reset', false],
    ['route', 'other', false],
  ])('%s %s: %s', (stage, kind, counts) => {
    expect(judge(new DialError(stage, kind, 'x'))).toBe(counts);
  });

  it('exclude a refusal without a specific reason', () => {
    const refused = new DialError('handshake', 'other', 'the proxy answered 403');
    expect(judge(new DialError('handshake', 'protocol_error', 'x', { cause: refused }))).toBe(false);
    const garbled = new Error('ended');
    expect(judge(new DialError('handshake', 'protocol_error', 'x', { cause: garbled }))).toBe(true);
  });

  it.each<[ErrorStage, ErrorKind, boolean]>([
    // The hop reports that it cannot reach this node.
    ['handshake', 'connection_refused', true],
    ['handshake', 'unreachable', true],
    // The hop itself failed.
    ['dial', 'connection_refused', false],
    ['handshake', 'auth_failed', false],
    ['handshake', 'other', false],
  ])('through a hop, %s %s: %s', (stage, kind, counts) => {
    const cause = new DialError(stage, kind, 'x');
    expect(judge(new DialError(stage, kind, 'through H: x', { cause }))).toBe(counts);
  });

  it('exclude a silence that may be the target’s', () => {
    const late = new DialError('dial', 'timeout', 'x');
    expect(judge(late, 'socks5', ['connect', 'greeting'])).toBe(false);
    expect(judge(late, 'ssh', ['connect', 'greeting'])).toBe(false);
    expect(judge(late, 'http', ['connect'])).toBe(false);
    expect(judge(late, 'http', ['dns'])).toBe(true);
    // A server that accepted the connection but does not answer.
    expect(judge(late, 'socks5', ['connect'])).toBe(true);
    expect(judge(late, 'ssh', ['connect'])).toBe(true);
    expect(judge(late, 'trojan', ['connect'])).toBe(true);
  });

  it('exclude refusals by policy, statuses and ends by the client', () => {
    for (const error of [new RejectedError(false), new Error('x'), undefined, null]) expect(judge(error)).toBe(false);
  });
});

describe('flows', () => {
  const flow = (download = 0) => ({ upload: 0, download });
  const failed = { error: new DialError('dial', 'timeout', 'x'), type: 'ss', reached: new Set<DialStage>() };
  const fine = { error: null, type: 'ss', reached: new Set<DialStage>() };

  it('count as successes with the first byte that comes back', () => {
    const { tracker, circuits, fail } = newTracker();
    const watch = new FlowWatch(tracker);
    const one = flow();
    watch.opened(one, 'n1');
    fail(OPENING_FAILURES);
    watch.settle();
    expect(circuits).toHaveLength(1);
    one.download = 1;
    watch.settle();
    expect(circuits).toHaveLength(2);
    fail(1);
    watch.ended(one, 'n1', failed);
    fail(OPENING_FAILURES - 2);
    expect(circuits).toHaveLength(2);
  });

  it('without a byte back give no result, unless the dial failed', () => {
    const { tracker, circuits, fail } = newTracker();
    const watch = new FlowWatch(tracker);
    fail(OPENING_FAILURES - 1);
    watch.opened(flow(), 'n1');
    watch.ended(flow(), 'n1', fine);
    expect(circuits).toHaveLength(0);
    watch.ended(flow(), 'n1', failed);
    expect(circuits).toHaveLength(1);
  });
});
