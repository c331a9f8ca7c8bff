import { beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_CONFIG, type ClientConfig, type IpRuleConfig, type TunnelServerConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import { Gate, type GateRefusal, type Lease } from './gate.js';

const tunnel = { kind: 'tunnel', id: 7 } as const;
const address = '192.0.2.1';
let now: number;
let gate: Gate;
beforeEach(() => {
  now = 1000;
  gate = new Gate(() => now);
});

function config(client: Partial<ClientConfig> = {}, ipRules: IpRuleConfig[] = []): TunnelServerConfig {
  const account = { id: 1, userId: 5, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0, ...client };
  const listen = { host: '127.0.0.1', port: 0 };
  const tunnels = [{ id: 7, clientId: 1, mode: 'tcp' as const, listen, targets: [] }];
  return { ...EMPTY_CONFIG, clients: [account], tunnels, ipRules };
}

function deny(pattern: string, id = 1): IpRuleConfig {
  return { id, scope: 'user', resourceId: 5, type: 'deny', kind: 'cidr', pattern, priority: 1 };
}

function enter(from = address): Lease | GateRefusal {
  return gate.enter(tunnel, 1, from);
}

describe('the gate', () => {
  it('checks the client, its expiry, the address and the connections, in this order', () => {
    const [expired, rules] = [{ expiresAt: 1000, maxConnections: 1 }, [deny('192.0.2.0/24')]];
    gate.apply(config({ maxConnections: 1 }));
    const held = enter();
    gate.apply(config({ ...expired, enabled: false }, rules));
    expect(enter()).toBe('client_disabled');
    gate.apply(config(expired, rules));
    expect(enter()).toBe('client_expired');
    gate.apply(config({ ...expired, expiresAt: 1001 }, rules));
    expect(enter()).toBe('address_denied');
    gate.apply(config({ ...expired, expiresAt: null }));
    expect(enter()).toBe('too_many_connections');
    if (typeof held !== 'string') held.release();
    expect(enter()).toHaveProperty('release');
  });

  it('closes at the moment of expiry', () => {
    gate.apply(config({ expiresAt: 2000 }));
    now = 1999;
    expect(enter()).toHaveProperty('release');
    now = 2000;
    expect(enter()).toBe('client_expired');
    expect(gate.refusal(tunnel, 1, address)).toBe('client_expired');
  });

  it('refuses resources that are missing or belong to another client', () => {
    expect(enter()).toBe('client_disabled');
    gate.apply(config());
    expect(gate.enter({ kind: 'host', id: 7 }, 1, address)).toBe('client_disabled');
    expect(gate.enter(tunnel, 2, address)).toBe('client_disabled');
  });

  it('counts a lease once, however often it is released, over all resources of the client', () => {
    gate.apply(config({ maxConnections: 2 }));
    const [first, second] = [enter(), enter()];
    if (typeof first === 'string' || typeof second === 'string') throw new Error('refused');
    expect(enter()).toBe('too_many_connections');
    first.release();
    first.release();
    expect(gate.connectionsOf(1)).toBe(1);
    expect(enter()).toHaveProperty('release');
    expect(enter()).toBe('too_many_connections');
  });

  it('keeps the previous rules when a rule is invalid', () => {
    gate.apply(config());
    const broken = config({ enabled: false }, [deny('10.1.2.3/8')]);
    expect(() => gate.apply(broken)).toThrow(TunnelError);
    expect(enter()).toHaveProperty('release');
  });

  it('does not compile rules again when something else changed', () => {
    const rules = Array.from({ length: 10_000 }, (_, id) => deny(`10.${id >> 8}.${id & 255}.0/24`, id));
    const fastest = (work: (round: number) => void): number => {
      const times = Array.from({ length: 5 }, (_, round) => {
        const started = performance.now();
        work(round);
        return performance.now() - started;
      });
      return Math.min(...times);
    };
    const compiling = fastest(() => new Gate(() => now).apply(config({}, rules)));
    gate.apply(config({}, rules));
    // As a snapshot that was read again has them: equal, not the same.
    const copies = Array.from({ length: 5 }, () => structuredClone(rules));
    const keeping = fastest((round) => gate.apply(config({ maxConnections: round }, copies[round])));
    expect(keeping).toBeLessThan(compiling / 3);
    expect(enter('10.1.2.3')).toBe('address_denied');
  });
});
