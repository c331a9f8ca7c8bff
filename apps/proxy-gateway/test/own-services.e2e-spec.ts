import { once } from 'node:events';
import { connect } from 'node:net';
import { AppError } from '@gatehouse/platform';
import { logInFrom, waitFor } from '@gatehouse/testing';
import { describe, expect, it, vi } from 'vitest';
import { startGateway, type Gateway } from './support/gateway.js';
import { getThrough } from './support/proxy-client.js';

/** Host and port of the test database, which the proxy must not lead to. */
async function databaseOf(gateway: Gateway): Promise<{ host: string; port: number }> {
  const endpoint = await waitFor(() => gateway.kernel.config?.guard?.own[1]);
  return endpoint;
}

/** Waits until the kernel knows the port that the system chose for the service. */
async function guarded(gateway: Gateway): Promise<URL> {
  const url = new URL(gateway.app.url);
  await waitFor(() => gateway.kernel.config?.guard?.own.some(({ port }) => port === Number(url.port)));
  return url;
}

async function connectReply(proxyPort: number, target: string): Promise<string> {
  const socket = connect(proxyPort, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return head.toString().split('\r\n')[0]!;
}

describe('the platform behind its own proxy', () => {
  it('cannot be reached: neither the service nor the database, in any spelling', async () => {
    await using gateway = await startGateway();
    const { port } = await guarded(gateway);
    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '127.0.0.9']) {
      const answer = await getThrough(gateway.proxyPort, `http://${host}:${port}/api/v1/auth/status`);
      expect(answer.status, host).toBe(403);
      expect(await connectReply(gateway.proxyPort, `${host}:${port}`), host).toContain('403');
    }
    const database = await databaseOf(gateway);
    expect(await connectReply(gateway.proxyPort, `127.0.0.1:${database.port}`)).toContain('403');
  });

  it('cannot be reached through services that the environment names either', async () => {
    await using gateway = await startGateway({ PROXY_KERNEL_OWN_ENDPOINTS: ':9, redis.example:6380' });
    expect(gateway.kernel.config?.guard?.own.slice(-2)).toEqual([
      { host: '*', port: 9 },
      { host: 'redis.example', port: 6380 },
    ]);
    expect(await connectReply(gateway.proxyPort, '127.0.0.1:9')).toContain('403');
  });

  it('can be reached while a manual rule names address and port', async () => {
    await using gateway = await startGateway();
    const { port } = await guarded(gateway);
    const url = `http://127.0.0.1:${port}/api/v1/auth/status`;
    const raw = `AND,((IP-CIDR,127.0.0.1/32,no-resolve),(DST-PORT,${port})),DIRECT`;
    const rule = await gateway.call('POST', '/rules', { raw });
    expect(rule.status).toBe(201);
    await waitFor(async () => (await getThrough(gateway.proxyPort, url)).status === 200);
    await gateway.call('DELETE', `/rules/${rule.body.id}`);
    await waitFor(async () => (await getThrough(gateway.proxyPort, url)).status === 403);
  });

  it('refuses or allows private targets according to environment and settings', async () => {
    await using gateway = await startGateway({ PROXY_KERNEL_PRIVATE_TARGETS: 'refuse' });
    expect(await connectReply(gateway.proxyPort, '127.0.0.1:9')).toContain('403');
    expect(await connectReply(gateway.proxyPort, '169.254.169.254:9')).toContain('403');
    await gateway.call('PUT', '/settings', { 'kernel.allow_private_targets': 'true' });
    await waitFor(async () => (await connectReply(gateway.proxyPort, '127.0.0.1:9')).includes('502'));
  });
});

describe('a login that comes through the proxy', () => {
  const WRONG = 'not the password';
  /** Requests a token from an address of this machine, through the proxy or directly. */
  function logIn(from: string, gateway: Gateway, through: boolean, password: string): Promise<number> {
    const url = `${gateway.app.url}/api/v1/auth/login`;
    return logInFrom({ url, body: { password }, from, ...(through && { proxyPort: gateway.proxyPort }) });
  }

  it('limits the client of the proxy that guesses, and neither this machine nor other clients', async () => {
    // A trusted proxy on this machine may name the client in a header; clients of our proxy must not.
    await using gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' });
    const { port } = await guarded(gateway);
    const right = 'a password for tests';
    await gateway.call('POST', '/rules', { raw: `AND,((IP-CIDR,127.0.0.1/32,no-resolve),(DST-PORT,${port})),DIRECT` });
    await waitFor(async () => (await logIn('127.0.0.7', gateway, true, right)) === 200);

    const guesses = Array.from({ length: 7 }, () => logIn('127.0.0.9', gateway, true, WRONG));
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401, 429]));
    expect(await logIn('127.0.0.9', gateway, true, right)).toBe(429);
    expect(await logIn('127.0.0.8', gateway, true, right)).toBe(200);
    expect(await logIn('127.0.0.1', gateway, false, right)).toBe(200);
    const { body } = await gateway.call('GET', '/audit-logs?success=false&limit=1');
    expect(body.items[0]).toMatchObject({ ip: '127.0.0.9' });
  });

  it('is refused while the kernel cannot name its client', async () => {
    await using gateway = await startGateway();
    const busy = vi.spyOn(gateway.kernel, 'clientOf');
    busy.mockRejectedValue(new AppError('KERNEL_UNAVAILABLE', 'The proxy kernel does not answer.'));
    expect(await logIn('127.0.0.1', gateway, false, 'a password for tests')).toBe(503);
    expect((await gateway.call('PUT', '/settings', {})).status).not.toBe(503);
    busy.mockRestore();
    expect(await logIn('127.0.0.1', gateway, false, 'a password for tests')).toBe(200);
  });
});

describe('login that is off', () => {
  it.each([
    [{ 'kernel.allow_lan': 'true' }, 'kernel.allow_lan'],
    [{ 'kernel.listen.http': '0.0.0.0:0' }, 'kernel.listen.http'],
    [{ 'kernel.listen.mixed': '[::]:0' }, 'kernel.listen.mixed'],
    [{ 'kernel.listen.groups': '0.0.0.0:0=PROXY' }, 'kernel.listen.groups'],
    [{ 'dns.listen': '0.0.0.0:0' }, 'dns.listen'],
  ])('does not go with %j, in whichever order', async (reach, field) => {
    await using gateway = await startGateway();
    expect((await gateway.call('PUT', '/settings', { 'auth.enabled': 'false' })).status).toBe(200);
    const opened = await gateway.call('PUT', '/settings', reach);
    expect(opened).toMatchObject({ status: 400, body: { details: [{ field }] } });
    await gateway.call('PUT', '/settings', { 'auth.enabled': 'true' });
    expect((await gateway.call('PUT', '/settings', reach)).status).toBe(200);
    const switchedOff = await gateway.call('PUT', '/settings', { 'auth.enabled': 'false' });
    expect(switchedOff).toMatchObject({ status: 400, body: { details: [{ field: 'auth.enabled' }] } });
    const both = await gateway.call('PUT', '/settings', { 'auth.enabled': 'false', ...reach });
    expect(both).toMatchObject({ status: 400, body: { details: [{ field: 'auth.enabled' }] } });
  });

  it('does not start with a proxy that the environment opens to others', async () => {
    const stored = { 'auth.enabled': 'false' };
    await expect(startGateway({ PROXY_KERNEL_ADDRESS: '0.0.0.0' }, stored)).rejects.toThrow(/PROXY_KERNEL_ADDRESS/);
    await using meant = await startGateway(
      { PROXY_KERNEL_ADDRESS: '0.0.0.0', PROXY_GATEWAY_ALLOW_OPEN: 'true' },
      stored,
    );
    expect((await meant.call('GET', '/auth/status')).body).toEqual({ enabled: false });
  });

  it('allows loopback listeners', async () => {
    await using gateway = await startGateway();
    const values = { 'auth.enabled': 'false', 'kernel.listen.socks': '127.0.0.1:0', 'kernel.listen.http': ':0' };
    expect((await gateway.call('PUT', '/settings', values)).status).toBe(200);
  });
});
