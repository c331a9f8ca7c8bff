import { createHmac } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseVisitorKey, TunnelVisitor } from '@gatehouse/tunnel-kernel';
import { HandmadeAgent, MESSAGE } from '../handmade-agent.js';
import { noneOf, type Assault } from '../hostile-attack.js';
import { becomes, dialTls, listenTo, RawServer } from '../sockets.js';
import { visitOf } from '../visits.js';

const HERE = '127.0.0.1';
const ELSEWHERE = ['127.0.0.1', '169.254.169.254', '10.0.0.1', 'fe80::1', '::1'];
const FINGERPRINT = 'A'.repeat(43);
const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
/** For a visitor's program to try the addresses that it got. */
const TRIES_MS = 1_500;

interface Endpoint {
  address: string;
  port: number;
}

interface Asked {
  id: string;
  token: string;
}

/** What the parties of one attack share: a tunnel of mode p2p whose agent lies. */
interface Meeting {
  port: number;
  visitorKey: string;
  agent: HandmadeAgent;
}

/**
 * A direct path leads a visitor's program to the address that the agent calls its own. The gateway passes that on only
 * where it sees both under one address, and the program connects to none of its own machine (docs/tunnel-protocol.md).
 */
export async function lieAboutOwnAddress(assault: Assault): Promise<string> {
  const { ground, chance } = assault;
  const client = await ground.addClient(`liar ${chance.below(1e9)}`);
  const wish = { mode: 'p2p', target_addr: '127.0.0.1:9' };
  const tunnel = await ground.addTunnel(`liar ${chance.below(1e9)}`, client.id, wish);
  const meeting = { port: ground.ports.agents, visitorKey: tunnel.visitor_key ?? '' };
  const findings: string[] = [];
  try {
    const stranger = await HandmadeAgent.login(meeting.port, client.key, chance.stranger());
    findings.push(...(await fromElsewhere({ ...meeting, agent: stranger }, chance.stranger())));
    stranger.control.destroy();
    const neighbour = await HandmadeAgent.login(meeting.port, client.key, HERE);
    findings.push(...(await fromNearby({ ...meeting, agent: neighbour })));
    neighbour.control.destroy();
  } finally {
    await ground.tunnelApi.call('DELETE', `/clients/${client.id}`);
  }
  noneOf(findings, 'direct paths');
  return `${ELSEWHERE.length} addresses inside, and those of the visitor's machine`;
}

/** Visitor and agent have addresses of their own: none of the agent's words may come through. */
async function fromElsewhere(meeting: Meeting, from: string): Promise<string[]> {
  const findings: string[] = [];
  for (const address of ELSEWHERE) {
    const path = await pathTo(meeting, from, { address, port: 22 });
    if (path.local.address === address) findings.push(`the gateway sends a visitor from elsewhere to ${address}`);
  }
  return findings;
}

/** Both come from one address: the gateway cannot know better, and the visitor's program has to. */
async function fromNearby(meeting: Meeting): Promise<string[]> {
  const traps = await Promise.all(ownAddresses().map((address) => RawServer.start((socket) => socket.end(), address)));
  const findings: string[] = [];
  try {
    for (const trap of traps) {
      const own = { address: trap.address, port: trap.port };
      const path = await pathTo(meeting, HERE, own);
      // Otherwise what follows would show nothing.
      if (path.local.address !== own.address) findings.push(`behind one NAT an agent's own address is not passed on`);
      await letVisit(meeting, own);
      if (trap.total > 0) findings.push(`a visitor's program connected to ${own.address} of its own machine`);
    }
  } finally {
    for (const trap of traps) trap.close();
  }
  return findings;
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outer = all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  return ['127.0.0.77', ...(outer === undefined ? [] : [outer])];
}

/** What the gateway sends a visitor's program when the agent claims `local` as its own address. */
async function pathTo(meeting: Meeting, from: string, local: Endpoint): Promise<{ local: Endpoint }> {
  const visitor = await dialTls({ port: meeting.port, from }, 'gwv/1');
  try {
    const answer = listenTo(visitor, (text) => text.endsWith('}'), 10_000);
    const asked = nextRendezvous(meeting.agent);
    visitor.write(visitOf(2, parseVisitorKey(meeting.visitorKey)));
    const mapping = await lie(meeting, await asked, local);
    const { text } = await answer;
    mapping.destroy();
    if (!text.endsWith('}')) throw new Error('the gateway names no agent');
    return JSON.parse(text.slice(text.indexOf('{'))) as { local: Endpoint };
  } finally {
    visitor.destroy();
  }
}

/** A visitor's own program, for as long as it takes to try what it is given. */
async function letVisit(meeting: Meeting, local: Endpoint): Promise<void> {
  const asked = nextRendezvous(meeting.agent);
  const server = { host: HERE, port: meeting.port };
  const visitor = new TunnelVisitor({ server, key: meeting.visitorKey, logger: QUIET, p2p: true });
  try {
    await visitor.listen({ host: HERE, port: 0 });
    const mapping = await lie(meeting, await asked, local);
    await delay(TRIES_MS);
    mapping.destroy();
  } finally {
    visitor.stop();
  }
}

/** Call it before the visitor asks. */
async function nextRendezvous(agent: HandmadeAgent): Promise<Asked> {
  const before = agent.received(MESSAGE.rendezvous).length;
  const isAsked = await becomes(() => agent.received(MESSAGE.rendezvous).length > before, 10_000);
  const asked = agent.received<Asked>(MESSAGE.rendezvous)[before];
  if (!isAsked || asked === undefined) throw new Error('the gateway asks the agent for no direct path');
  return asked;
}

async function lie({ port, agent }: Meeting, { id, token }: Asked, local: Endpoint): Promise<{ destroy(): void }> {
  const mapping = await dialTls({ port, from: agent.from }, 'gwr/1');
  const words = ['mapping', id, local.address, local.port, FINGERPRINT].join('\n');
  const proof = createHmac('sha256', Buffer.from(token, 'base64url')).update(words).digest('base64url');
  const body = Buffer.from(JSON.stringify({ id, local, fingerprint: FINGERPRINT, proof }));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  mapping.resume().write(Buffer.concat([length, body]));
  return mapping;
}
