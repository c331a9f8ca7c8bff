// Schema-driven fuzzing of a built resource-sharing, as schemathesis.mjs does it with proxy-gateway. Needs schemathesis 4:
//   node test/conformance/schemathesis-open-api.mjs [--program PATH] [--examples N] [--only NAME] [-- OPTIONS]
// NAME: application (its secret and a user token), test (a test key and that token), key (a personal one), site (a login),
// none.
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startService, startWorkplace } from '../bench/services/built-service.mjs';
import { readArguments, runSchemathesis } from './schemathesis/run.mjs';

const PASSWORD = 'a-password-for-fuzzing';
const CALLBACK = 'http://127.0.0.1:65123/callback';
const SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'];

/** The description has the highest bound that a setting may have. */
const AS_DESCRIBED = { SHARE_MAX_UNLOCK_POINTS: '1000000' };

/** What would end the login or the account that the run is made with. */
const ENDS_THE_RUN = [
  '^/api/site/(logout|login|register|sessions)',
  '^/api/site/me/(password|delete)',
  '^/api/site/admin/(users|endpoints)',
];

const given = readArguments();
const workplace = await startWorkplace();
const { home } = workplace;
const log = path.join(home, 'service.log');
const { base, stop } = await startService('resource-sharing', workplace, {
  env: { GATEHOUSE_ADMIN_PASSWORD: PASSWORD, RESOURCE_SHARING_PORT: '0', API_RATE_LIMIT: '0', ...AS_DESCRIBED },
  output: openSync(log, 'w'),
});
let failed = false;
try {
  for (const { name, headers, exclude } of await prepare(base)) {
    if (given.only !== undefined && given.only !== name) continue;
    const description = `${base}/api/open/openapi.json`;
    const options = exclude.length > 0 ? { '--exclude-path-regex': exclude.join('|') } : {};
    const code = await runSchemathesis(given, { name, description, folder: home, headers, options });
    failed = code !== 0 || failed;
  }
  if (failed) process.stdout.write(`\nerrors that the service logged:\n${readFileSync(log, 'utf8')}`);
} finally {
  await stop();
  await workplace.end();
}
process.exitCode = failed ? 1 : 0;

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
  const testKey = (await call(base, `/api/site/applications/${data.client_id}/test-keys`, {}, site)).data.secret;
  const open = ['^/api/site/', 'authorize$'];
  return [
    { name: 'application', headers: { ...secret, Authorization: `Bearer ${tokens.access_token}` }, exclude: open },
    {
      name: 'test',
      headers: { 'X-API-Key': testKey, Authorization: `Bearer ${tokens.access_token}` },
      exclude: [...open, '^/api/public/', '^/oauth2/'],
    },
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
