import { resetStream } from '@gatehouse/net';
import type { TunnelServerConfig } from './config.js';
import type { ResourceRef } from './resource.js';
import type { ChannelSource, StartOf } from './session/channel-source.js';
import type { HttpGateway } from './vhost/http-gateway.js';
import { stateOf, type TargetCheckState } from './vhost/target-failure.js';
import { passesTls } from './vhost/tls-passthrough.js';

export interface TargetCheck {
  state: TargetCheckState;
  /** Of an answer in HTTP; null: there was none. */
  status: number | null;
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

/** Connects to a target as for a visitor, through the agent of its client, and closes the connection. */
export async function checkTarget(
  { config, channels, http, isOnline }: TargetCheckContext,
  { kind, id }: ResourceRef,
  timeoutMs: number,
): Promise<TargetCheck> {
  try {
    if (kind === 'host') {
      const host = config.hosts.find((each) => each.id === id);
      if (!host) return { state: 'starting', status: null };
      if (!passesTls(host)) return { state: 'answers', status: await http.ask(host, timeoutMs) };
      await reach(channels, host.clientId, { kind, id, target: 0, destination: '' }, timeoutMs);
      return { state: 'answers', status: null };
    }
    const tunnel = config.tunnels.find((each) => each.id === id);
    if (!tunnel) return { state: 'starting', status: null };
    if (!WITH_TARGET.has(tunnel.mode)) {
      return { state: isOnline(tunnel.clientId) ? 'unchecked' : 'offline', status: null };
    }
    const destination = tunnel.ports?.mapped ? String(tunnel.listen.port) : '';
    await reach(channels, tunnel.clientId, { kind, id, target: null, destination }, timeoutMs);
    return { state: 'answers', status: null };
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
