// Schema-driven fuzzing of a built proxy gateway: schemathesis makes requests from its interface description, right and
// wrong ones, and checks every answer against it. Needs schemathesis 4 (Python), which nothing else here does:
//   node test/conformance/schemathesis.mjs [--program PATH] [--examples N] [--only admin|read|none] [-- OPTIONS]
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { startProxyGateway } from '../bench/services/proxy-gateway.mjs';
import { readArguments, REFUSES_VALID, runSchemathesis } from './schemathesis/run.mjs';

/** Never ends; a test of the service follows it. */
const ENDLESS = '/api/v1/logs/stream';

const given = readArguments();
const origin = await startOrigin();
const workplace = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-schemathesis-'));
const log = path.join(workplace, 'service.log');
const gateway = await startProxyGateway({ API_RATE_LIMIT: '0' }, { output: openSync(log, 'w') });
let failed = false;
try {
  for (const { name, headers } of await prepare()) {
    if (given.only !== undefined && given.only !== name) continue;
    const description = `${gateway.base}/api/v1/openapi.json`;
    const options = { '--exclude-path': ENDLESS };
    const leftOut = [REFUSES_VALID];
    const code = await runSchemathesis(given, { name, description, folder: workplace, headers, options, leftOut });
    failed = code !== 0 || failed;
  }
  // Service and kernel must still be the ones that were started.
  const { kernel } = await gateway.call('GET', '/system/status');
  if (kernel.restarts > 0) {
    process.stdout.write(`the kernel ended ${kernel.restarts} times: ${kernel.last_error}\n`);
    failed = true;
  }
  if (failed) process.stdout.write(`\nerrors that the service logged:\n${readFileSync(log, 'utf8')}`);
} finally {
  await gateway.end();
  origin.close();
  rmSync(workplace, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

/** Something of everything, so that ids in the low numbers exist; and a credential of each kind. */
async function prepare() {
  const { port } = origin.address();
  const address = `http://127.0.0.1:${port}`;
  await gateway.call('PUT', '/settings', {
    'health.url': `${address}/generate_204`,
    'health.timeout_ms': '500',
    'country.exit_url': '',
    'geo.auto_update': 'false',
    'geo.country_url': `${address}/none`,
    'geo.asn_url': `${address}/none`,
    'geo.geosite_url': `${address}/none`,
    'geo.allow_private': 'true',
    'subscription.timeout_ms': '1000',
  });
  for (const number of [1, 2, 3]) {
    const raw_config = `ss://YWVzLTEyOC1nY206c2VjcmV0@127.0.0.1:${port + number}#node-${number}`;
    await gateway.call('POST', '/proxies', { name: `node-${number}`, type: 'ss', raw_config });
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: `host-${number}.example`, target: 'DIRECT' });
    await gateway.call('POST', '/outbound/groups', { name: `group-${number}`, type: 'select', members: ['DIRECT'] });
    const set = { name: `set-${number}`, type: 'inline', behavior: 'domain', entries: ['example.com'] };
    await gateway.call('POST', '/rule-sets', set);
    const subscription = { name: `provider-${number}`, url: `${address}/sub/${number}`, allow_private: true };
    await gateway.call('POST', '/subscriptions', subscription);
  }
  const { key: reading } = await gateway.call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
  const { key: administrator } = await gateway.call('POST', '/api-keys', { name: 'administrator' });
  return [
    { name: 'admin', headers: { Authorization: `Bearer ${administrator}` } },
    { name: 'read', headers: { 'X-API-Key': reading } },
    { name: 'none', headers: {} },
  ];
}

/** Stands for providers and test servers. */
async function startOrigin() {
  const server = createServer((request, response) => {
    if (request.url === '/generate_204') response.writeHead(204).end();
    else if (request.url.startsWith('/sub/')) response.end('ss://YWVzLTEyOC1nY206c2VjcmV0@192.0.2.1:8388#carried\n');
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
