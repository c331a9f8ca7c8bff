import { PassThrough } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ByteReader, type ByteStream } from '@gatehouse/net';
import { afterEach, describe, expect, it } from 'vitest';
import type { TunnelConfig } from '../../config.js';
import { FlowLedger } from '../../flow-ledger.js';
import type { RendezvousMessage } from '../../wire/messages.js';
import { mappingProof, readPath } from '../../wire/rendezvous.js';
import { Rendezvous } from './rendezvous.js';

const made: Rendezvous[] = [];
afterEach(() => {
  for (const one of made.splice(0)) one.finish();
});

/** The addresses that a visitor at `visitorAddress` gets for an agent at `agentAddress` that sends `local`. */
async function addressesSent(visitorAddress: string, agentAddress: string, local: string) {
  const stream = new PassThrough();
  const orders: RendezvousMessage[] = [];
  const rendezvous = new Rendezvous({
    tunnel: { id: 7, clientId: 1 } as TunnelConfig,
    stream: Object.assign(stream, { write: (part: Buffer) => answer.push(part) }) as unknown as TLSSocket,
    visitor: { address: visitorAddress, port: 1000 },
    ledger: new FlowLedger(Date.now, () => undefined),
    send: (order) => void (order.type === 'rendezvous' && orders.push(order)),
    now: Date.now,
    onOver: () => undefined,
  });
  const answer = new PassThrough();
  made.push(rendezvous);
  const said = { id: rendezvous.id, local: { address: local, port: 2000 }, fingerprint: 'f' };
  const proof = mappingProof(Buffer.from(orders[0]?.token ?? '', 'base64url'), said);
  const mapping = Object.assign(new PassThrough(), { remoteAddress: agentAddress, remotePort: 3000 });
  expect(rendezvous.mapped({ ...said, proof }, mapping as unknown as TLSSocket)).toBe(true);
  return readPath(new ByteReader(answer as unknown as ByteStream));
}

describe('a rendezvous', () => {
  it('passes on the agent’s own address only if both are behind the same NAT', async () => {
    const same = await addressesSent('198.51.100.7', '198.51.100.7', '192.168.0.9');
    expect(same.local).toEqual({ address: '192.168.0.9', port: 2000 });
    const other = await addressesSent('198.51.100.7', '198.51.100.8', '192.168.0.9');
    expect(other.local).toEqual({ address: '198.51.100.8', port: 3000 });
    expect(other.agent).toEqual(other.local);
  });
});
