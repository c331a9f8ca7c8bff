import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TunnelRig } from '../../test/tunnel-rig.js';
import { gatekeeper, policy, type Gatekeeper } from '../../test/verification-rig.js';
import type { VisitorPolicyConfig } from '../index.js';

let rig: TunnelRig;
let gate: Gatekeeper;
let origin: Server;
let port: number;
let seen: IncomingMessage['headers'][];
const users = policy({ id: 3, resource: { kind: 'tunnel', id: 7 }, type: 'basic', password: 'ann:is:a\nroot:is:r' });

beforeEach(async () => {
  seen = [];
  origin = createServer((asked, response) => {
    seen.push(asked.headers);
    response.end('origin');
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  gate = gatekeeper();
  rig = new TunnelRig(gate.environment);
  await rig.listen();
  rig.agent(rig.client().key);
  await rig.online(1);
  await guard(users);
});
afterEach(async () => {
  await rig.close();
  origin.closeAllConnections();
  origin.close();
});

async function guard(...policies: VisitorPolicyConfig[]): Promise<void> {
  const tunnels = [rig.tunnelConfig(1, [], { mode: 'mix_proxy' })];
  const [state] = await rig.server.apply(rig.config({ tunnels, policies }));
  port = state?.port ?? 0;
}

function get(headers: Record<string, string | string[]> = {}): Promise<IncomingMessage> {
  const { port: originPort } = origin.address() as AddressInfo;
  const host = `127.0.0.1:${originPort}`;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: `http://${host}/`, headers: { host, ...headers }, agent: false };
    request(options, (answer) => resolve(answer.resume()))
      .on('error', reject)
      .end();
  });
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

async function socks(user: string, password: string): Promise<string> {
  const socket = await rig.visit(port);
  const fields = Buffer.concat([user, password].flatMap((text) => [Buffer.from([text.length]), Buffer.from(text)]));
  socket.write(Buffer.concat([Buffer.from([5, 1, 2, 1]), fields]));
  let said = '';
  for await (const part of socket) {
    said += (part as Buffer).toString('hex');
    if (said.length >= 8) break;
  }
  return said;
}

describe('a proxy with user names', () => {
  it('admits visitors with credentials for the proxy, and shows them to nobody else', async () => {
    const refused = await get();
    expect(refused.statusCode).toBe(407);
    expect(refused.headers['proxy-authenticate']).toBe('Basic realm="tunnel 7", charset="UTF-8"');
    expect((await get({ 'proxy-authorization': basic('ann:a'), authorization: basic('own:own') })).statusCode).toBe(
      200,
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ authorization: basic('own:own') });
    expect(seen[0]).not.toHaveProperty('proxy-authorization');
  });

  it('needs exactly one pair of credentials for the proxy; others, or two, are refused', async () => {
    const [right, wrong] = [basic('root:r'), basic('ann:x')];
    for (const headers of [
      { authorization: right },
      { authorization: right, 'proxy-authorization': wrong },
      { 'proxy-authorization': [right, wrong] },
      { 'proxy-authorization': [wrong, right] },
      { proxy_authorization: right },
      { 'proxy-authorization': right.replace('Basic', 'Bearer') },
    ]) {
      expect((await get(headers)).statusCode).toBe(407);
    }
    expect(seen).toEqual([]);
  });

  it('also asks for them over SOCKS', async () => {
    expect(await socks('ann', 'a')).toBe('05020100');
    expect(await socks('ann', 'r')).toMatch(/^050201(?!00)/);
    expect(await socks('nobody', 'a')).toMatch(/^050201(?!00)/);
    expect(gate.failures).toMatchObject([{ policyId: 3, address: '127.0.0.1' }]);
  });

  it('accepts five guesses a minute over both protocols together', async () => {
    for (let tries = 0; tries < 3; tries += 1)
      expect((await get({ 'proxy-authorization': basic(`ann:${tries}`) })).statusCode).toBe(407);
    for (let tries = 3; tries < 5; tries += 1) await socks('ann', String(tries));
    expect(gate.looked).toHaveLength(5);
    expect((await get({ 'proxy-authorization': basic('ann:a') })).statusCode).toBe(407);
    expect(await socks('ann', 'a')).toMatch(/^050201(?!00)/);
    expect(gate.looked).toHaveLength(5);
    gate.clock.now += 60_000;
    expect(await socks('ann', 'a')).toBe('05020100');
  });

  it('also admits an address that has proven itself', async () => {
    await guard(policy({ resource: { kind: 'tunnel', id: 7 } }));
    expect((await get({ 'proxy-authorization': basic('ann:open sesame') })).statusCode).toBe(403);
    const wanted = { tunnelId: 7, policyId: 1, address: '127.0.0.1', password: 'open sesame' };
    expect(await rig.server.grant(wanted)).toMatchObject({ granted: true });
    expect((await get()).statusCode).toBe(200);
  });
});
