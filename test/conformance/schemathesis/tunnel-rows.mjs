// What two users of a tunnel gateway have, and a user of each role.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { withClient } from '@gatehouse/persistence';

export const PASSWORD = 'a-password-for-fuzzing';
/** In every name, text and address of the other user, and nowhere else. */
const MARKER = 'not-for-ann';
const OTHER = 'bob-not-for-ann';
/** Lists of everything that people own. */
const LISTS =
  'users sessions api-keys clients tunnels hosts domains certificates ip-rules auth-policies webhooks flow-stats request-ips'.split(
    ' ',
  );
/** What changes without a request. */
const BY_ITSELF = new Set(['run_status', 'last_used_at', 'last_used_ip']);

/** `port`, `home` and `databaseUrl` are those of the service; `leaving`: how many administrators there are besides. */
export async function makeWorld({ port, home, databaseUrl }, leaving) {
  const admin = await login(port, 'admin');
  await admin.post('/ip-rules', { scope: 'global', type: 'deny', pattern: '192.0.2.200' });
  const ids = new Map();
  for (const [username, role] of [
    ['ann', 'user'],
    [OTHER, 'user'],
    ['vera', 'viewer'],
    ...Array.from({ length: leaving }, (_, index) => [`leo-${index}`, 'admin']),
  ]) {
    ids.set(username, (await admin.post('/users', { username, password: PASSWORD, role })).id);
  }
  const [ann, other] = [await login(port, 'ann'), await login(port, OTHER, MARKER)];
  const clients = [];
  const assign = (name, username) =>
    admin.post('/domains', { name: `${name}.example.org`, user_id: ids.get(username) });
  for (const round of [1, 2, 3, 4]) {
    await assign(`of-ann-${round}`, 'ann');
    await assign(`${MARKER}-${round}`, OTHER);
    clients.push({ ip: '198.51.100.77', id: await makeRows(ann, `of-ann-${round}`, home) });
    // The column takes any text, and a marker differs from every address that fuzzing makes up.
    clients.push({ ip: MARKER, id: await makeRows(other, `${MARKER}-${round}`, home) });
  }
  await makeTraffic(databaseUrl, clients);
  const keyOf = async (user) => (await user.post('/api-keys', { name: 'fuzz', current_password: PASSWORD })).key;
  return {
    marker: MARKER,
    highestId: 8,
    /** Each as text. */
    othersRows: async () => {
      const rows = [];
      for (const list of LISTS) {
        const { items } = await other.get(`/${list}?limit=200`);
        if (items.length === 0) throw new Error(`there are no ${list} that could change`);
        for (const row of items) rows.push(`${list} ${lasting(row, list)}`);
      }
      return rows;
    },
    credentials: {
      none: {},
      viewer: bearer((await login(port, 'vera')).token),
      user: bearer(ann.token),
      'user-key': { 'X-API-Key': await keyOf(ann) },
      admin: bearer(admin.token),
      'admin-key': { 'X-API-Key': await keyOf(admin) },
    },
    leaving: await Promise.all(
      Array.from({ length: leaving }, async (_, index) => bearer((await login(port, `leo-${index}`)).token)),
    ),
  };
}

function lasting(row, list) {
  const { expires_at, ...other } = row;
  // Looking at the rows prolongs the login that looks.
  const shown = list === 'sessions' ? other : { expires_at, ...other };
  return JSON.stringify(shown, (name, value) => (BY_ITSELF.has(name) ? undefined : value));
}

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

/** A client and what may hang on one; resolves to its id. */
async function makeRows(user, name, home) {
  const client = (await user.post('/clients', { name })).id;
  const target_addr = `${name}.example.net:80`;
  const tunnel = (await user.post('/tunnels', { client_id: client, mode: 'secret', name, target_addr })).id;
  const host = (await user.post('/hosts', { client_id: client, host: `${name}.example.org`, target_addr })).id;
  await user.post(`/hosts/${host}/cert`, makeCertificate(`${name}.example.org`, home));
  const rule = { type: 'deny', pattern: '192.0.2.1', remark: name };
  await user.post('/ip-rules', { ...rule, scope: 'client', resource_id: client });
  await user.post('/auth-policies', {
    resource_type: 'tunnel',
    resource_id: tunnel,
    type: 'callback',
    callback_url: `https://${name}.example.net/verify`,
  });
  await user.post('/webhooks', { name, url: `https://${name}.example.net/hook` });
  await user.post('/api-keys', { name, current_password: PASSWORD });
  await user.post(`/clients/${client}/kick`);
  return client;
}

async function makeTraffic(databaseUrl, clients) {
  await withClient(databaseUrl, async (database) => {
    for (const { id, ip } of clients) {
      await database.query(
        `INSERT INTO tunnel_gateway.flow_stats (resource_type, resource_id, inlet_bytes, export_bytes, updated_at)
         VALUES ('client', $1, 1, 2, now())`,
        [id],
      );
      await database.query(
        `INSERT INTO tunnel_gateway.request_ips (resource_type, resource_id, ip, hit_count, last_seen_at)
         VALUES ('client', $1, $2, 3, now())`,
        [id, ip],
      );
    }
  });
}

async function login(port, username, agent = 'fuzz') {
  let token = '';
  const call = async (method, route, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${route}`, {
      method,
      headers: {
        'user-agent': agent,
        ...(token !== '' && bearer(token)),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const get = (route) => call('GET', route);
  const post = (route, body) => call('POST', route, body);
  ({ token } = await post('/auth/login', { username, password: PASSWORD }));
  return { token, get, post };
}

function makeCertificate(name, folder) {
  const [keyFile, file] = [path.join(folder, 'made.key'), path.join(folder, 'made.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', file, '-days', '90', ...names], { stdio: 'pipe' });
  return { certificate: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
