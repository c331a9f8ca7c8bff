import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Jobs } from '@gatehouse/jobs';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import type { TcpEcho } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KernelConfigSource } from '../src/kernel-config/kernel-config.source.js';
import { ProxyGatewaySettings } from '../src/settings.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { tunnelThrough } from './support/proxy-client.js';
import { ruleSetApi } from './support/rule-set-api.js';
import type { RuleSetApi } from './support/rule-set-api.js';

let gateway: Gateway;
let api: RuleSetApi;
let provider: Provider;
let echo: TcpEcho;
let folder: string;
beforeAll(async () => {
  [gateway, provider, echo] = await Promise.all([startGateway(), startProvider(), startTcpEcho()]);
  api = ruleSetApi(gateway);
  folder = join(gateway.app.app.get(ProxyGatewaySettings).home, 'rule-sets');
  mkdirSync(folder, { recursive: true });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await echo.close();
});
beforeEach(() => api.clear());

const remote = (name: string, more: object = {}) =>
  api.create({
    name,
    type: 'http',
    behavior: 'domain',
    format: 'text',
    url: provider.url,
    allow_private: true,
    ...more,
  });

describe('rule sets from an address', () => {
  it('are fetched when they are created, and again when their source changes', async () => {
    const asked: (string | undefined)[] = [];
    const reply = (etag: string, ...lines: string[]) => {
      provider.reply = (request, response) => {
        asked.push(request.headers['if-none-match']);
        if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
        else response.setHeader('etag', etag).end(lines.join('\n'));
      };
    };
    reply('"one"', '# list', '+.one.example', 'two words', 'exact.example');
    const set = await remote('web', { target: 'REJECT' });
    expect(set).toMatchObject({ status: 'never', entry_count: 0, url: provider.url });
    const fetched = await waitFor(async () => {
      const now = await api.detail(set.id);
      return now.status === 'never' ? null : now;
    });
    expect(fetched).toMatchObject({
      status: 'warning',
      entry_count: 2,
      skipped_count: 1,
      errors: [{ line: 3, input: 'two words', message: expect.any(String) }],
      etag: '"one"',
      content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      entries: ['+.one.example', 'exact.example'],
      next_refresh_at: expect.any(String),
    });
    expect(await api.refresh(set.id)).toMatchObject({ status: 'not_modified', http_status: 304, entries: 2 });
    expect(await api.test('https://www.one.example')).toMatchObject({ matched: true, target: 'REJECT' });
    reply('"two"', '+.two.example');
    expect(await api.refresh(set.id)).toMatchObject({
      status: 'updated',
      http_status: 200,
      entries: 1,
      skipped: 0,
      reason: null,
    });
    expect(await api.test('https://www.one.example')).toMatchObject({ matched: false });
    expect(await api.test('https://www.two.example')).toMatchObject({ matched: true });
    expect(await api.refresh(set.id, '?force=true')).toMatchObject({ status: 'not_modified', http_status: 200 });
    expect(asked).toEqual([undefined, '"one"', '"one"', undefined]);
    expect(await gateway.app.app.get(Jobs, { strict: false }).schedulers('rule-set-refresh')).toContain(
      `rule-set-${set.id}`,
    );
  });

  it('keep good entries whatever the next reply is', async () => {
    provider.list('+.good.example');
    const set = await remote('web', { target: 'REJECT', enabled: false });
    await gateway.call('PUT', `/rule-sets/${set.id}`, { enabled: true });
    expect(await api.refresh(set.id)).toMatchObject({ entries: 1 });
    const replies: [string, string, Provider['reply']][] = [
      ['nothing', 'empty_result', (_request, response) => response.end('')],
      ['comments', 'empty_result', (_request, response) => response.end('# empty\n')],
      ['a page', 'empty_result', (_request, response) => response.end('<html>\n<body>please log in</body></html>')],
      ['binary', 'parse_error', (_request, response) => response.end(Buffer.from([1, 0, 2, 0]))],
      ['500', 'http_status', (_request, response) => response.writeHead(500).end('+.bad.example')],
      [
        'a cut body',
        'network_error',
        (_request, response) => {
          response.writeHead(200, { 'content-length': 1_000 });
          response.write('+.bad.example\n', () => response.destroy());
        },
      ],
      ['redirects', 'too_many_redirects', (_request, response) => response.writeHead(302, { location: '/' }).end()],
      ['bad gzip', 'bad_encoding', (_request, response) => response.setHeader('content-encoding', 'gzip').end('plain')],
    ];
    for (const [index, [name, reason, reply]] of replies.entries()) {
      provider.reply = reply;
      expect(await api.refresh(set.id), name).toMatchObject({ status: 'failed', reason, entries: 1 });
      expect(await api.detail(set.id), name).toMatchObject({
        status: 'error',
        consecutive_failures: index + 1,
        last_error: { code: reason },
        entries: ['+.good.example'],
      });
    }
    expect(await api.test('https://a.good.example')).toMatchObject({ matched: true });
    provider.list('+.good.example');
    expect(await api.refresh(set.id)).toMatchObject({ status: 'not_modified' });
    expect(await api.detail(set.id)).toMatchObject({ status: 'ok', consecutive_failures: 0, last_error: null });
  });

  it('are not fetched from private addresses unless allowed', async () => {
    provider.list('+.good.example');
    const set = await remote('web', { allow_private: false });
    expect(await api.refresh(set.id)).toMatchObject({ status: 'failed', reason: 'blocked_address' });
    expect((await api.detail(set.id)).last_error.message).toContain('on the rule set');
  });

  it('hide credentials in addresses from callers that may only read', async () => {
    const set = await remote('web', { enabled: false });
    const { body: key } = await gateway.call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    const headers = { authorization: `Bearer ${key.key}` };
    const { body } = await gateway.call('GET', `/rule-sets/${set.id}`, undefined, headers);
    expect(JSON.stringify(body)).not.toContain('PROVIDER-TOKEN');
    expect((await gateway.call('POST', `/rule-sets/${set.id}/refresh`, undefined, headers)).status).toBe(403);
    const [row] = await gateway.app.app.get(DataSource).query('SELECT * FROM rule_sets WHERE id = $1', [set.id]);
    expect(JSON.stringify(row)).not.toContain('PROVIDER-TOKEN');
  });

  it('read YAML, and are read again after a change of format', async () => {
    provider.list('payload:', "  - '10.1.0.0/16'", '  - 10.2.0.0/16');
    const set = await remote('web', { behavior: 'ipcidr', format: 'yaml' });
    expect(await api.refresh(set.id)).toMatchObject({ entries: 2, skipped: 0 });
    const { body } = await gateway.call('PUT', `/rule-sets/${set.id}`, { behavior: 'domain' });
    expect(body).toMatchObject({ entry_count: 0, content_sha256: null, entries: [] });
    expect(await waitFor(async () => (await api.detail(set.id)).last_error)).toMatchObject({ code: 'empty_result' });
  });

  it('can be large without blocking other work, and are read once for many reloads', async () => {
    provider.reply = (_request, response) =>
      response.end(Array.from({ length: 200_000 }, (_, index) => `+.d${index}.example`).join('\n'));
    const set = await remote('big', { target: 'REJECT' });
    const polled: number[] = [];
    let running = true;
    const poll = (async () => {
      while (running) {
        const began = performance.now();
        await gateway.call('GET', '/auth/status');
        polled.push(performance.now() - began);
      }
    })();
    expect(await api.refresh(set.id)).toMatchObject({ entries: 200_000 });
    running = false;
    await poll;
    expect(Math.max(...polled)).toBeLessThan(3_000);
    expect(await api.test('https://x.d199999.example')).toMatchObject({ matched: true, rule: { payload: 'big' } });
    const source = gateway.app.app.get(KernelConfigSource, { strict: false });
    const [first, second] = [await source.load(), await source.load()];
    expect(first.ruleSets?.[0]?.entries).toHaveLength(200_000);
    expect(second.ruleSets?.[0]?.entries).toBe(first.ruleSets?.[0]?.entries);
  }, 60_000);
});

describe('rule sets from files', () => {
  const file = (name: string, path: string) =>
    api.create({ name, type: 'file', behavior: 'classical', format: 'text', path, target: 'REJECT' });

  it('are read from the folder, and again when they change', async () => {
    writeFileSync(join(folder, 'list.txt'), `DOMAIN-SUFFIX,file.example\nDST-PORT,${echo.port}\n`);
    const set = await file('local', 'list.txt');
    expect(await api.refresh(set.id)).toMatchObject({ entries: 2 });
    expect(await api.test('https://a.file.example')).toMatchObject({ matched: true });
    await expect(tunnelThrough(gateway.proxyPort, '127.0.0.1', echo.port)).rejects.toThrow('403');
    writeFileSync(join(folder, 'list.txt'), 'DOMAIN-SUFFIX,file.example\n');
    expect(await api.refresh(set.id)).toMatchObject({ status: 'updated', entries: 1 });
    (await tunnelThrough(gateway.proxyPort, '127.0.0.1', echo.port)).destroy();
    rmSync(join(folder, 'list.txt'));
    expect(await api.refresh(set.id)).toMatchObject({ status: 'failed', reason: 'file_error', entries: 1 });
    expect(await api.test('https://a.file.example')).toMatchObject({ matched: true });
  });

  it('stay inside the folder', async () => {
    writeFileSync(join(folder, '..', 'outside.txt'), 'DOMAIN,outside.example\n');
    symlinkSync(join(folder, '..', 'outside.txt'), join(folder, 'link.txt'));
    symlinkSync(join(folder, '..'), join(folder, 'up'));
    mkdirSync(join(folder, 'directory'));
    for (const path of [
      '../outside.txt',
      'link.txt',
      'up/outside.txt',
      '/etc/passwd',
      '..',
      '.',
      'directory',
      '/dev/zero',
    ]) {
      const set = await file('escape', path);
      const result = await api.refresh(set.id);
      expect(result, path).toMatchObject({ status: 'failed', reason: 'file_error', entries: 0 });
      expect(result.message, path).not.toContain(folder);
      await gateway.call('DELETE', `/rule-sets/${set.id}`);
    }
  });
});
