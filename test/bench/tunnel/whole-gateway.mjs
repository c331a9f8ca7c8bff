// The whole gateway for the soak: the service with its PostgreSQL, its edge, and the agent that people run. What is decided or
// noted for each visit is on: sealed channels, rules with a list of addresses and with paths, quotas, health checks, recorded
// requests, the access log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../processes.mjs';
import { startWorkplace } from '../services/built-service.mjs';
import { startTunnelGateway } from '../services/tunnel-gateway.mjs';

const AGENT = fileURLToPath(new URL('../../../apps/tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url));
/** No visit uses it up. */
const QUOTA = { traffic_quota: 10 ** 14, quota_period: 'total' };
const LIST = '192.0.2.0/24\n198.51.100.0/24\n203.0.113.7\n';
/** Visits of the first are counted byte by byte; visitors of the second leave at any moment. */
export const HOSTS = { counted: 'counted.soak.example', left: 'left.soak.example' };

export async function eventually(what, look) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const found = await look();
    if (found) return found;
    await pause(100);
  }
  throw new Error(`${what}: not after 30 s`);
}

/** `tcp`, `udp` and `http`: ports of the targets on this machine. */
export async function startWholeGateway({ tcp, udp, http }) {
  const workplace = await startWorkplace();
  const accessLog = path.join(workplace.home, 'access.log');
  const httpPort = await freePort();
  const gateway = await startTunnelGateway(workplace, {
    env: {
      TUNNEL_HTTP_PORT: String(httpPort),
      TUNNEL_ACCESS_LOG: accessLog,
      TUNNEL_ACCESS_LOG_FORMAT: 'vhost_combined',
    },
  });
  const { call } = gateway;
  await addList(call);
  const client = await call('POST', '/clients', { name: 'soak', encrypt: true, ...QUOTA });
  const agent = startAgent(client);
  await eventually('the agent', async () => (await call('GET', `/clients/${client.id}`)).agent);
  const open = (mode, target) => openTunnel(call, { client_id: client.id, mode, target_addr: `127.0.0.1:${target}` });
  const tunnels = { tcp: await open('tcp', tcp), udp: await open('udp', udp), left: await open('tcp', tcp) };
  const hosts = {
    counted: await addHost(call, client.id, HOSTS.counted, http),
    left: await addHost(call, client.id, HOSTS.left, http),
  };
  await addRules(call, { client, tunnels, hosts });
  return {
    call,
    client,
    tunnels,
    hosts,
    httpPort,
    accessLog,
    processes: () => [
      ...gatewayProcesses(gateway.pid),
      { name: 'agent', pids: () => [agent.pid] },
      { name: 'PostgreSQL', pids: () => [workplace.postgresPid, ...childrenOf(workplace.postgresPid)] },
    ],
    async end() {
      agent.kill('SIGTERM');
      await gateway.stop();
      await workplace.end();
    },
  };
}

async function addList(call) {
  const server = createServer((_, response) => response.end(LIST)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  await call('POST', '/address-lists', { name: 'unwanted', url, allow_private: true });
  server.close();
}

function startAgent({ command, key }) {
  const server = /--server (\S+)/.exec(command)[1];
  return spawn(process.execPath, [AGENT, '--server', server, '--allow', '127.0.0.1'], {
    env: { PATH: process.env.PATH, GATEHOUSE_AGENT_KEY: key },
    stdio: 'ignore',
  });
}

async function openTunnel(call, wanted) {
  const { id } = await call('POST', '/tunnels', { ...wanted, ...QUOTA, listen_ip: '127.0.0.1', listen_port: 0 });
  return eventually('the port', async () => {
    const tunnel = await call('GET', `/tunnels/${id}`);
    return tunnel.run_status === 1 ? tunnel : null;
  });
}

function addHost(call, clientId, name, port) {
  return call('POST', '/hosts', {
    client_id: clientId,
    host: name,
    target_addr: `http://127.0.0.1:${port}`,
    record_requests: 'full',
    health_check: { type: 'http', path: '/health', interval_seconds: 5 },
  });
}

async function addRules(call, { client, tunnels, hosts }) {
  const deny = (rule) =>
    call('POST', '/ip-rules', { type: 'deny', pattern_kind: 'list', pattern: 'unwanted', ...rule });
  await deny({ scope: 'client', resource_id: client.id });
  for (const { id } of Object.values(tunnels)) await deny({ scope: 'tunnel', resource_id: id });
  for (const { id } of Object.values(hosts)) {
    await deny({ scope: 'host', resource_id: id });
    await deny({
      scope: 'host',
      resource_id: id,
      pattern_kind: 'any',
      pattern: '*',
      paths: ['/never'],
      methods: ['PUT'],
    });
  }
}

/** The service, and the edge that it starts. */
function gatewayProcesses(service) {
  const edge = childrenOf(service)
    .flatMap((pid) => [pid, ...childrenOf(pid)])
    .find((pid) => /edge-main/.test(textOf(`/proc/${pid}/cmdline`)));
  return [
    { name: 'service', pids: () => [service] },
    { name: 'edge', pids: () => [edge] },
  ];
}

function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]) === parent);
}

/** Memory that only this process has, in MiB: pages of programs and of files are not counted. */
export function ownMebibytes(pid) {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}
