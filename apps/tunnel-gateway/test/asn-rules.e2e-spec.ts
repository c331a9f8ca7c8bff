import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asnFile, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

const OURS = '198.51.100.7';
const THEIRS = '203.0.113.9';
const NOBODYS = '192.0.2.1';

let file: string;
let world: TunnelWorld;
let host: AnyJson;
let tunnel: AnyJson;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-asn-'));
  file = join(folder, 'asn.mmdb');
  writeFileSync(file, asnFile({ '198.51.100.0/24': 64500, '203.0.113.0/24': 64501 }));
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1/32', GEOIP_ASN_FILE: file });
  world.onClose(() => rmSync(folder, { recursive: true }));
  const origin = createServer((_, response) => response.end('in')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  world.onClose(() => origin.close());
  const client = await world.client();
  await world.online(client.key);
  const { body } = await world.admin('POST', '/hosts', {
    client_id: client.id,
    host: 'systems.example',
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  host = body;
  tunnel = await world.tunnel(client.id, await world.echo(), { accept_proxy_protocol: true });
  await waitFor(async () => (await visitFrom(OURS)) === 200 && (await connectFrom(OURS)));
});
afterAll(() => world.close());

/** The status for a visitor whose address a trusted proxy forwards. */
function visitFrom(address: string): Promise<number> {
  const headers = { host: 'systems.example', 'x-forwarded-for': address };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: world.edges.ports.http, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Whether a TCP visitor that a trusted proxy names gets an echo. */
function connectFrom(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(tunnel.listen_port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.write(`PROXY TCP4 ${address} 127.0.0.1 4000 5000\r\nhello`);
  });
}

async function inForce(rule: object, work: () => Promise<void>): Promise<void> {
  const { status, body } = await world.admin('POST', '/ip-rules', { pattern_kind: 'asn', ...rule });
  expect([status, body.warning]).toEqual([201, null]);
  await work();
  await world.admin('DELETE', `/ip-rules/${body.id}`);
}

describe('rules about autonomous systems', () => {
  it('keep visitors of a system out of a host and of a port', async () => {
    await inForce({ scope: 'global', type: 'deny', pattern: 'as64501' }, async () => {
      await waitFor(async () => (await visitFrom(THEIRS)) === 403);
      expect([await visitFrom(OURS), await visitFrom(NOBODYS)]).toEqual([200, 200]);
      expect([await connectFrom(THEIRS), await connectFrom(OURS), await connectFrom(NOBODYS)]).toEqual([
        false,
        true,
        true,
      ]);
    });
    await waitFor(async () => (await visitFrom(THEIRS)) === 200);
  });

  it('let in visitors of a system alone', async () => {
    await inForce({ scope: 'host', resource_id: host.id, type: 'allow', pattern: '64500' }, async () => {
      await waitFor(async () => (await visitFrom(THEIRS)) === 403);
      expect([await visitFrom(OURS), await visitFrom(NOBODYS)]).toEqual([200, 403]);
      expect(await connectFrom(THEIRS)).toBe(true);
    });
    await inForce({ scope: 'tunnel', resource_id: tunnel.id, type: 'deny', pattern: '!AS64500' }, async () => {
      await waitFor(async () => !(await connectFrom(THEIRS)));
      expect([await connectFrom(OURS), await connectFrom(NOBODYS)]).toEqual([true, false]);
    });
  });

  it('are explained with the number of the address', async () => {
    await inForce({ scope: 'global', type: 'deny', pattern: 'AS64501' }, async () => {
      const { body } = await world.admin('GET', `/ip-rules/check?ip=${THEIRS}`);
      expect(body).toMatchObject({
        allowed: false,
        asn: 64501,
        levels: [{ outcome: 'denied', unresolved: false, rule: { pattern: 'AS64501', pattern_kind: 'asn' } }],
      });
      const { body: other } = await world.admin('GET', `/ip-rules/check?ip=${NOBODYS}`);
      expect(other).toMatchObject({ allowed: true, asn: null });
    });
  });

  it('are checked when they are written, and listed by their kind', async () => {
    for (const pattern of ['AS0', '4294967296', 'Cloudflare', '1.1']) {
      const rule = { scope: 'global', type: 'deny', pattern_kind: 'asn', pattern };
      expect((await world.admin('POST', '/ip-rules', rule)).status, pattern).toBe(422);
    }
    await inForce({ scope: 'global', type: 'deny', pattern: '!64500', priority: 900 }, async () => {
      const { body } = await world.admin('GET', '/ip-rules?pattern_kind=asn');
      expect(body.items.map(({ pattern }: AnyJson) => pattern)).toEqual(['!AS64500']);
    });
  });

  it('follow the file when it changes', async () => {
    await inForce({ scope: 'global', type: 'deny', pattern: 'AS64511' }, async () => {
      writeFileSync(file, asnFile({ '192.0.2.0/24': 64511 }));
      await waitFor(async () => (await visitFrom(NOBODYS)) === 403);
      expect(await visitFrom(THEIRS)).toBe(200);
    });
  });
});

describe('without a database of autonomous systems', () => {
  it('a rule warns, the check reports it, the gateway is not ready, and the dashboard says so', async () => {
    await using without = await TunnelWorld.start();
    const ready = async () => (await (await fetch(`${without.gateway.url}/readyz`)).json()) as AnyJson;
    const rule = { scope: 'global', type: 'deny', pattern: 'AS64501', pattern_kind: 'asn' };
    const { body } = await without.admin('POST', '/ip-rules', rule);
    expect(body.warning).toContain('GEOIP_ASN_FILE');
    expect((await without.admin('GET', `/ip-rules/check?ip=${THEIRS}`)).body).toMatchObject({
      allowed: true,
      asn: null,
      levels: [{ unresolved: true }],
    });
    await waitFor(async () => (await ready()).failing?.includes('autonomous_systems'));
    const { body: board } = await without.admin('GET', '/dashboard');
    expect(board.warnings.map(({ code }: AnyJson) => code)).toContain('asn_rules_without_database');
    await without.admin('DELETE', `/ip-rules/${body.id}`);
    await waitFor(async () => (await ready()).failing?.length === 0);
  });

  it('a rule that denies denies everybody, where that is wanted', async () => {
    await using strict = await TunnelWorld.start({ GEOIP_STRICT: 'true' });
    const rule = { scope: 'global', type: 'deny', pattern: 'AS64501', pattern_kind: 'asn' };
    expect((await strict.admin('POST', '/ip-rules', rule)).body.warning).toContain('denies everybody');
    expect((await strict.admin('GET', `/ip-rules/check?ip=${OURS}`)).body.allowed).toBe(false);
  });
});
