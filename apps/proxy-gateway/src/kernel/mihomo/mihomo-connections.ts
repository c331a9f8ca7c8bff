import type {
  ConnectionRecord,
  ConnectionSnapshot,
  InboundType,
  MatchedRule,
  RuleConfig,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import type { MihomoConnection, MihomoConnections } from './mihomo-api.js';

const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS', 'COMPATIBLE']);
const INBOUND_TYPES: readonly InboundType[] = ['HTTP', 'HTTPS', 'Socks4', 'Socks5', 'Inner'];

export interface Observation {
  /** Flows of the previous list that are gone. */
  closed: ConnectionRecord[];
  /** Null if nothing moved. */
  delta: TrafficDelta | null;
}

/**
 * Derives the events of our kernel from mihomo's list of connections, which is polled. A flow that begins and ends
 * between two polls leaves no record, since mihomo keeps none; the totals include its bytes.
 */
export class MihomoConnectionWatch {
  #open = new Map<string, ConnectionSnapshot>();
  #rules = new Map<string, MatchedRule>();
  #closedByUs = new Set<string>();
  #uploadTotal = 0;
  #downloadTotal = 0;
  #seenAt = 0;
  #opened = 0;

  /** Connections opened from now on are matched against these rules. */
  setRules(rules: readonly RuleConfig[]): void {
    this.#rules = new Map();
    for (const [index, { id, source, type, payload, target }] of rules.entries()) {
      const key = ruleKey(type, payload);
      if (!this.#rules.has(key)) this.#rules.set(key, { id, index, source, type, payload, target });
    }
  }

  get snapshots(): ConnectionSnapshot[] {
    return [...this.#open.values()];
  }

  get totals(): { upload: number; download: number; opened: number; active: number } {
    return {
      upload: this.#uploadTotal,
      download: this.#downloadTotal,
      opened: this.#opened,
      active: this.#open.size,
    };
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  closing(id: string): void {
    if (this.#open.has(id)) this.#closedByUs.add(id);
  }

  observe(list: MihomoConnections, now: number): Observation {
    const elapsed = Math.max(1, now - this.#seenAt);
    const delta: TrafficDelta = { at: now, upload: 0, download: 0, outbounds: {}, rules: {} };
    const open = new Map<string, ConnectionSnapshot>();
    for (const connection of list.connections ?? []) {
      const before = this.#open.get(connection.id);
      open.set(connection.id, this.#follow(connection, before, { delta, elapsed, now }));
    }
    const gone = [...this.#open.values()].filter(({ id }) => !open.has(id));
    const closed = gone.map((snapshot) => this.#record(snapshot, now));
    for (const { id } of gone) this.#closedByUs.delete(id);
    delta.upload = Math.max(0, list.uploadTotal - this.#uploadTotal);
    delta.download = Math.max(0, list.downloadTotal - this.#downloadTotal);
    this.#open = open;
    this.#uploadTotal = list.uploadTotal;
    this.#downloadTotal = list.downloadTotal;
    this.#seenAt = now;
    const moved = delta.upload + delta.download > 0 || Object.keys(delta.outbounds).length > 0;
    return { closed, delta: moved ? delta : null };
  }

  #follow(
    connection: MihomoConnection,
    before: ConnectionSnapshot | undefined,
    { delta, elapsed, now }: { delta: TrafficDelta; elapsed: number; now: number },
  ): ConnectionSnapshot {
    const rule = before ? before.rule : (this.#rules.get(ruleKey(connection.rule, connection.rulePayload)) ?? null);
    const upload = connection.upload - (before?.upload ?? 0);
    const download = connection.download - (before?.download ?? 0);
    const tag = connection.chains[0] ?? 'DIRECT';
    if (!before || upload > 0 || download > 0) {
      const share = (delta.outbounds[tag] ??= { upload: 0, download: 0, opened: 0, failed: 0 });
      share.upload += upload;
      share.download += download;
      if (!before) share.opened += 1;
    }
    if (!before) {
      this.#opened += 1;
      if (rule?.id !== null && rule?.id !== undefined) {
        const hits = (delta.rules[rule.id] ??= { hits: 0, lastHitAt: now });
        hits.hits += 1;
      }
    }
    return {
      ...toSnapshot(connection, rule),
      uploadSpeed: Math.round((upload * 1000) / elapsed),
      downloadSpeed: Math.round((download * 1000) / elapsed),
    };
  }

  #record(snapshot: ConnectionSnapshot, now: number): ConnectionRecord {
    const rejected = snapshot.chain.at(-1)?.startsWith('REJECT') ?? false;
    return {
      ...snapshot,
      state: 'closing',
      endedAt: now,
      status: rejected ? 'rejected' : 'ok',
      httpStatus: null,
      errorStage: null,
      errorKind: null,
      errorErrno: null,
      errorMessage: null,
      closeReason: this.#closeReason(snapshot.id, rejected),
    };
  }

  /** A guess, since mihomo does not say who closed a flow. */
  #closeReason(id: string, rejected: boolean): string {
    if (rejected) return 'rejected';
    return this.#closedByUs.has(id) ? 'user' : 'remote_closed';
  }
}

function toSnapshot(connection: MihomoConnection, rule: MatchedRule | null): ConnectionSnapshot {
  const { metadata, chains } = connection;
  const tag = chains[0] ?? 'DIRECT';
  return {
    id: connection.id,
    network: metadata.network === 'udp' ? 'udp' : 'tcp',
    type: INBOUND_TYPES.find((type) => type === metadata.type) ?? 'Inner',
    sourceIp: metadata.sourceIP,
    sourcePort: Number(metadata.sourcePort),
    inboundName: metadata.inboundName ?? '',
    inboundUser: metadata.inboundUser ? metadata.inboundUser : null,
    host: metadata.host === '' ? null : metadata.host,
    destinationIp: metadata.destinationIP === '' ? null : metadata.destinationIP,
    destinationPort: Number(metadata.destinationPort),
    ...(metadata.sniffHost ? { sniffHost: metadata.sniffHost } : {}),
    rule,
    chain: chains.toReversed(),
    nodeTag: BUILT_IN.has(tag) ? null : tag,
    ...(metadata.dnsMode === 'fake-ip' && { fakeIp: true }),
    remoteDestination: metadata.remoteDestination ? metadata.remoteDestination : null,
    upload: connection.upload,
    download: connection.download,
    uploadSpeed: 0,
    downloadSpeed: 0,
    startedAt: Date.parse(connection.start),
    state: 'open',
  };
}

/** mihomo writes `DomainSuffix` for `DOMAIN-SUFFIX`. */
function ruleKey(type: string, payload: string): string {
  return `${type.replaceAll('-', '').toLowerCase()},${payload}`;
}
