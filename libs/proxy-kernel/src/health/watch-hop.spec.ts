import { describe, expect, it } from 'vitest';
import { DialError, type DialContext, type Outbound, type PacketConnection } from '../interfaces/outbound.js';
import { watchHop } from './watch-hop.js';

const context: DialContext = { signal: new AbortController().signal };

/** An outbound whose associations the test provides. */
function hopWith(openPackets: NonNullable<Outbound['openPackets']>) {
  const reported: string[] = [];
  const record = (what: string) => (tag: string) => void reported.push(`${what} ${tag}`);
  const reports = { flowFailed: record('failed'), flowSucceeded: record('succeeded'), flowEnded: record('ended') };
  const outbound: Outbound = {
    tag: 'n1',
    type: 'socks5',
    udp: true,
    connect: () => Promise.reject(new Error('not in this test')),
    openPackets,
  };
  return { reported, hop: watchHop(outbound, reports) };
}

function newPackets() {
  const listeners = { message: [] as ((payload: Buffer) => void)[], close: [] as (() => void)[] };
  const packets: PacketConnection = {
    send: () => undefined,
    onMessage: (listener) => void listeners.message.push((payload) => listener(payload, { host: 'h', port: 1 })),
    onClose: (listener) => void listeners.close.push(listener),
    close: () => undefined,
  };
  return {
    packets,
    answer: () => listeners.message.forEach((listener) => listener(Buffer.alloc(1))),
    end: () => listeners.close.forEach((listener) => listener()),
  };
}

describe('a hop that carries datagrams', () => {
  it('succeeds with the first that comes back, and reports it once', async () => {
    const { packets, answer, end } = newPackets();
    const { hop, reported } = hopWith(() => Promise.resolve(packets));
    const opened = await hop.openPackets?.(context);
    expect(opened).toBe(packets);
    expect(reported).toEqual([]);
    answer();
    answer();
    end();
    expect(reported).toEqual(['succeeded n1']);
  });

  it('reports nothing if it ends without any', async () => {
    const { packets, end } = newPackets();
    const { hop, reported } = hopWith(() => Promise.resolve(packets));
    await hop.openPackets?.(context);
    end();
    expect(reported).toEqual(['ended n1']);
  });

  it.each([
    [new DialError('dial', 'connection_refused', 'x'), 'failed n1'],
    [new DialError('dial', 'other', 'given up'), 'ended n1'],
  ])('failed when it could not be reached: %s', async (error, wanted) => {
    const { hop, reported } = hopWith(() => Promise.reject(error));
    await expect(hop.openPackets?.(context)).rejects.toBe(error);
    expect(reported).toEqual([wanted]);
  });

  it('fails if it accepted the connection but never answered', async () => {
    const late = new DialError('dial', 'timeout', 'x');
    for (const [stages, wanted] of [
      [['connect'], 'failed n1'],
      [['connect', 'greeting'], 'ended n1'],
    ] as const) {
      const { hop, reported } = hopWith(({ onStage }) => {
        for (const stage of stages) onStage?.(stage);
        return Promise.reject(late);
      });
      await expect(hop.openPackets?.(context)).rejects.toBe(late);
      expect(reported).toEqual([wanted]);
    }
  });
});
