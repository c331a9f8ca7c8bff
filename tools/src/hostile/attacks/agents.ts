import { setTimeout as delay } from 'node:timers/promises';
import { parseAgentKey, parseVisitorKey, wireParts } from '@gatehouse/tunnel-kernel';
import type { TLSSocket } from 'node:tls';
import type { Chance } from '../../trials/chance.js';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { becomes, converse, dialTls } from '../sockets.js';
import { visitOf } from '../visits.js';

/** Clients of the tunnel gateway whose program is not ours. */
export const AGENT_ATTACKS: readonly HostileAttack[] = [
  {
    name: 'reports of more bytes than a path can carry',
    role: 'agent',
    quick: true,
    settleMs: 30_000,
    run: carriedReports,
  },
  { name: 'forged messages after the login', role: 'agent', quick: true, run: forged },
  { name: 'forged openings of data channels', role: 'agent', quick: true, run: openings },
];

const AUTH = 1;
const PATH_STATE = 0x90;
const CARRIED = 0x91;
const RENDEZVOUS = 0x80;

/** Frames of the control connection: docs/tunnel-protocol.md. */
class HandmadeAgent {
  private text = Buffer.alloc(0);

  private constructor(readonly control: TLSSocket) {
    control.on('data', (part: Buffer) => (this.text = Buffer.concat([this.text, part]).subarray(-1_000_000)));
  }

  static async login(port: number, key: string, from: string): Promise<HandmadeAgent> {
    const agent = new HandmadeAgent(await dialTls({ port, from }, 'gwt/1'));
    const { secret } = parseAgentKey(key);
    const auth = { versions: [1], secret, agentId: `hostile-${from}`, epoch: 1, software: 'hostile/1' };
    agent.send(AUTH, JSON.stringify(auth));
    await becomes(() => agent.text.length > 0, 10_000);
    return agent;
  }

  send(type: number, body: string | Buffer): boolean {
    return this.control.write(frame(type, Buffer.from(body)));
  }

  async sent(): Promise<void> {
    await becomes(() => !this.control.writableNeedDrain, 10_000);
  }

  /** The id in the newest message of that type. */
  idOf(type: number): string | undefined {
    for (let at = 0; at + 4 <= this.text.length;) {
      const end = at + 4 + this.text.readUIntBE(at + 1, 3);
      if (this.text[at] === type && end <= this.text.length) {
        return (JSON.parse(this.text.toString('utf8', at + 4, end)) as { id: string }).id;
      }
      at = end;
    }
    return undefined;
  }
}

function frame(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  header[0] = type;
  return Buffer.concat([header, body]);
}

async function carriedReports(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const client = await ground.addClient(`carried ${chance.below(1e9)}`);
  const agent = await HandmadeAgent.login(ground.ports.agents, client.key, chance.stranger());
  const tunnel = await ground.addTunnel(`carried ${chance.below(1e9)}`, client.id, {
    mode: 'p2p',
    target_addr: '127.0.0.1:9',
  });
  const count = share(assault, 131_200);
  const id = await rendezvous(assault, agent, tunnel.visitor_key ?? '');
  agent.send(PATH_STATE, JSON.stringify({ id, state: 'open' }));
  const report = frame(
    CARRIED,
    Buffer.from(JSON.stringify({ id, upload: 2 ** 46, download: 2 ** 46, connections: 65_536 })),
  );
  for (let at = 0; at < count; at += 800) {
    agent.control.write(Buffer.concat(Array.from({ length: 800 }, () => report)));
    await agent.sent();
    if (agent.control.destroyed) break;
  }
  await delay(3_000);
  agent.control.destroy();
  const findings: string[] = [];
  for (const path of ['/clients', `/clients/${client.id}`, '/tunnels']) {
    await ground.tunnelApi.call('GET', path).catch((error: Error) => findings.push(error.message.slice(0, 120)));
  }
  const answer = await fetch(`${ground.services.tunnel}/readyz`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) findings.push(`/readyz of the tunnel gateway answers ${answer.status}`);
  const believed = await ground.tunnelApi
    .call<{ inlet_flow: number }>('GET', `/tunnels/${tunnel.id}`)
    .catch(() => ({ inlet_flow: 0 }));
  if (believed.inlet_flow > 2 ** 46) findings.push(`the counter says ${believed.inlet_flow}`);
  await ground.tunnelApi.call('DELETE', `/clients/${client.id}`).catch(() => null);
  noneOf(findings, `${count} reports`);
  return `${count} reports of 2^46 bytes each`;
}

async function rendezvous({ ground, chance }: Assault, agent: HandmadeAgent, visitorKey: string): Promise<string> {
  const say = visitOf(2, parseVisitorKey(visitorKey));
  for (let tries = 0; tries < 10; tries += 1) {
    const visitor = await dialTls({ port: ground.ports.agents, from: chance.stranger() }, 'gwv/1');
    visitor.resume().write(say);
    if (await becomes(() => agent.idOf(RENDEZVOUS) !== undefined, 1_500)) {
      setTimeout(() => visitor.destroy(), 10_000).unref();
      return agent.idOf(RENDEZVOUS) ?? '';
    }
    visitor.destroy();
  }
  throw new Error('the gateway asks the agent for no direct path');
}

const NUMBERS = [0, 1, 2 ** 31, 2 ** 46, 2 ** 53, -1, 1.5, 1e308, Number.NaN];

/** A message that could be one, with a value or a length at its limits. */
function forge(chance: Chance): Buffer {
  const type = chance.pick([1, 2, 3, 0x10, 0x12, 0x13, 0x14, 0x20, 0x21, 0x80, 0x81, 0x90, 0x91, 0x7f, 0xff]);
  const value = (): unknown =>
    chance.pick<unknown>([
      chance.pick(NUMBERS),
      'x'.repeat(chance.below(300)),
      null,
      [],
      {},
      'a'.repeat(32),
      'open',
      '\u0000',
    ]);
  const fields = Object.fromEntries(
    [
      'id',
      'kind',
      'channel',
      'reason',
      'state',
      'upload',
      'download',
      'connections',
      'versions',
      'secret',
      'epoch',
    ].map((name) => [name, value()]),
  );
  const body = chance.below(3) === 0 ? chance.bytes(chance.below(400)) : Buffer.from(JSON.stringify(fields));
  const whole = frame(type, body);
  if (chance.below(8) === 0) whole.writeUIntBE(chance.below(2 ** 24), 1, 3);
  return whole;
}

async function forged(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const client = await ground.addClient(`forger ${chance.below(1e9)}`);
  const logins = share(assault, 40);
  let sent = 0;
  for (let at = 0; at < logins; at += 1) {
    const agent = await HandmadeAgent.login(ground.ports.agents, client.key, chance.stranger()).catch(() => null);
    if (agent === null) continue;
    for (let message = 0; message < 20 && !agent.control.destroyed; message += 1) {
      agent.control.write(forge(chance));
      sent += 1;
    }
    await delay(20);
    agent.control.destroy();
  }
  await ground.tunnelApi.call('DELETE', `/clients/${client.id}`);
  return `${sent} forged messages after ${logins} logins`;
}

async function openings(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const count = share(assault, 400);
  const calls = Array.from({ length: count }, () => {
    const ticket = { id: chance.bytes(16), key: chance.bytes(32) };
    const opening = Buffer.from(wireParts.encodeOpening(ticket, chance.below(2) === 0));
    if (chance.below(2) === 0) opening[chance.below(opening.length)] = chance.below(256);
    const say = chance.below(2) === 0 ? opening : opening.subarray(0, chance.below(36));
    return converse({ port: ground.ports.agents, from: chance.stranger() }, say, { withinMs: 500 });
  });
  await Promise.all(calls);
  return `${count} openings without a ticket`;
}
