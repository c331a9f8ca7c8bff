// Refreshing tokens over HTTP: each token once, every rotation durable.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startScript } from '../processes.mjs';
import { figure, printTable, quantile } from '../table.mjs';
import { startResourceSharing } from './service.mjs';

const LEAST_PER_CORE = 1_500;
const CONNECTIONS = 32;
const WARM_UP = 2_000;
const TOKENS = 12_000;
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

export async function run() {
  const service = await startResourceSharing();
  try {
    const { secret, tokens } = await prepare(service, WARM_UP + TOKENS);
    const port = Number(new URL(service.urls[0]).port);
    const requests = tokens.map((token) => refreshRequest(secret, token));
    await send(port, requests.slice(0, WARM_UP));
    const before = [cpuSeconds(service.pids[0]), cpuSeconds(service.postgresPid)];
    const { seconds, waits, statuses } = await send(port, requests.slice(WARM_UP));
    const node = (cpuSeconds(service.pids[0]) - before[0]) / TOKENS;
    const postgres = (cpuSeconds(service.postgresPid) - before[1]) / TOKENS;
    if (statuses.some(([status]) => status !== '200')) throw new Error(`answers: ${JSON.stringify(statuses)}`);
    console.log(`token refresh, target ${LEAST_PER_CORE}/s a core of the service`);
    printTable(
      [
        ['', (row) => row.name],
        ['refreshes/s', () => Math.round(TOKENS / seconds)],
        ['p50 ms', () => figure(quantile(waits, 0.5), 1)],
        ['p99 ms', () => figure(quantile(waits, 0.99), 1)],
        ['CPU µs: service', () => Math.round(node * 1e6)],
        ['PostgreSQL', () => Math.round(postgres * 1e6)],
        ['so a core does', () => `${Math.round(1 / node)}/s`],
        ['with its database', () => `${Math.round(1 / (node + postgres))}/s`],
      ],
      [{ name: 'POST /api/public/openapi/oauth/token' }],
    );
    return 1 / node < LEAST_PER_CORE ? 1 : 0;
  } finally {
    await service.end();
  }
}

/** An application with a secret, and refresh tokens of grants of one user. */
async function prepare(service, count) {
  const { rows } = await service.query(
    `WITH account AS (
       INSERT INTO site_accounts (username, nickname, password_hash) VALUES ('bench', 'bench', 'none') RETURNING id
     )
     INSERT INTO applications (client_id, name, owner_id, kind, auth_level, status, allowed_scopes)
     SELECT 'bench', 'bench', id, 'confidential', 'verified', 'approved', '{meta,query,unlock,write,vip}' FROM account
     RETURNING id, owner_id`,
  );
  const [{ id, owner_id: owner }] = rows;
  const [secret] = service.secrets('hk_', 1);
  await service.query(
    `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
     VALUES ('application', $1, 'bench', $2, 'hk_', 'last')`,
    [id, secret.hash],
  );
  const tokens = service.secrets('hrt_', count);
  await service.query(
    `WITH made AS (
       INSERT INTO grants (user_id, application_id, scopes, exchanged_at)
       SELECT $1, $2, '{meta,query}', now() FROM generate_series(1, $3) RETURNING id
     ), numbered AS (SELECT id, row_number() OVER () AS n FROM made)
     INSERT INTO refresh_tokens (hash, grant_id, generation, idle_expires_at, absolute_expires_at)
     SELECT t.hash, numbered.id, 0, now() + interval '30 days', now() + interval '365 days'
     FROM unnest($4::bytea[]) WITH ORDINALITY AS t (hash, n) JOIN numbered USING (n)`,
    [owner, id, count, tokens.map(({ hash }) => hash)],
  );
  await service.query('VACUUM ANALYZE applications, credentials, grants, refresh_tokens');
  return { secret: secret.text, tokens: tokens.map(({ text }) => text) };
}

function refreshRequest(secret, token) {
  const body = JSON.stringify({ grant_type: 'refresh_token', refresh_token: token });
  const head = `POST /api/public/openapi/oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${secret}`;
  return `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function send(port, requests) {
  const { child } = await startScript(LOAD);
  child.send({ port, connections: CONNECTIONS, requests });
  const [result] = await once(child, 'message');
  return result;
}
