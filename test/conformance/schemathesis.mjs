// Schema-driven fuzzing of a built proxy gateway: schemathesis makes requests from its interface description, right and
// wrong ones, and checks every answer against it. Needs schemathesis 4 (Python), which nothing else here does:
//   node test/conformance/schemathesis.mjs [--program PATH] [--examples N] [--only admin|read|none] [-- OPTIONS]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startProxyGateway } from '../bench/service.mjs';

const { values, positionals } = parseArgs({
  options: {
    program: { type: 'string', default: 'schemathesis' },
    examples: { type: 'string', default: '50' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});

/** Answers that no rule of JSON Schema could have told beforehand, such as 400 for a node that cannot be read. */
const NOT_APPLICABLE = ['positive_data_acceptance', 'ensure_resource_availability', 'object_level_authorization'];

/** Never ends; a test of the service follows it. */
const ENDLESS = '/api/v1/logs/stream';

const origin = await startOrigin();
const workplace = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-schemathesis-'));
const log = path.join(workplace, 'service.log');
const gateway = await startProxyGateway({ API_RATE_LIMIT: '0' }, { output: openSync(log, 'w') });
let failed = false;
try {
  for (const { name, header } of await prepare()) {
    if (values.only !== undefined && values.only !== name) continue;
    process.stdout.write(`\n=== with ${name} credentials\n`);
    failed = (await run(name, header)) !== 0 || failed;
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
    { name: 'admin', header: `Authorization: Bearer ${administrator}` },
    { name: 'read', header: `X-API-Key: ${reading}` },
    { name: 'none', header: undefined },
  ];
}

async function run(name, header) {
  const options = {
    '--checks': 'all',
    '--exclude-checks': NOT_APPLICABLE.join(','),
    '--exclude-path': ENDLESS,
    '--max-examples': values.examples,
    '--workers': '2',
    '--request-timeout': '30',
    '--generation-database': 'none',
    '--generation-with-security-parameters': 'false',
    '--suppress-health-check': 'all',
    '--warnings': 'off',
  };
  const args = ['run', `${gateway.base}/api/v1/openapi.json`, '--no-color', '--continue-on-failure'];
  for (const option of Object.entries(options)) args.push(...option);
  if (header !== undefined) args.push('--header', header);
  args.push(...positionals);
  const child = spawn(values.program, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: workplace });
  const [code] = await once(child, 'exit');
  process.stdout.write(`schemathesis with ${name} credentials ended with ${code}\n`);
  return code;
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
