import { setFlowInterval } from '@gatehouse/net';
import type { ChannelOwner, HandlerContext } from '../agent/channel-handler.js';
import type { HostAndPort } from '../environment.js';
import type { PinnedServer } from '../session/pinned-tls.js';
import type { RendezvousMessage } from '../wire/messages.js';
import { AgentPath } from './agent-path.js';

const MAX_PATHS = 256;
const MAX_PATHS_OF_TUNNEL = 64;
/** Grace period for running connections while there is no control connection. */
const GRACE_MS = 5000;
const REPORT_MS = 1000;

export interface AgentPathsOptions {
  /** Null: no direct paths. */
  server: HostAndPort | null;
  pinned: PinnedServer;
  context: HandlerContext;
}

/** The direct paths of an agent: made at the server's request, and ended by the server or by a new configuration. */
export class AgentPaths {
  private readonly options: AgentPathsOptions;
  private readonly paths = new Map<string, AgentPath>();
  private timer: NodeJS.Timeout | null = null;

  constructor(options: AgentPathsOptions) {
    this.options = options;
  }

  asked(message: RendezvousMessage, owner: ChannelOwner): void {
    const { server, pinned, context } = this.options;
    if (!server || !this.hasRoom(message)) {
      return owner.send({ type: 'pathState', id: message.id, state: 'refused' });
    }
    const { logger } = context;
    const onOver = ({ id }: AgentPath): void => this.forget(id);
    this.paths.set(message.id, new AgentPath(message, owner, { server, pinned, logger, context, onOver }));
    this.timer ??= setFlowInterval(null, () => this.report(), REPORT_MS);
  }

  end(id: string, graceMs: number): void {
    this.paths.get(id)?.end(graceMs);
  }

  /** The agent has a control connection, possibly a new one. */
  connected(owner: ChannelOwner): void {
    for (const path of this.paths.values()) path.adopt(owner);
  }

  disconnected(owner: ChannelOwner): void {
    for (const path of this.paths.values()) if (path.isOf(owner)) path.orphan(GRACE_MS);
  }

  /** Ends the paths to tunnels that were removed. */
  configured(): void {
    for (const path of this.paths.values()) if (!this.serves(path.tunnelId)) path.end(0);
  }

  /** Ends all paths. */
  close(graceMs = 0): void {
    for (const path of this.paths.values()) path.end(graceMs);
  }

  private hasRoom({ id, tunnelId }: RendezvousMessage): boolean {
    const ofTunnel = [...this.paths.values()].filter((path) => path.tunnelId === tunnelId).length;
    const isFull = this.paths.size >= MAX_PATHS || ofTunnel >= MAX_PATHS_OF_TUNNEL;
    return !isFull && !this.paths.has(id) && this.serves(tunnelId);
  }

  private serves(tunnelId: number): boolean {
    return this.options.context.resources.tunnel(tunnelId)?.tunnel.mode === 'p2p';
  }

  private report(): void {
    for (const path of this.paths.values()) path.report();
  }

  private forget(id: string): void {
    this.paths.delete(id);
    if (this.paths.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
