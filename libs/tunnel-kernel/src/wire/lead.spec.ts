import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChannelPair, closePairs, read, sockets, type Sockets } from '../../test/channel-pair.js';
import type { ReusableChannelStream } from './reusable-channel-stream.js';

const LEAD = Buffer.from('before the stream;');

afterEach(closePairs);

/** On a plain channel the lead is no part of the stream: it is read from the socket first. */
async function begun(
  sealed: boolean,
): Promise<{ server: ReusableChannelStream; both: Sockets; received: () => string }> {
  const both = await sockets();
  const pair = new ChannelPair(sealed, both);
  const server = pair.next('server');
  const parts: Buffer[] = sealed ? read(pair.next('agent')).bytes : [];
  if (!sealed) both.agent.on('data', (chunk: Buffer) => parts.push(chunk)).resume();
  return { server, both, received: () => Buffer.concat(parts).toString('latin1') };
}

const framed = (text: string): string => `\0\0${String.fromCharCode(text.length)}${text}`;

describe.each([false, true])('bytes before a stream, sealed: %s', (sealed) => {
  it('leave together with the first bytes', async () => {
    const { server, both, received } = await begun(sealed);
    const write = vi.spyOn(both.server, 'write');
    server.startWith(LEAD);
    expect(write).not.toHaveBeenCalled();
    server.write(Buffer.from('hello'));
    expect(write).toHaveBeenCalledTimes(1);
    server.write(Buffer.from('again'));
    const [hello, again] = sealed ? ['hello', 'again'] : [framed('hello'), framed('again')];
    await waitFor(() => received() === `${String(LEAD)}${hello}${again}`);
  });

  it('leave alone where nothing follows within a turn of the event loop', async () => {
    const { server, received } = await begun(sealed);
    server.startWith(LEAD);
    await waitFor(() => received() === String(LEAD));
    server.write(Buffer.from('hello'));
    await waitFor(() => received() === `${String(LEAD)}${sealed ? 'hello' : framed('hello')}`);
  });

  it('leave before many bytes, and before the end of an empty stream', async () => {
    const long = 'x'.repeat(100_000);
    const { server, received } = await begun(sealed);
    server.startWith(LEAD);
    server.write(Buffer.from(long));
    await waitFor(
      () => received().replaceAll(/[^x]/g, '').length === long.length && received().startsWith(String(LEAD)),
    );
    const empty = await begun(sealed);
    empty.server.startWith(LEAD);
    empty.server.end();
    await waitFor(() => empty.received() === `${String(LEAD)}${sealed ? '' : '\0\0\0'}`);
  });

  it('do not leave where the stream was given up before', async () => {
    const { server, both, received } = await begun(sealed);
    server.startWith(LEAD);
    server.destroy();
    await waitFor(() => both.agent.readableEnded || both.agent.destroyed);
    expect(received()).toBe('');
  });
});
