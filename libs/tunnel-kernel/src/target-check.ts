import { resetStream } from '@gatehouse/net';
import type { HostConfig, TunnelConfig, TunnelServerConfig } from './config.js';
import type { ResourceRef } from './resource.js';
import type { ChannelSource, StartOf } from './session/channel-source.js';
import type { HttpGateway } from './vhost/http-gateway.js';
import { stateOf, type TargetCheckState } from './vhost/target-failure.js';
import { passesTls } from './vhost/tls-passthrough.js';

export interface TargetCheck {
  state: TargetCheckState;
  /** Of an answer in HTTP; null: there was none. */
  status: number | null;
  /** Of a tunnel with several ports: the one whose target was tried. */
  port?: number;
}

export interface TargetCheckContext {
  config: TunnelServerConfig;
  channels: ChannelSource;
  http: HttpGateway;
  isOnline: (clientId: number) => boolean;
}

/** Modes whose agents connect to a target of the tunnel, or open its directory, for each visitor. */
const WITH_TARGET: ReadonlySet<string> = new Set(['tcp', 'secret', 'p2p', 'file']);
const NOBODY = { address: '0.0.0.0', port: 0 };

/**
 * Connects to a target as for a visitor, through the agent of its client, and closes the connection. `port`: of several
 * public ports the one that the visitor would come to; absent: the first.
 */
export async function checkTarget(
  context: TargetCheckContext,
  { kind, id }: ResourceRef,
  timeoutMs: number,
  port?: number,
): Promise<TargetCheck> {
  const { config } = context;
  if (kind === 'host') {
    const host = config.hosts.find((each) => each.id === id);
    return host ? answerOf(askHost(context, host, timeoutMs)) : { state: 'starting', status: null };
  }
  const tunnel = config.tunnels.find((each) => each.id === id);
  // The gateway may know a port that has not arrived here yet.
  if (!tunnel || (port !== undefined && !hasPort(tunnel, port))) return { state: 'starting', status: null };
  if (!WITH_TARGET.has(tunnel.mode)) {
    return { state: context.isOnline(tunnel.clientId) ? 'unchecked' : 'offline', status: null };
  }
  const tried = port ?? tunnel.listen.port;
  if (!tunnel.ports) return answerOf(askTunnel(context, tunnel, tried, timeoutMs));
  return { ...(await askRange(context, tunnel, tried, timeoutMs)), port: tried };
}

function hasPort({ listen, ports }: TunnelConfig, port: number): boolean {
  return port >= listen.port && port < listen.port + (ports?.count ?? 1);
}

async function askHost(
  { channels, http }: TargetCheckContext,
  host: HostConfig,
  timeoutMs: number,
): Promise<number | null> {
  if (!passesTls(host)) return http.ask(host, timeoutMs);
  await reach(channels, host.clientId, { kind: 'host', id: host.id, target: 0, destination: '' }, timeoutMs);
  return null;
}

async function askTunnel(
  { channels }: TargetCheckContext,
  tunnel: TunnelConfig,
  port: number,
  timeoutMs: number,
): Promise<null> {
  const destination = tunnel.ports?.mapped ? String(port) : '';
  await reach(channels, tunnel.clientId, { kind: 'tunnel', id: tunnel.id, target: null, destination }, timeoutMs);
  return null;
}

/** An agent that does not know the mode of a mapped range resets the channel at once, without an answer. */
async function askRange(
  context: TargetCheckContext,
  tunnel: TunnelConfig,
  port: number,
  timeoutMs: number,
): Promise<TargetCheck> {
  const begun = performance.now();
  const answer = await answerOf(askTunnel(context, tunnel, port, timeoutMs));
  const isReset = answer.state === 'timeout' && performance.now() - begun < timeoutMs / 2;
  if (!tunnel.ports?.mapped || !isReset) return answer;
  return { state: context.isOnline(tunnel.clientId) ? 'unsupported' : 'offline', status: null };
}

async function answerOf(asked: Promise<number | null>): Promise<TargetCheck> {
  try {
    return { state: 'answers', status: await asked };
  } catch (error) {
    return { state: stateOf(error), status: null };
  }
}

async function reach(
  channels: ChannelSource,
  clientId: number,
  target: Pick<StartOf, 'kind' | 'id' | 'target' | 'destination'>,
  timeoutMs: number,
): Promise<void> {
  const start = { ...target, visitor: NOBODY, entrance: NOBODY };
  resetStream(await channels.reach(clientId, start, timeoutMs));
}
