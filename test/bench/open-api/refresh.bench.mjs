// Refreshing tokens over HTTP: each token once, every rotation durable.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startScript } from '../processes.mjs';
import { figure, printTable, quantile } from '../table.mjs';
import { prepareRefreshTokens } from './refresh-tokens.mjs';
import { startResourceSharing } from './service.mjs';

const LEAST_PER_CORE = 1_500;
const CONNECTIONS = 32;
const WARM_UP = 2_000;
const TOKENS = 12_000;
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

export async function run() {
  const service = await startResourceSharing();
  try {
    const { secret, tokens } = await prepareRefreshTokens(service, WARM_UP + TOKENS);
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
      'refresh',
      [
        ['refreshes', (row) => row.name],
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
