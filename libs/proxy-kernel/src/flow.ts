import { isIP } from 'node:net';
import {
  relay,
  setFlowTimeout,
  type ByteCounter,
  type ByteStream,
  type RelayEnd,
  type RelayHandle,
  type Throttle,
} from '@gatehouse/net';
import type { ConnectionEntry } from './accounting/connection-entry.js';
import type { ConnectionTable } from './accounting/connection-table.js';
import type { Generation } from './generation.js';
import type { OwnServiceClients } from './guard/own-service-clients.js';
import type { FlowWatch } from './health/index.js';
import {
  DialError,
  type CloseReason,
  type ConnectionMetadata,
  type DialStage,
  type ErrorStage,
  type Flow,
  type FlowOutcome,
  type FlowThrottle,
  type FlowRoute,
  type KernelTimeouts,
  type Outbound,
} from './interfaces/index.js';
import { wishedWay, type UserAccounts, type WishParts } from './users/index.js';
import { withChain } from './way-out.js';

const GIVEN_UP = new DialError('dial', 'other', 'the flow has ended');

export interface FlowParts {
  table: ConnectionTable;
  generation: Generation;
  timeouts: KernelTimeouts;
  watch: FlowWatch;
  wishes: Pick<WishParts, 'health' | 'sessions'>;
  ownServiceClients: OwnServiceClients;
  metadata: ConnectionMetadata;
  /** Ends the client's side when there is no relay to stop. */
  abort: (reason: CloseReason) => void;
  accounts: UserAccounts;
}

/** A flow, bound to the generation that was current when it began. */
export class KernelFlow implements Flow {
  private readonly parts: FlowParts;
  private readonly entry: ConnectionEntry;
  private readonly controller = new AbortController();
  private stage: ErrorStage = 'route';
  private readonly reached = new Set<DialStage>();
  private outbound: Outbound | null = null;
  private deciding: Promise<FlowRoute> | null = null;
  private relaying: RelayHandle | null = null;
  private limitedBy: Throttle | null = null;
  private closedBy: CloseReason | null = null;
  private finished = false;

  constructor(parts: FlowParts) {
    this.parts = parts;
    this.entry = parts.table.open(parts.metadata, {
      close: (reason) => this.close(reason),
      limit: (throttle) => this.limit(throttle),
    });
  }

  get id(): string {
    return this.entry.id;
  }

  get metadata(): ConnectionMetadata {
    return this.entry.metadata;
  }

  get counter(): ByteCounter {
    return this.entry;
  }

  get throttle(): FlowThrottle | null {
    return this.parts.accounts.of(this.metadata.inboundUser)?.throttle ?? null;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  route(): Promise<FlowRoute> {
    return this.inTime(this.decided());
  }

  connect(): Promise<ByteStream> {
    const dialling = this.dial();
    // A connection that arrives after the flow was given up has no owner.
    dialling.then(
      (remote) => this.signal.aborted && remote.destroy(),
      () => undefined,
    );
    return this.inTime(dialling);
  }

  opened(remoteAddress: string | undefined): void {
    // A connection that arrives after the end has no owner.
    if (this.finished) return;
    this.stage = 'relay';
    this.entry.state = 'open';
    this.entry.remoteDestination = remoteAddress ?? null;
    if (this.outbound) this.parts.watch.opened(this.entry, this.outbound.tag);
  }

  relay(client: ByteStream, remote: ByteStream, head?: Uint8Array): void {
    this.stage = 'relay';
    this.entry.state = 'open';
    this.limitedBy = this.throttle;
    this.relaying = relay(client, remote, this.entry, {
      head,
      throttle: this.limitedBy,
      idleTimeoutMs: this.parts.timeouts.idle,
      halfClosedTimeoutMs: this.parts.timeouts.halfClosed,
      onClose: (end) => this.finish(this.relayOutcome(end)),
    });
  }

  setHttpStatus(status: number): void {
    this.entry.httpStatus = status;
  }

  finish(outcome: FlowOutcome): void {
    if (this.finished) return;
    this.finished = true;
    // A dial that is still under way is no longer needed.
    if (this.stage !== 'relay' && !this.signal.aborted) this.controller.abort(GIVEN_UP);
    const closeReason = this.closedBy ?? outcome.closeReason;
    this.reportHealth(outcome);
    this.parts.table.close(this.entry, { ...outcome, closeReason }, this.stage);
  }

  private reportHealth({ error }: FlowOutcome): void {
    if (!this.outbound) return;
    const { tag, type } = this.outbound;
    this.parts.watch.ended(this.entry, tag, { error: this.closedBy ? null : error, type, reached: this.reached });
  }

  private close(reason: CloseReason): void {
    if (this.finished || this.closedBy) return;
    this.closedBy = reason;
    this.entry.state = 'closing';
    if (this.relaying) return this.relaying.stop();
    this.controller.abort(new DialError(this.stage, 'other', `closed: ${reason}`));
    this.parts.abort(reason);
  }

  /** A relay that keeps its throttle also keeps its place in line. */
  private limit(throttle: Throttle | null): void {
    if (throttle === this.limitedBy) return;
    this.limitedBy = throttle;
    this.relaying?.limit(throttle);
  }

  private async dial(): Promise<ByteStream> {
    const { outbound, decision } = await this.decided();
    this.stage = 'dial';
    const { host, destinationIp, destinationPort, publicOnly = false } = this.metadata;
    const { rule, resolvedIps: ips } = decision;
    const named = { host: host ?? destinationIp ?? '', port: destinationPort };
    const target = { ...named, ips, ...(rule && { ruleIndex: rule.index }), publicOnly };
    const remote = await outbound.connect(target, {
      signal: this.signal,
      onStage: (stage) => this.reached.add(stage),
    });
    this.noteOwnService(outbound, remote);
    if (!this.signal.aborted) this.opened(remote.remoteAddress);
    return remote;
  }

  private noteOwnService({ type }: Outbound, remote: ByteStream): void {
    const { generation, metadata, ownServiceClients } = this.parts;
    if (type !== 'direct' || generation.guard === null) return;
    const { remoteAddress = '', remotePort = 0 } = remote;
    if (generation.guard.isOwn(remoteAddress, remotePort)) ownServiceClients.note(remote, metadata.sourceIp);
  }

  /** Stops waiting when the flow is closed or out of time, even if the work ignores the signal. */
  private inTime<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const timer = setFlowTimeout(null, () => this.timedOut(), this.parts.timeouts.dial);
      const onAbort = (): void => fail(signal.reason);
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const fail = (error: unknown): void => {
        settle();
        reject(error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      work.then((value) => {
        settle();
        resolve(value);
      }, fail);
      if (signal.aborted) onAbort();
    });
  }

  private decided(): Promise<FlowRoute> {
    this.deciding ??= this.decide();
    return this.deciding;
  }

  private async decide(): Promise<FlowRoute> {
    const { generation, table } = this.parts;
    if (table.isTooMany(this.entry)) {
      throw new DialError('route', 'other', 'this client or user has too many connections open');
    }
    this.checkUser();
    this.nameStandIn();
    const view = routingView(this.metadata);
    const deciding = generation.router.decide(view, this.signal);
    const decided = deciding instanceof Promise ? await deciding : deciding;
    const { policies, labels } = generation;
    const wished = view.wishes ? wishedWay(view, decided, { ...this.parts.wishes, groups: policies, labels }) : null;
    const decision = withChain(wished ?? decided, wished?.chain ?? policies.useChain(decided.target, view));
    table.routed(this.entry, decision);
    const outbound = generation.outbounds.get(decision.outbound);
    if (!outbound) throw new DialError('route', 'other', `no outbound named ${decision.outbound}`);
    this.outbound = outbound;
    return { outbound, decision, key: `${generation.number}/${outbound.tag}` };
  }

  /** @throws UserLimitError. */
  private checkUser(): void {
    const { accounts, table } = this.parts;
    const { inboundUser } = this.metadata;
    if (inboundUser !== null) accounts.check(this.metadata, table.openOf(inboundUser));
  }

  /**
   * For an address that stood for a forgotten name, as after a restart: uses the name in the client's first bytes.
   * @throws DialError without one, since nothing is behind the address itself.
   */
  private nameStandIn(): void {
    const { metadata } = this;
    const { host, destinationIp, sniffHost } = metadata;
    if (host !== null || destinationIp === null || !this.parts.generation.fakeIps?.contains(destinationIp)) return;
    if (!sniffHost || isIP(sniffHost)) {
      throw new DialError('dns', 'dns_error', `${destinationIp} stands for a name that is no longer known`);
    }
    Object.assign(metadata, { host: sniffHost, destinationIp: null, fakeIp: true });
  }

  private timedOut(): void {
    const stage = this.stage === 'route' ? 'dns' : 'dial';
    this.controller.abort(new DialError(stage, 'timeout', `no connection within ${this.parts.timeouts.dial} ms`));
  }

  private relayOutcome({ reason, error }: RelayEnd): FlowOutcome {
    if (reason === 'remote_error') {
      return {
        closeReason: 'error',
        error: error ?? new DialError('relay', 'connection_reset', 'the remote end broke the connection'),
      };
    }
    if (reason === 'stopped') return { closeReason: 'user' };
    return { closeReason: reason === 'client_error' ? 'client_closed' : reason };
  }
}

/** Rules see a sniffed name as the flow's domain, and its address as already resolved. */
function routingView(metadata: ConnectionMetadata): ConnectionMetadata {
  const { sniffHost } = metadata;
  return sniffHost && metadata.host === null && !isIP(sniffHost) ? { ...metadata, host: sniffHost } : metadata;
}
