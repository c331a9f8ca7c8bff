import { ChannelPeer, ControlServer, type ControlEndpoint } from '@gatehouse/net';
import { afterEach, expect, it } from 'vitest';
import { CHANNEL_LIMITS } from '../common/channel-limits.js';
import { EdgeUnavailableError } from '../common/edge-process.js';
import { EdgeLink } from './edge-link.js';

const KEY = { identity: 'spec', psk: Buffer.alloc(32, 7) };
const HELLO = {
  protocol: 1,
  pid: 1,
  optionsId: null,
  state: { edge: 1, ports: { agents: 1, http: 0, https: 0 }, failed: null },
};

const opened: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

/** A supervisor that answers the greeting itself, and everything else with `answer`. */
async function supervisor(
  answer: (server: ControlServer) => Promise<unknown>,
  at: ControlEndpoint = { host: '127.0.0.1', port: 0 },
): Promise<ControlEndpoint> {
  const server: ControlServer = new ControlServer({
    keys: [KEY],
    limits: CHANNEL_LIMITS,
    onLink: (link) =>
      void new ChannelPeer(link, {
        perform: (method) => (method === 'hello' ? Promise.resolve(HELLO) : answer(server)),
        noted: () => undefined,
        closed: () => undefined,
      }),
  });
  opened.push(server);
  return await server.listen(at);
}

async function linkTo(endpoint: ControlEndpoint): Promise<EdgeLink> {
  const nothing = (): void => undefined;
  const link = new EdgeLink({ endpoint, key: KEY, own: null, onLogs: nothing, onExit: nothing, onProblem: nothing });
  opened.push({ close: () => link.leave() });
  expect(await link.start(30_000)).toMatchObject({ outcome: 'ready' });
  return link;
}

it('asks the next edge what the one before it did not answer', async () => {
  const place: ControlEndpoint = await supervisor(async (server) => {
    await server.close();
    await supervisor(() => Promise.resolve(['an agent']), place);
  });
  const link = await linkTo(place);
  expect(await link.request('agents', { clientIds: null }, 30_000)).toEqual(['an agent']);
});

it('refuses a request when no edge comes in the place of a lost one', async () => {
  const link = await linkTo(await supervisor((server) => server.close()));
  await expect(link.request('agents', { clientIds: null })).rejects.toThrow(EdgeUnavailableError);
  await expect(link.request('agents', { clientIds: null })).rejects.toThrow('The edge is not reached.');
});
