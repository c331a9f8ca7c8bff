import type { NewTunnelClientView, RuleView, TunnelView } from '@gatehouse/contracts';
import { AgentProcess } from '../../tour/agent-process.js';
import { ApiClient } from '../../tour/api-client.js';
import { Origin } from '../../tour/origin.js';
import { fetchThrough, type ProxyAddress } from '../../tour/proxy-client.js';
import { eventually } from '../../tour/script.js';

const SIZE = 8 * 1024 * 1024;

/** A container may take this long to be healthy again. The download stands still for as long. */
const RESTART_MS = 300_000;

export interface RunningStaging {
  proxyGateway: string;
  tunnelGateway: string;
  proxy: ProxyAddress;
  /** This machine as containers reach it. */
  machine: string;
  password: string;
  /** Resolves when the container is healthy again. */
  restart: (service: string) => Promise<void>;
}

/** What became of a download that ran while a container was restarted. */
export interface RestartResult {
  what: string;
  restarted: string;
  cut: boolean;
}

/** Restarts the containers of both APIs, each beside a download that runs through its data plane. */
export async function watchRestarts(staging: RunningStaging): Promise<RestartResult[]> {
  return [await watchTunnel(staging), await watchProxy(staging)];
}

async function watchTunnel({ tunnelGateway, password, restart }: RunningStaging): Promise<RestartResult> {
  const api = new ApiClient(`${tunnelGateway}/api/v1`);
  await api.login(password, 'admin');
  const origin = await Origin.start();
  const client = await api.call<NewTunnelClientView>('POST', '/clients', { name: 'restarts' });
  const agent = AgentProcess.start(client);
  try {
    const target = { mode: 'tcp', listen_ip: '0.0.0.0', listen_port: 0, target_addr: `127.0.0.1:${origin.port}` };
    const { id } = await api.call<TunnelView>('POST', '/tunnels', { client_id: client.id, ...target });
    const tunnel = await eventually('the port', async () => {
      const now = await api.call<TunnelView>('GET', `/tunnels/${id}`);
      return now.run_status === 1 ? now : undefined;
    });
    const download = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${tunnel.listen_port}/bytes/${SIZE}`);
      return (await answer.arrayBuffer()).byteLength;
    };
    const cut = await isCut(origin, download, () => restart('tunnel-gateway'));
    return { what: 'a visitor of a tunnel', restarted: 'tunnel-gateway', cut };
  } finally {
    await agent.stop();
    await api.call('DELETE', `/clients/${client.id}`);
    await origin.close();
  }
}

async function watchProxy(staging: RunningStaging): Promise<RestartResult> {
  const { proxyGateway, password, proxy, machine, restart } = staging;
  const api = new ApiClient(`${proxyGateway}/api/v1`);
  await api.login(password);
  const origin = await Origin.start({}, machine);
  // Private addresses are refused unless a rule names them.
  const rule = { type: 'IP-CIDR', payload: `${machine}/32`, target: 'DIRECT', priority: 1 };
  const { id } = await api.call<RuleView>('POST', '/rules', rule);
  try {
    const url = new URL(`http://${machine}:${origin.port}/bytes/${SIZE}`);
    const small = new URL(`http://${machine}:${origin.port}/bytes/1`);
    await eventually('the rule', async () => {
      const answer = await fetchThrough('http', proxy, small);
      return answer.status === 200 ? true : undefined;
    });
    const download = async (): Promise<number> => {
      return (await fetchThrough('connect', proxy, url, { timeoutMs: RESTART_MS })).bytes;
    };
    const cut = await isCut(origin, download, () => restart('proxy-gateway'));
    return { what: 'a proxied download', restarted: 'proxy-gateway', cut };
  } finally {
    await api.call('DELETE', `/rules/${id}`);
    await origin.close();
  }
}

/** Holds a download half way until `restart` is done. */
async function isCut(origin: Origin, download: () => Promise<number>, restart: () => Promise<void>): Promise<boolean> {
  origin.hold();
  const before = origin.seen.length;
  const bytes = download().catch(() => 0);
  await eventually('the download', () => Promise.resolve(origin.seen.length > before || undefined));
  await restart();
  origin.release();
  return (await bytes) !== SIZE;
}
