import { formatHostPort } from '@gatehouse/net';
import type { ConnectionRecord, ConnectionSnapshot, MatchedRule, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { MihomoConnection, MihomoConnections, MihomoRule } from './mihomo-api.js';
import type { LoggedFlow } from './mihomo-flow-log.js';
import { MihomoFlowNotes, isRejected } from './mihomo-flow-notes.js';
import { recordOfListed, recordOfNoted, toSnapshot } from './mihomo-records.js';

export interface Observation {
  /** Flows that are over since the previous look. */
  closed: ConnectionRecord[];
  /** Null if nothing moved. */
  delta: TrafficDelta | null;
}

interface Look {
  delta: TrafficDelta;
  elapsed: number;
  now: number;
}

/**
 * Derives the events of our kernel from mihomo's log and from its list of connections, which is polled. The bytes of a
 * flow that begins and ends between two looks are in the totals, but not in its record.
 */
export class MihomoConnectionWatch {
  readonly #notes = new MihomoFlowNotes();
  #open = new Map<string, ConnectionSnapshot>();
  #rules = new Map<string, MatchedRule>();
  #closedByUs = new Set<string>();
  #over: ConnectionRecord[] = [];
  #delta: TrafficDelta = emptyDelta();
  #uploadTotal = 0;
  #downloadTotal = 0;
  #seenAt = 0;
  #counts = { opened: 0, failed: 0, rejected: 0 };

  /**
   * Flows from now on are matched against these rules.
   * @param listed the rules as mihomo lists them, each with the rule of ours that it stands for.
   */
  setRules(listed: readonly (readonly [MihomoRule, MatchedRule])[]): void {
    this.#rules = new Map();
    for (const [{ type, payload }, rule] of listed) {
      const key = ruleKey(type, payload);
      if (!this.#rules.has(key)) this.#rules.set(key, rule);
    }
  }

  get snapshots(): ConnectionSnapshot[] {
    return [...this.#open.values()];
  }

  get totals(): { upload: number; download: number; active: number; opened: number; failed: number; rejected: number } {
    return { upload: this.#uploadTotal, download: this.#downloadTotal, active: this.#open.size, ...this.#counts };
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  closing(id: string): void {
    if (this.#open.has(id)) this.#closedByUs.add(id);
  }

  /** mihomo's log reports a flow. */
  note(flow: LoggedFlow, now: number): void {
    if (flow.error !== null) return this.#notes.failed(flow, now);
    if (!this.#notes.connected(flow, now)) return;
    const rule = this.#ruleOf(flow.rule);
    this.#count(rule, flow.outbound, now);
    if (!isRejected(flow)) return;
    this.#counts.rejected += 1;
    this.#over.push(recordOfNoted({ flow, at: now }, rule, now));
  }

  /** @param lookedAt when the list was asked for. */
  observe(list: MihomoConnections, lookedAt: number, now: number): Observation {
    const delta = this.#delta;
    this.#delta = emptyDelta();
    delta.at = now;
    const look = { delta, elapsed: Math.max(1, now - this.#seenAt), now };
    const open = new Map<string, ConnectionSnapshot>();
    for (const connection of list.connections ?? []) {
      if (isRejected({ outbound: connection.chains[0] ?? '' })) continue;
      open.set(connection.id, this.#follow(connection, this.#open.get(connection.id), look));
    }
    const gone = [...this.#open.values()].filter(({ id }) => !open.has(id));
    const closed = [
      ...this.#over.splice(0),
      ...gone.map((snapshot) => recordOfListed(snapshot, this.#closedByUs.delete(snapshot.id), now)),
      ...this.#unseen(lookedAt, look),
    ];
    delta.upload = Math.max(0, list.uploadTotal - this.#uploadTotal);
    delta.download = Math.max(0, list.downloadTotal - this.#downloadTotal);
    this.#open = open;
    this.#uploadTotal = list.uploadTotal;
    this.#downloadTotal = list.downloadTotal;
    this.#seenAt = now;
    const moved = delta.upload + delta.download > 0 || Object.keys(delta.outbounds).length > 0;
    return { closed, delta: moved ? delta : null };
  }

  #unseen(lookedAt: number, { delta, now }: Look): ConnectionRecord[] {
    const { unseen, failed } = this.#notes.over(lookedAt);
    for (const { flow, at } of failed) {
      this.#counts.failed += 1;
      this.#count(this.#ruleOf(flow.rule), flow.outbound, at, delta);
      shareOf(delta, flow.outbound).failed += 1;
    }
    return [...unseen, ...failed].map((noted) => recordOfNoted(noted, this.#ruleOf(noted.flow.rule), now));
  }

  #follow(
    connection: MihomoConnection,
    before: ConnectionSnapshot | undefined,
    { delta, elapsed, now }: Look,
  ): ConnectionSnapshot {
    const rule = before ? before.rule : this.#ruleOf({ type: connection.rule, payload: connection.rulePayload });
    const upload = connection.upload - (before?.upload ?? 0);
    const download = connection.download - (before?.download ?? 0);
    const tag = connection.chains[0] ?? 'DIRECT';
    if (upload > 0 || download > 0) {
      const share = shareOf(delta, tag);
      share.upload += upload;
      share.download += download;
    }
    if (!before && this.#notes.listed(placeOf(connection), now)) this.#count(rule, tag, now, delta);
    return {
      ...toSnapshot(connection, rule),
      uploadSpeed: Math.round((upload * 1000) / elapsed),
      downloadSpeed: Math.round((download * 1000) / elapsed),
    };
  }

  #count(rule: MatchedRule | null, outbound: string, at: number, delta = this.#delta): void {
    this.#counts.opened += 1;
    shareOf(delta, outbound).opened += 1;
    if (rule?.id === null || rule?.id === undefined) return;
    const hits = (delta.rules[rule.id] ??= { hits: 0, lastHitAt: at });
    hits.hits += 1;
    hits.lastHitAt = Math.max(hits.lastHitAt, at);
  }

  #ruleOf(rule: LoggedFlow['rule']): MatchedRule | null {
    return (rule && this.#rules.get(ruleKey(rule.type, rule.payload))) ?? null;
  }
}

function emptyDelta(): TrafficDelta {
  return { at: 0, upload: 0, download: 0, outbounds: {}, rules: {} };
}

function shareOf(delta: TrafficDelta, tag: string): TrafficDelta['outbounds'][string] {
  return (delta.outbounds[tag] ??= { upload: 0, download: 0, opened: 0, failed: 0 });
}

/** As the log writes it. */
function placeOf({ metadata }: MihomoConnection): Pick<LoggedFlow, 'network' | 'source' | 'destination'> {
  const { network, sourceIP, sourcePort, host, destinationIP, destinationPort } = metadata;
  return {
    network: network === 'udp' ? 'udp' : 'tcp',
    source: formatHostPort(sourceIP, Number(sourcePort)),
    destination: formatHostPort(host === '' ? destinationIP : host, Number(destinationPort)),
  };
}

function ruleKey(type: string, payload: string): string {
  return `${type},${payload}`;
}
