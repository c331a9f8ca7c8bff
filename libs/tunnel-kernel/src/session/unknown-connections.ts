import { PendingConnections, type ByteStream } from '@gatehouse/net';

/** How far a connection to the port for agents has come. */
export const STAGES = ['silent', 'handshaking', 'unauthenticated'] as const;
export type Stage = (typeof STAGES)[number];

/** Connections to the port for agents that nobody has vouched for yet, by stage. */
export interface AgentPortState extends Record<Stage, number> {
  /** At each stage, at most. */
  most: number;
  /** Reset to make room for others, since the start. */
  evicted: number;
}

/** Of the places of a stage, one source address has one in so many. */
const SOURCES = 4;

export interface UnknownConnectionsOptions {
  /** At each stage. */
  most: number;
  /** For each stage, milliseconds. */
  stageMs: number;
  /** Whether an address stands for many machines: it has no bound of its own. */
  isShared(address: string): boolean;
}

/**
 * Connections to the port for agents until it is known whose they are: those that have said nothing, those in their TLS
 * handshake, those that have not shown a key. Each stage has places and a time limit. Where there is no place left, the
 * connection that has been there longest goes.
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

  /** The connection `key` is at `stage` from now on. `stream`: what is to be ended for it. */
  enter(stage: Stage, key: string, stream: ByteStream, address: string | undefined): void {
    this.known(key);
    const own = address === undefined || this.options.isShared(address) ? null : address;
    this.stages[stage].add(key, stream, undefined, own);
  }

  /** It is known whose it is, or it is gone. */
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

  /** Ends all of them. */
  destroy(): void {
    for (const stage of STAGES) this.stages[stage].destroy();
  }
}
