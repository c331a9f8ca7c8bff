import { randomBytes } from 'node:crypto';
import type { RemoteInfo, Socket } from 'node:dgram';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { TunnelRig } from '../../test/tunnel-rig.js';
import { ask, udpLine, udpSocket, type UdpLine } from '../../test/udp-rig.js';
import { AgentRoute } from './agent-route.js';
import { FRAME, sessionOf } from './frames.js';
import type { PacketSocket } from './packet-socket.js';
import { PacketTransport } from './packet-transport.js';
import { PathWatch } from './path-watch.js';
import { PacketOpener, packetKeys, PacketSealer, type PacketKeys } from './sealed-packets.js';
import { StreamTransport } from './stream-transport.js';

const PAYLOAD_BYTES = 900;
const keysOf = (material: Buffer): PacketKeys => packetKeys(() => material);

/** A route whose agent answers probes, each packet taking `delay` of a clock that nothing else moves. */
function routeToAgent(nearMs: number) {
  const keys = keysOf(randomBytes(70));
  const from: RemoteInfo = { address: '192.0.2.1', port: 4000, family: 'IPv4', size: 0 };
  const clock = { now: 0, delay: 0 };
  const now = (): number => clock.now;
  const packetSocket = {
    add: () => true,
    remove: () => undefined,
    send: (parts: Buffer[]) => {
      clock.now += clock.delay;
      agent.receive(Buffer.concat(parts));
    },
  };
  let channels = 0;
  const route = new AgentRoute({
    elsewhere: false,
    keys,
    packetSocket: packetSocket as unknown as PacketSocket,
    now,
    nearMs,
    openChannel: () => {
      channels += 1;
      return Promise.resolve(new PassThrough());
    },
    frame: () => undefined,
    renew: () => undefined,
  });
  const agent = new PacketTransport({
    sealer: new PacketSealer(keys.link, keys.agent),
    opener: new PacketOpener(keys.server),
    now,
    transmit: (parts) => {
      clock.now += clock.delay;
      route.receive(Buffer.concat(parts), from);
    },
    frame: (type, body) => {
      if (type === FRAME.probe) watch.probe(sessionOf(body), body);
      else if (type === FRAME.probed) watch.probed(sessionOf(body), body);
    },
  });
  const watch = new PathWatch(agent, now);
  watch.ask();
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round++) {
      clock.now += 1000;
      route.tick();
    }
  };
  return { route, clock, rounds, watch, channels: () => channels };
}

describe('the way to an agent', () => {
  it('is a data channel if answers come at once, and packets until it is open', async () => {
    const { route, watch, channels } = routeToAgent(3);
    expect(route.viaPackets).toBe(true);
    expect(route.transport(1)).toBeInstanceOf(PacketTransport);
    await waitFor(() => route.transport(1) instanceof StreamTransport);
    expect(channels()).toBe(1);
    expect(route.viaPackets).toBe(true);
    // The agent is asked to answer the same way.
    watch.ask();
    expect(watch.peerGood).toBe(false);
    route.close();
  });

  it('is packets if answers take longer, and if no agent is near', () => {
    const far = routeToAgent(3);
    far.clock.delay = 2;
    far.rounds(8);
    expect(far.route.transport(1)).toBeInstanceOf(PacketTransport);
    const never = routeToAgent(0);
    never.rounds(8);
    expect(never.route.transport(1)).toBeInstanceOf(PacketTransport);
    expect(never.channels()).toBe(0);
  });

  it('becomes packets again when all recent answers were slow, not when some were', async () => {
    const { route, clock, rounds, watch } = routeToAgent(3);
    route.transport(1);
    await waitFor(() => route.transport(1) instanceof StreamTransport);
    clock.delay = 100;
    rounds(7);
    expect(route.transport(1)).toBeInstanceOf(StreamTransport);
    rounds(1);
    expect(route.transport(1)).toBeInstanceOf(PacketTransport);
    watch.ask();
    expect(watch.peerGood).toBe(true);
    clock.delay = 0;
    rounds(1);
    expect(route.transport(1)).toBeInstanceOf(StreamTransport);
    route.close();
  });

  it('stays a data channel while the agent is busy', async () => {
    const { route, clock, rounds } = routeToAgent(3);
    route.transport(1);
    await waitFor(() => route.transport(1) instanceof StreamTransport);
    clock.delay = 4;
    rounds(20);
    expect(route.transport(1)).toBeInstanceOf(StreamTransport);
    route.close();
  });
});

describe('datagrams to and from an agent nearby', () => {
  let rig: TunnelRig | undefined;
  let line: UdpLine | undefined;
  const sockets: Socket[] = [];
  afterEach(async () => {
    await rig?.close();
    line?.close();
    for (const socket of sockets.splice(0)) socket.close();
  });
  const udp = async (): Promise<Socket> => {
    const socket = await udpSocket();
    sockets.push(socket);
    return socket;
  };

  it.each([
    ['plain', false],
    ['sealed', true],
  ])('use %s data channels in both directions although packets get through', async (_, encrypt) => {
    const started = new TunnelRig({ datagrams: { nearMs: 60_000 } });
    rig = started;
    await started.listen();
    const path = await udpLine(started);
    line = path;
    const { key } = started.client(encrypt);
    started.agent(key, { server: { host: '127.0.0.1', port: path.port } });
    await started.online(1);
    await waitFor(() => started.server.agents()[0]?.packets === true);
    const target = await udp();
    target.on('message', (payload, { port, address }) => target.send(payload, port, address));
    const port = await started.tunnel(1, [target.address().port], { mode: 'udp' });
    const visitor = await udp();
    const sent = randomBytes(PAYLOAD_BYTES);
    /** Whether the answer came as a packet: no probe and no answer to one is as long. */
    const answeredByPacket = async (): Promise<boolean> => {
      path.seen.length = 0;
      expect((await ask(visitor, port, sent)).equals(sent)).toBe(true);
      return path.seen.some(({ length }) => length > PAYLOAD_BYTES && length < PAYLOAD_BYTES + 100);
    };
    await waitFor(async () => !(await answeredByPacket()));
    for (let count = 0; count < 10; count++) expect(await answeredByPacket()).toBe(false);
    expect(started.server.agents()[0]?.packets).toBe(true);
    expect(started.server.flows).toBe(1);
  });
});
