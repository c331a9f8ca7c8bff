// Schema-driven fuzzing of a built tunnel gateway, as schemathesis.mjs does it with proxy-gateway, with a user of each
// role. What two users have is kept apart: no answer to one of them may hold anything of the other, and nothing that the
// other has may change. Needs schemathesis 4:
//   node test/conformance/schemathesis-tunnel.mjs [--program PATH] [--examples N] [--only NAME] [-- OPTIONS]
// NAME: none, viewer, user, user-key, admin, admin-key; leaving (what ends the login that a run is made with).
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startWorkplace } from '../bench/services/built-service.mjs';
import { startTunnelGateway } from '../bench/services/tunnel-gateway.mjs';
import { startListeningProxy } from './schemathesis/listening-proxy.mjs';
import { readArguments, REFUSES_VALID, runSchemathesis } from './schemathesis/run.mjs';
import { PASSWORD, makeWorld } from './schemathesis/tunnel-rows.mjs';

const HOOKS = fileURLToPath(new URL('schemathesis/tunnel_values.py', import.meta.url));
/** What ends a login or an account: each has a login of its own, and what ends those of others comes last. */
const LEAVING = [
  '^auth_logOut$',
  '^ownAccount_changePassword$',
  '^sessions_end',
  '^apiKeys_revoke$',
  '^users_(update|remove)$',
];

const given = readArguments();
const cleanups = [];
let failed = false;
try {
  const service = await startService();
  const world = await makeWorld(service, LEAVING.length);
  const wanted = (name) => given.only === undefined || given.only === name;
  for (const [name, headers] of Object.entries(world.credentials)) {
    const options = { '--exclude-operation-id-regex': LEAVING.join('|') };
    if (wanted(name)) failed = (await attack(service, world, { name, headers, options })) || failed;
  }
  for (const [index, operations] of LEAVING.entries()) {
    const options = { '--include-operation-id-regex': operations };
    const run = { name: 'leaving', headers: world.leaving[index], options };
    if (wanted('leaving')) failed = (await attack(service, world, run)) || failed;
  }
  if (failed) process.stdout.write(`\nwhat the service logged:\n${readFileSync(service.log, 'utf8')}`);
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
}
process.exitCode = failed ? 1 : 0;

/** Whether anything was wrong. */
async function attack({ port, home, child }, world, { name, headers, options }) {
  const administers = name.startsWith('admin') || name === 'leaving';
  const leaks = new Set();
  const proxy = await startListeningProxy({ port, marker: world.marker, onMarker: (request) => leaks.add(request) });
  const before = administers ? [] : await world.othersRows();
  const code = await runSchemathesis(given, {
    name,
    description: `http://127.0.0.1:${proxy.port}/api/v1/openapi.json`,
    folder: home,
    headers,
    env: {
      SCHEMATHESIS_HOOKS: HOOKS,
      SCHEMATHESIS_HIGHEST_ID: String(world.highestId),
      SCHEMATHESIS_PASSWORD: PASSWORD,
    },
    options,
    leftOut: [REFUSES_VALID],
  });
  proxy.close();
  if (child.exitCode !== null) throw new Error(`tunnel-gateway ended with ${child.exitCode}`);
  if (administers) {
    // An administrator sees everything, which shows that leaks would be noticed.
    const deaf = name !== 'leaving' && leaks.size === 0;
    if (deaf) process.stdout.write('NOTHING OF ANOTHER OWNER was seen by an administrator\n');
    return code !== 0 || deaf;
  }
  for (const request of leaks) process.stdout.write(`SOMETHING OF ANOTHER OWNER was in the answer to ${request}\n`);
  const after = await world.othersRows();
  const changes = [
    ...before.filter((row) => !after.includes(row)).map((row) => `- ${row}`),
    ...after.filter((row) => !before.includes(row)).map((row) => `+ ${row}`),
  ];
  for (const change of changes) process.stdout.write(`SOMETHING OF ANOTHER OWNER has changed: ${change}\n`);
  return code !== 0 || leaks.size > 0 || changes.length > 0;
}

async function startService() {
  const workplace = await startWorkplace();
  cleanups.push(() => workplace.end());
  const { home, databaseUrl } = workplace;
  const log = path.join(home, 'service.log');
  const service = await startTunnelGateway(workplace, {
    env: {
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      // Nobody listens there: certificates are ordered, and none comes.
      ACME_AGREE_TERMS: 'true',
      ACME_DIRECTORY_URL: 'https://127.0.0.1:9/directory',
      API_RATE_LIMIT: '0',
    },
    output: openSync(log, 'w'),
  });
  cleanups.push(() => service.stop());
  return { ...service, home, databaseUrl, log };
}
