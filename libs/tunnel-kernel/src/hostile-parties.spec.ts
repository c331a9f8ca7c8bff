import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFlowFailure, type FlowFailure } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  beHostileTarget,
  chanceOf,
  garbage,
  oddRequests,
  oddSocks,
  pick,
  visitHostile,
} from '../test/hostile-parties.js';
import { HostRig } from '../test/host-rig.js';
import { udpSocket } from '../test/udp-rig.js';
import type { TunnelConfig } from './index.js';

/** `HOSTILE_VISITORS` and `HOSTILE_SEED` look longer, and elsewhere. */
const VISITORS = Number(process.env['HOSTILE_VISITORS'] ?? 150);
const SEED = Number(process.env['HOSTILE_SEED'] ?? 4);
const AT_ONCE = 25;
/** Each party is gone by then. */
const LAST_MS = 300;
const MODES = ['tcp', 'http_proxy', 'socks5', 'mix_proxy', 'file'] as const;

let rig: HostRig;
let folder: string;
let failures: FlowFailure[];
let stopListening: () => void;
beforeEach(async () => {
  failures = [];
  stopListening = onFlowFailure((failure) => failures.push(failure));
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-hostile-'));
  writeFileSync(join(folder, 'file.txt'), 'x'.repeat(100_000));
  rig = await HostRig.start();
});
afterEach(async () => {
  stopListening();
  await rig.close();
  rmSync(folder, { recursive: true });
});

/** A bystander's connection, which sends bytes all the time and reads them back. */
class Bystander {
  private readonly socket: Socket;
  private said = 0;
  private received = 0;
  private wrong = false;
  private readonly timer: NodeJS.Timeout;

  constructor(socket: Socket) {
    this.socket = socket;
    this.timer = setInterval(() => socket.write(String(this.said++ % 10)), 5);
    socket.on('data', (part: Buffer) => {
      for (const byte of part) this.wrong ||= byte !== 48 + (this.received++ % 10);
    });
  }

  async leave(): Promise<void> {
    clearInterval(this.timer);
    await waitFor(() => this.received === this.said);
    expect(this.wrong).toBe(false);
    this.socket.destroy();
  }
}

it(
  `${VISITORS} hostile visitors and their targets cause no uncaught error, and nobody else notices (seed ${SEED})`,
  async () => {
    const chance = chanceOf(SEED);
    const target = await rig.target((socket) => beHostileTarget(socket, chance, LAST_MS));
    const other = rig.client();
    rig.agent(other.key);
    const own = rig.client();
    rig.agent(own.key, { fileRoots: [folder] });
    await rig.online(other.record.id);
    await rig.online(own.record.id);
    const tunnels: TunnelConfig[] = MODES.map((mode, index) =>
      rig.tunnelConfig(own.record.id, mode === 'tcp' ? [target] : [], {
        id: 20 + index,
        mode,
        ...(mode === 'file' && { file: { path: folder, readOnly: true, stripPrefix: '' } }),
      }),
    );
    tunnels.push(rig.tunnelConfig(own.record.id, [target], { id: 30, mode: 'udp' }));
    tunnels.push(rig.tunnelConfig(other.record.id, [await rig.echo()], { id: 40 }));
    const hosts = [rig.hostConfig([target], { clientId: own.record.id })];
    const states = await rig.server.apply(rig.config({ tunnels, hosts }));
    const portOf = (id: number): number => states.find((state) => state.id === id)?.port ?? 0;
    const bystander = new Bystander(await rig.visit(portOf(40)));

    const datagrams = await udpSocket();
    const visit = async (): Promise<void> => {
      const mode = pick(chance, [...MODES, 'host', 'host', 'agents', 'udp'] as const);
      if (mode === 'udp') return datagrams.send(garbage(chance, 2000), portOf(30), '127.0.0.1');
      const authority = `127.0.0.1:${target}`;
      const words = {
        tcp: () => garbage(chance),
        http_proxy: () => oddRequests(chance, authority, 'absolute'),
        socks5: () => oddSocks(chance, target),
        mix_proxy: () => (chance() < 0.5 ? oddSocks(chance, target) : oddRequests(chance, authority, 'absolute')),
        file: () => oddRequests(chance, authority, 'origin'),
        host: () => oddRequests(chance, authority, 'origin'),
        agents: () => garbage(chance),
      }[mode]();
      const ports = { host: rig.http, agents: rig.port };
      const port = mode in ports ? ports[mode as keyof typeof ports] : portOf(20 + MODES.indexOf(mode as 'tcp'));
      await visitHostile(rig.visitor(port), words, chance, LAST_MS);
    };
    for (let done = 0; done < VISITORS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, visit));

    await bystander.leave();
    datagrams.close();
    await waitFor(() => rig.server.flows <= rig.server.datagramState().sessions, { timeoutMs: 15_000 });
    expect(failures).toEqual([]);
    // All are served as before.
    expect((await rig.raw('GET / HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n')).slice(0, 12)).toBe(
      'HTTP/1.1 404',
    );
  },
  20_000 + VISITORS * 100,
);
