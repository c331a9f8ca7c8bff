// Ory Hydra on a database of the same PostgreSQL. Its refresh tokens come from its own authorization flow.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, startProgram, stop } from '../../processes.mjs';
import { basic } from './basic.mjs';

const CALLBACK = 'http://127.0.0.1/callback';
const SCOPES = ['meta', 'query', 'offline_access'];
const AT_ONCE = 8;
/** How it hashes the secrets of clients. Theirs is random here: one round is as safe, and the CPU is the refresh's. */
const HASHES = [
  { label: 'client secret hashed once', clientId: 'bench-once', iterations: 1, share: 1 },
  {
    label: 'its default of 25,000 times',
    clientId: 'bench-default',
    iterations: 25_000,
    share: 0.5,
    refreshOnly: true,
  },
];

/** Both are one process; each has a client and tokens of its own. */
export async function startHydra({ program, databaseUrl, count }) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-hydra-'));
  process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
  const ports = { public: await freePort(), admin: await freePort() };
  const secret = randomBytes(24).toString('base64url');
  const file = path.join(scratch, 'hydra.json');
  const configure = (iterations) =>
    writeFileSync(file, JSON.stringify(configuration({ ports, databaseUrl, iterations })));
  configure(1);
  await promisify(execFile)(program, ['migrate', 'sql', 'up', '-e', '--yes', '-c', file]);
  let server;
  // A hash names its parameters: only new ones need the setting.
  for (const { clientId, iterations } of [...HASHES].reverse()) {
    if (server !== undefined) await stop(server);
    configure(iterations);
    ({ child: server } = await startProgram(program, ['serve', 'all', '--dev', '-c', file], ports.admin));
    await waitUntilReady(ports.admin);
    await createClient(ports.admin, clientId, secret);
  }
  const version = execFileSync(program, ['version'], { encoding: 'utf8' }).match(/v[\d.]+/)?.[0];
  const servers = [];
  for (const { label, clientId, share, refreshOnly = false } of HASHES) {
    const authorization = basic(clientId, secret);
    servers.push({
      name: 'Hydra',
      version,
      label,
      pid: server.pid,
      token: { port: ports.public, path: '/oauth2/token', authorization },
      // Its port for administrators asks for no credentials.
      introspection: { port: ports.admin, path: '/admin/oauth2/introspect' },
      tokens: await authorizeMany({ ports, clientId, authorization }, Math.round(count * share)),
      // Who introspects shows no secret.
      refreshOnly,
      end: () => stop(server),
    });
  }
  return servers;
}

function configuration({ ports, databaseUrl, iterations }) {
  const dsn = new URL(databaseUrl);
  // As many connections as the service has.
  for (const [name, value] of Object.entries({ sslmode: 'disable', max_conns: 10, max_idle_conns: 10 })) {
    dsn.searchParams.set(name, value);
  }
  return {
    dsn: dsn.href,
    serve: {
      public: { port: ports.public, host: '127.0.0.1' },
      admin: { port: ports.admin, host: '127.0.0.1' },
    },
    urls: {
      self: { issuer: `http://127.0.0.1:${ports.public}` },
      login: 'http://127.0.0.1/login',
      consent: 'http://127.0.0.1/consent',
    },
    secrets: { system: [randomBytes(32).toString('hex')], cookie: [randomBytes(32).toString('hex')] },
    log: { level: 'error' },
    sqa: { opt_out: true },
    oauth2: { hashers: { algorithm: 'pbkdf2', pbkdf2: { iterations } } },
    ttl: { access_token: '1h', refresh_token: '720h' },
  };
}

async function waitUntilReady(port) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
    if (answer.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('Hydra was not ready within 5 s');
}

async function createClient(port, clientId, secret) {
  await send(`http://127.0.0.1:${port}/admin/clients`, {
    method: 'POST',
    body: {
      client_id: clientId,
      client_secret: secret,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [CALLBACK],
      scope: SCOPES.join(' '),
      token_endpoint_auth_method: 'client_secret_basic',
    },
  });
}

async function authorizeMany(flow, count) {
  const tokens = [];
  const next = async () => {
    while (tokens.length < count) {
      const index = tokens.push('') - 1;
      tokens[index] = await authorize(flow, `user-${index % 100}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return tokens;
}

/** The authorization code flow of one user who agrees to everything; resolves to a refresh token. */
async function authorize({ ports, clientId, authorization }, subject) {
  const browser = createBrowser();
  const admin = `http://127.0.0.1:${ports.admin}/admin/oauth2/auth/requests`;
  const question = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    scope: SCOPES.join(' '),
    redirect_uri: CALLBACK,
    state: randomBytes(12).toString('hex'),
  });
  const login = await browser(`http://127.0.0.1:${ports.public}/oauth2/auth?${question}`);
  const loggedIn = await accept(`${admin}/login/accept`, login, 'login_challenge', { subject });
  const consent = await browser(loggedIn);
  const agreed = await accept(`${admin}/consent/accept`, consent, 'consent_challenge', { grant_scope: SCOPES });
  const callback = await browser(agreed);
  const code = callback.searchParams.get('code');
  if (code === null) throw new Error(`Hydra gave no code: ${callback.searchParams}`);
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  const answer = await fetch(`http://127.0.0.1:${ports.public}/oauth2/token`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  const { refresh_token: token } = await answer.json();
  if (token === undefined) throw new Error(`Hydra gave no refresh token, but ${answer.status}`);
  return token;
}

/** Follows no redirect, keeps cookies; resolves to where it is sent. */
function createBrowser() {
  const cookies = new Map();
  return async (url) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    await answer.arrayBuffer();
    return new URL(answer.headers.get('location') ?? `about:blank?status=${answer.status}`);
  };
}

async function accept(endpoint, page, challenge, body) {
  const value = page.searchParams.get(challenge);
  if (value === null) throw new Error(`Hydra asked for no ${challenge}: ${page}`);
  const { redirect_to: target } = await send(`${endpoint}?${challenge}=${encodeURIComponent(value)}`, {
    method: 'PUT',
    body,
  });
  return target;
}

async function send(url, { method, body }) {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}
