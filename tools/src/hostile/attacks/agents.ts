import { setTimeout as delay } from 'node:timers/promises';
import { parseVisitorKey, wireParts } from '@gatehouse/tunnel-kernel';
import type { Chance } from '../../trials/chance.js';
import { noneOf, share, type Assault, type HostileAttack } from '../hostile-attack.js';
import { becomes, converse, dialTls } from '../sockets.js';
import { HandmadeAgent, MESSAGE, messageOf } from '../handmade-agent.js';
import { lieAboutOwnAddress } from './direct-paths.js';
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
  { name: "addresses of the visitor's network as an agent's own", role: 'agent', quick: true, run: lieAboutOwnAddress },
];

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
  agent.send(MESSAGE.pathState, JSON.stringify({ id, state: 'open' }));
  const report = messageOf(
    MESSAGE.carried,
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
    const asked = (): { id: string }[] => agent.received<{ id: string }>(MESSAGE.rendezvous);
    if (await becomes(() => asked().length > 0, 1_500)) {
      setTimeout(() => visitor.destroy(), 10_000).unref();
      return asked()[0]?.id ?? '';
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
  const whole = messageOf(type, body);
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
