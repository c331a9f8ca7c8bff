import { PassThrough } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import type { TunnelConfig } from '../../config.js';
import { FlowLedger, type FlowDelta } from '../../flow-ledger.js';
import { mappingProof } from '../../wire/rendezvous.js';
import { Rendezvous } from './rendezvous.js';

const MOST = 2 ** 46;

interface Rig {
  path: Rendezvous;
  clock: { now: number };
  /** The agent shows where it is. */
  map: () => void;
  report: (bytes: number, connections?: number) => FlowDelta | undefined;
}

function rig(): Rig {
  const clock = { now: 1_000_000 };
  const ledger = new FlowLedger(
    () => clock.now,
    () => undefined,
  );
  let token = '';
  const path = new Rendezvous({
    tunnel: { id: 7, clientId: 1 } as TunnelConfig,
    stream: new PassThrough() as unknown as TLSSocket,
    visitor: { address: '192.0.2.1', port: 4711 },
    ledger,
    now: () => clock.now,
    send: (order) => (token = order.type === 'rendezvous' ? order.token : token),
    onOver: () => undefined,
  });
  return {
    path,
    clock,
    map: () => {
      const message = { id: path.id, local: { address: '192.0.2.2', port: 1 }, fingerprint: 'f'.repeat(64), proof: '' };
      const proof = mappingProof(Buffer.from(token, 'base64url'), message);
      expect(path.mapped({ ...message, proof }, new PassThrough() as unknown as TLSSocket)).toBe(true);
    },
    report: (bytes, connections = 0) => {
      path.carried({ type: 'carried', id: path.id, upload: bytes, download: bytes, connections });
      return ledger.takeDeltas()[0];
    },
  };
}

it('counts of a path are ignored until its agent has shown its address', () => {
  const { path, report, map } = rig();
  path.became('open');
  expect(report(MOST)).toBeUndefined();
  map();
  path.became('open');
  expect(report(5, 1)).toMatchObject({ upload: 5, download: 5, connections: 1 });
  path.finish();
});

it('counts of a path are limited to what the time since the last report could carry', () => {
  const { path, report, map, clock } = rig();
  map();
  path.became('open');
  let carried = 0;
  for (let n = 0; n < 131_200; n += 1) carried += report(MOST, 65_536)?.upload ?? 0;
  expect(carried).toBe(12_500_000_000);
  clock.now += 10;
  expect(report(MOST, 65_536)).toMatchObject({ upload: 125_000_000, connections: 1_000 });
  // A clock that was set back takes nothing from what follows.
  clock.now -= 5_000;
  expect(report(1)).toBeUndefined();
  clock.now += 1;
  expect(report(1)).toMatchObject({ upload: 1 });
  // An honest agent that was away for a while says it all at once.
  clock.now += 30_000;
  expect(report(200_000_000_000)).toMatchObject({ upload: 200_000_000_000 });
  path.finish();
});
