import type { RemoteInfo } from 'node:dgram';
import { describe, expect, it } from 'vitest';
import { AgentAddress } from './agent-address.js';

const place = (address: string, port = 4000): RemoteInfo => ({ address, port, family: 'IPv4', size: 0 });
const [HOME, MOVED, VICTIM] = [place('192.0.2.1'), place('192.0.2.1', 4001), place('203.0.113.9')];
const PACKET = Buffer.alloc(1200);

function addressRig() {
  const clock = { now: 0 };
  const sent: { to: RemoteInfo; bytes: number }[] = [];
  const tokens: number[] = [];
  const address = new AgentAddress({
    now: () => clock.now,
    send: (parts, to) => void sent.push({ to, bytes: Buffer.concat(parts).length }),
    challenge: (token) => (tokens.push(token), [Buffer.alloc(41)]),
  });
  const bytesTo = (to: RemoteInfo): number =>
    sent.filter((one) => one.to === to).reduce((total, { bytes }) => total + bytes, 0);
  /** Known and answered from. */
  const atHome = (): void => {
    address.seen(HOME, PACKET.length);
    address.answered(HOME);
  };
  return { address, clock, sent, tokens, bytesTo, atHome };
}

describe('the address of an agent', () => {
  it('gets at most three times the bytes received from there until the agent has answered', () => {
    const { address, bytesTo } = addressRig();
    address.send([PACKET]);
    expect(bytesTo(HOME)).toBe(0);
    address.seen(HOME, 1200);
    for (let count = 0; count < 10; count++) address.send([PACKET]);
    expect(bytesTo(HOME)).toBe(3600);
    address.answered(VICTIM);
    address.send([PACKET]);
    expect(bytesTo(HOME)).toBe(3600);
    address.answered(HOME);
    for (let count = 0; count < 10; count++) address.send([PACKET]);
    expect(bytesTo(HOME)).toBe(15_600);
  });

  it('changes when the agent has answered from a new address', () => {
    const { address, bytesTo, tokens, atHome } = addressRig();
    atHome();
    address.seen(MOVED, 100);
    address.send([PACKET]);
    expect(bytesTo(MOVED)).toBe(41);
    expect(bytesTo(HOME)).toBe(1200);
    expect(address.took(tokens[0] ?? 0, MOVED)).toBe(true);
    address.send([PACKET]);
    expect(bytesTo(MOVED)).toBe(1241);
  });

  it('does not change for packets that a third party forwards', () => {
    const { address, clock, bytesTo, tokens, atHome } = addressRig();
    atHome();
    let came = 0;
    for (let count = 0; count < 100; count++) {
      clock.now += 5;
      came += 100;
      address.seen(VICTIM, 100);
      address.send([PACKET]);
    }
    expect(bytesTo(VICTIM)).toBeLessThanOrEqual(3 * came);
    expect(bytesTo(VICTIM)).toBeLessThan(PACKET.length);
    expect(bytesTo(HOME)).toBe(100 * PACKET.length);
    // The agent's answer does not come from there, and one to another probe says nothing.
    expect(address.took(tokens[0] ?? 0, HOME)).toBe(true);
    expect(address.took(7, VICTIM)).toBe(false);
    address.answered(VICTIM);
    address.send([PACKET]);
    expect(bytesTo(VICTIM)).toBeLessThan(PACKET.length);
  });

  it('drops a challenge when a newer packet comes from the old address', () => {
    const { address, tokens, bytesTo, atHome } = addressRig();
    atHome();
    address.seen(VICTIM, 100);
    address.seen(HOME, 100);
    address.took(tokens[0] ?? 0, VICTIM);
    address.send([PACKET]);
    expect(bytesTo(VICTIM)).toBe(41);
  });
});
