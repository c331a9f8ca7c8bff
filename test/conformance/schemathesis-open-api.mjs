// Schema-driven fuzzing of a built resource-sharing, as schemathesis.mjs does it with proxy-gateway. Needs schemathesis 4:
//   node test/conformance/schemathesis-open-api.mjs [--program PATH] [--examples N] [--only NAME] [-- OPTIONS]
// NAME: application (its secret and a user token), key (a personal one), site (a login), none.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@gatehouse/persistence';
import { readArguments, runSchemathesis } from './schemathesis/run.mjs';

const MAIN = fileURLToPath(new URL('../../apps/resource-sharing/dist/main.js', import.meta.url));
const PASSWORD = 'a-password-for-fuzzing';
const CALLBACK = 'http://127.0.0.1:65123/callback';
const SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'];

/** What would end the login or the account that the run is made with. */
const ENDS_THE_RUN = [
  '^/api/site/(logout|login|register|sessions)',
  '^/api/site/me/(password|delete)',
  '^/api/site/admin/(users|endpoints)',
];

const given = readArguments();
const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-schemathesis-'));
chmodSync(home, 0o711);
const log = path.join(home, 'service.log');
const postgres = await startEmbeddedPostgres({ home });
const service = fork(MAIN, [], {
  env: {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    GATEHOUSE_HOME: home,
    DATABASE_URL: postgres.url('postgres'),
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    AUTO_MIGRATE: 'true',
    RESOURCE_SHARING_PORT: '0',
    API_RATE_LIMIT: '0',
    LOG_LEVEL: 'error',
  },
  stdio: ['ignore', openSync(log, 'w'), 'inherit', 'ipc'],
});
let failed = false;
try {
  const base = await listening();
  for (const { name, headers, exclude } of await prepare(base)) {
    if (given.only !== undefined && given.only !== name) continue;
    const description = `${base}/api/open/openapi.json`;
    const options = exclude.length > 0 ? { '--exclude-path-regex': exclude.join('|') } : {};
    const code = await runSchemathesis(given, { name, description, folder: home, headers, options });
    failed = code !== 0 || failed;
  }
  if (failed) process.stdout.write(`\nerrors that the service logged:\n${readFileSync(log, 'utf8')}`);
} finally {
  if (service.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function listening() {
  const [message] = await Promise.race([
    once(service, 'message'),
    once(service, 'exit').then(([code]) => {
      throw new Error(`resource-sharing ended with ${code}`);
    }),
  ]);
  return `http://127.0.0.1:${message.port}`;
}

/** A share, an application and a credential of each kind. */
async function prepare(base) {
  const { cookie } = await call(base, '/api/site/login', { username: 'admin', password: PASSWORD });
  const site = { Cookie: cookie };
  const premium = await call(base, '/api/site/admin/users/1', { premium_until: 'forever' }, site, 'PATCH');
  if (premium.data === null) throw new Error('the administrator got no Premium');
  const key = (await call(base, '/api/site/keys', { name: 'fuzz', scopes: SCOPES, current_password: PASSWORD }, site))
    .data.secret;
  const share = { url: 'https://115.com/s/fuzz1?password=a1b2', tmdb_id: '550', media_type: 'movie' };
  await call(base, '/api/open/shares', share, { 'X-API-Key': key });
  const application = { name: 'fuzz', redirect_uris: [CALLBACK], scopes: SCOPES };
  const { data } = await call(base, '/api/site/applications', application, site);
  const reviewed = { auth_level: 'verified', status: 'approved', quota_profile: 'boundless' };
  await call(base, '/api/site/admin/quota-profiles/boundless', {}, site, 'PUT');
  await call(base, `/api/site/admin/applications/${data.client_id}`, reviewed, site, 'PATCH');
  const secret = { 'X-API-Key': data.secret.secret };
  const request = { client_id: data.client_id, redirect_uri: CALLBACK };
  const { code } = (await call(base, '/api/public/openapi/oauth/authorize', request, site)).data;
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  const tokens = (await call(base, '/api/public/openapi/oauth/token', grant, secret)).data;
  const open = ['^/api/site/', 'authorize$'];
  return [
    { name: 'application', headers: { ...secret, Authorization: `Bearer ${tokens.access_token}` }, exclude: open },
    { name: 'key', headers: { 'X-API-Key': key }, exclude: open },
    { name: 'site', headers: site, exclude: ['^/api/open/', ...ENDS_THE_RUN] },
    { name: 'none', headers: {}, exclude: [] },
  ];
}

async function call(base, route, body, headers = {}, method = 'POST') {
  const answer = await fetch(base + route, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { success, data, message } = await answer.json();
  if (!success) throw new Error(`${method} ${route} answered ${answer.status}: ${message}`);
  return { data, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] };
}
