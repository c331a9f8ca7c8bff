import { once } from 'node:events';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { closePairs, sockets } from '../../test/channel-pair.js';
import { encodeStart, PROBE } from '../wire/prelude.js';
import { StartReader } from './start-reader.js';

const key = Buffer.alloc(32, 7);
const place = { address: '192.0.2.1', port: 4711 };
const START = encodeStart(
  {
    kind: 'tunnel',
    id: 1,
    target: null,
    destination: '',
    wantsAnswer: false,
    framed: true,
    reused: true,
    longRecords: true,
    visitor: place,
    entrance: place,
  },
  key,
);

afterEach(closePairs);

async function listening() {
  const { agent, server } = await sockets();
  const seen = { starts: [] as Buffer[], rests: [] as string[], ends: 0, failures: [] as string[] };
  const reader = new StartReader({
    started: (start, rest) => {
      seen.starts.push(Buffer.from(start));
      seen.rests.push(String(rest));
      agent.pause();
    },
    ended: () => (seen.ends += 1),
    failed: (error) => seen.failures.push((error as Error).message),
  });
  reader.listen(agent);
  const answers: Buffer[] = [];
  server.on('data', (chunk: Buffer) => answers.push(chunk)).resume();
  return { agent, server, seen, reader, answered: () => Buffer.concat(answers).length };
}

describe('what an idle channel reads', () => {
  it('are probes, each of which it answers, then a start and what follows, in one piece', async () => {
    const { agent, server, seen, answered } = await listening();
    server.write(PROBE);
    await waitFor(() => answered() === 1);
    server.write(Buffer.concat([PROBE, PROBE, START, Buffer.from('the first bytes')]));
    await waitFor(() => seen.starts.length === 1 && answered() === 3);
    expect(seen.starts[0]?.equals(START)).toBe(true);
    expect(seen.rests).toEqual(['the first bytes']);
    expect(agent.listenerCount('data')).toBe(0);
  });

  it('may come byte by byte', async () => {
    const { agent, server, seen, answered } = await listening();
    for (const byte of Buffer.concat([PROBE, START])) {
      const arrived = once(agent, 'data');
      server.write(Buffer.of(byte));
      await arrived;
    }
    expect(seen.starts.map((start) => start.equals(START))).toEqual([true]);
    expect(seen.rests).toEqual(['']);
    await waitFor(() => answered() === 1);
  });

  it('is refused if it is something else', async () => {
    const { server, seen } = await listening();
    server.write('GET / HTTP/1.1\r\n\r\n');
    await waitFor(() => seen.failures.length === 1);
    expect(seen).toMatchObject({ starts: [], failures: ['not the start of a data channel'] });
  });

  it('ends once with the channel, also in the middle of a start', async () => {
    const { server, seen } = await listening();
    server.write(START.subarray(0, 20));
    server.resetAndDestroy();
    await waitFor(() => seen.ends === 1);
    expect(seen).toMatchObject({ starts: [], failures: [] });
  });
});
