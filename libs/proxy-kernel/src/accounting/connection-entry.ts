import type { ByteCounter, Throttle } from '@gatehouse/net';
import type {
  CloseReason,
  ConnectionMetadata,
  ConnectionSnapshot,
  MatchedRule,
  RouteDecision,
} from '../interfaces/index.js';

const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS']);

/** Acts on a flow from outside. */
export interface FlowControls {
  close(reason: CloseReason): void;
  /** The user's throttle of the moment; null: none. */
  limit(throttle: Throttle | null): void;
}

/** One open flow. The relay counts directly in `upload` and `download`. */
export class ConnectionEntry implements ByteCounter {
  readonly id: string;
  readonly metadata: ConnectionMetadata;
  readonly startedAt: number;
  readonly controls: FlowControls;
  upload = 0;
  download = 0;
  uploadSpeed = 0;
  downloadSpeed = 0;
  /** The bytes that earlier deltas contain. */
  reportedUpload = 0;
  reportedDownload = 0;
  rule: MatchedRule | null = null;
  chain: string[] = [];
  /** Null until routed. */
  outbound: string | null = null;
  remoteDestination: string | null = null;
  httpStatus: number | null = null;
  state: ConnectionSnapshot['state'] = 'dialing';

  constructor(id: string, metadata: ConnectionMetadata, startedAt: number, controls: FlowControls) {
    this.id = id;
    this.metadata = metadata;
    this.startedAt = startedAt;
    this.controls = controls;
  }

  routed(decision: RouteDecision): void {
    this.rule = decision.rule;
    this.chain = decision.chain;
    this.outbound = decision.outbound;
    this.metadata.destinationIp ??= decision.resolvedIps[0] ?? null;
  }

  snapshot(): ConnectionSnapshot {
    const { outbound } = this;
    return {
      ...this.metadata,
      id: this.id,
      rule: this.rule,
      chain: [...this.chain],
      nodeTag: outbound === null || BUILT_IN.has(outbound) ? null : outbound,
      remoteDestination: this.remoteDestination,
      upload: this.upload,
      download: this.download,
      uploadSpeed: this.uploadSpeed,
      downloadSpeed: this.downloadSpeed,
      startedAt: this.startedAt,
      state: this.state,
    };
  }
}
