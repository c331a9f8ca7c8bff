import { PendingConnections, type ByteStream } from '@gatehouse/net';

/** Stages of a connection to the port for agents. */
export const STAGES = ['silent', 'handshaking', 'unauthenticated'] as const;
export type Stage = (typeof STAGES)[number];

/** Connections to the port for agents that have not authenticated, by stage. */
export interface AgentPortState extends Record<Stage, number> {
  /** Upper bound for each stage. */
  most: number;
  /** Connections that were reset to make room for others, since the start. */
  evicted: number;
}

/** One source address may use this fraction of a stage's slots: one in four. */
const SOURCES = 4;

export interface UnknownConnectionsOptions {
  /** Upper bound for each stage. */
  most: number;
  /** Time limit for each stage, in milliseconds. */
  stageMs: number;
  /** Whether many machines share an address, as behind a proxy: it then has no limit of its own. */
  isShared(address: string): boolean;
}

/**
 * Connections to the port for agents that have not authenticated: silent ones, those in their TLS handshake, and those
 * that have not shown a key. Each stage has a limit in number and time. When a stage is full, its oldest connection is
 * closed.
 */
export class UnknownConnections {
  private readonly options: UnknownConnectionsOptions;
  private readonly stages: Record<Stage, PendingConnections<string>>;

  constructor(options: UnknownConnectionsOptions) {
    this.options = options;
    const { most: max, stageMs: timeoutMs } = options;
    const limits = { max, maxPerSource: Math.ceil(max / SOURCES), timeoutMs };
    this.stages = {
      silent: new PendingConnections(limits),
      handshaking: new PendingConnections(limits),
      unauthenticated: new PendingConnections(limits),
    };
  }

  /** The connection `key` enters `stage`. `stream` is destroyed if it must make room. */
  enter(stage: Stage, key: string, stream: ByteStream, address: string | undefined): void {
    this.known(key);
    const own = address === undefined || this.options.isShared(address) ? null : address;
    this.stages[stage].add(key, stream, undefined, own);
  }

  /** The connection has authenticated or ended. */
  known(key: string): void {
    for (const stage of STAGES) this.stages[stage].delete(key);
  }

  state(): AgentPortState {
    const { silent, handshaking, unauthenticated } = this.stages;
    return {
      silent: silent.size,
      handshaking: handshaking.size,
      unauthenticated: unauthenticated.size,
      most: this.options.most,
      evicted: silent.evicted + handshaking.evicted + unauthenticated.evicted,
    };
  }

  /** Destroys all of them. */
  destroy(): void {
    for (const stage of STAGES) this.stages[stage].destroy();
  }
}
