import { halveRows, writeBatches } from '@gatehouse/postgres';
import {
  targetName,
  type DeniedVisitors,
  type FailedVisitors,
  type HeldBack,
  type ServerEvents,
  type TargetChange,
  type TunnelLogger,
  type TunnelState,
} from '@gatehouse/tunnel-kernel';
import { insertOf, type NewEvent } from '../common/new-event.js';
import type { Queries } from '../common/edge-database.js';
import { EventSampler } from '../common/event-sampler.js';
import { Departures, type Whereabouts } from './departures.js';
import { TunnelChanges, type WantedTunnels } from './tunnel-changes.js';

/** Limit while the database is away; further events are dropped. */
const MAX_WAITING = 5_000;
/** Limit for one statement. */
const AT_ONCE = 500;

export interface EdgeEventsOptions {
  queries: Queries;
  now: () => number;
  /** 0: unknown. */
  ownerOf(clientId: number): number;
  whereabouts: Whereabouts;
  onProblem(message: string, fields: Record<string, unknown>): void;
  /** The database refuses these events, so they are missing in its log. */
  onRefused: (events: readonly NewEvent[], error: unknown) => void;
}

type Sampled = Omit<NewEvent, 'message'> & { say: (count: number) => string };

/**
 * Events of the edge on their way into the log: immediately, or once a minute with a count where there may be a flood.
 */
export class EdgeEvents {
  private readonly options: EdgeEventsOptions;
  private readonly sampler: EventSampler<Sampled>;
  private readonly changes = new TunnelChanges();
  private readonly departures: Departures;
  private waiting: NewEvent[] = [];
  private dropped = 0;
  private running: Promise<void> | null = null;
  private silent = false;

  constructor(options: EdgeEventsOptions) {
    this.options = options;
    this.departures = new Departures(options.whereabouts, (clientId, reason) => this.gone(clientId, reason));
    this.sampler = new EventSampler(options.now, ({ say, ...event }, count) =>
      this.add({ ...event, message: say(count), data: { ...event.data, count } }),
    );
  }

  /** Listener for the tunnel server; changes of agents also affect run states. */
  listener(logger: Pick<TunnelLogger, 'info' | 'warn'>, onAgents: () => void): ServerEvents {
    return {
      agentOnline: ({ clientId, address, software }) => {
        logger.info('an agent is online', { client: clientId, address, software });
        // At another edge it was online before: that is no news of the client.
        if (this.departures.arrived(clientId))
          this.ofClient(clientId, 'client.online', `The agent came from ${address}`, { address, software });
        onAgents();
      },
      agentReplaced: (change) => {
        const { clientId, address, software, before } = change;
        logger.warn('an agent was replaced by one from another address', {
          client: clientId,
          address,
          before: before.address,
        });
        const message = `The agent at ${before.address} was replaced by one from ${address}`;
        this.ofClient(clientId, 'client.replaced', message, { address, software, before: { ...before } });
      },
      agentOffline: (clientId, { code }) => {
        logger.info('an agent is offline', { client: clientId, reason: code });
        this.departures.left(clientId, code);
        onAgents();
      },
      expired: (clientId) => this.ofClient(clientId, 'client.expired', 'The time of the client is over', {}),
      targetChanged: (change) => this.targetChanged(change),
      denied: (visitors) => this.denied(visitors),
      visitorFailed: (visitors) => this.visitorFailed(visitors),
    };
  }

  /** Those whose rate limit delayed visitors since the last call. */
  limited(heldBack: Iterable<HeldBack>, clientOfTunnel: (id: number) => number): void {
    for (const { kind, id } of heldBack) {
      const clientId = kind === 'client' ? id : clientOfTunnel(id);
      this.sampler.count(`limit.rate:${kind}:${id}`, 1, {
        type: 'limit.rate',
        resource: { kind, id },
        ownerUserId: this.ownerOf(clientId),
        ...(kind === 'tunnel' && { data: { client_id: clientId } }),
        say: (seconds) => `The rate of the ${kind} was used up, in ${seconds} s since the last report`,
      });
    }
  }

  /** Compares the states of tunnels with the configuration. */
  tunnels(states: readonly TunnelState[], wanted: WantedTunnels, isOwn?: (clientId: number) => boolean): void {
    for (const { type, state, message } of this.changes.since(states, wanted, isOwn)) {
      this.add({
        type,
        resource: { kind: 'tunnel', id: state.id },
        ownerUserId: this.ownerOf(state.clientId),
        message,
        data: dataOf(state),
      });
    }
  }

  /** Another edge reports from now on; pending and counted events are still written. */
  silence(): void {
    this.sampler.finish();
    this.silent = true;
  }

  /**
   * Writes pending events; concurrent calls wait for the running one. @throws Error of the database; pending events are
   * kept.
   */
  write(): Promise<void> {
    this.sampler.release();
    this.departures.look();
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async run(): Promise<void> {
    if (this.dropped > 0) this.options.onProblem('events were too many', { dropped: this.dropped });
    this.dropped = 0;
    while (this.waiting.length > 0) await this.writePart(this.waiting.slice(0, AT_ONCE));
  }

  private writePart(part: readonly NewEvent[]): Promise<void> {
    const { queries, onRefused } = this.options;
    return writeBatches([part], {
      write: async (events) => {
        const { text, values } = insertOf(events);
        await queries.query(text, values);
        this.waiting.splice(0, events.length);
      },
      halve: halveRows,
      setAside: (events, error) => {
        this.waiting.splice(0, events.length);
        onRefused(events, error);
      },
    });
  }

  private denied({ resource, clientId, reason, address, rule, count }: DeniedVisitors): void {
    // A disabled or expired client and a quota have events of their own, so their visitors need none.
    if (reason === 'client_disabled' || reason === 'client_expired' || reason === 'quota_used_up') return;
    const full = reason === 'too_many_connections';
    this.sampler.count(`${reason}:${resource.kind}:${resource.id}`, count, {
      type: full ? 'limit.max_conn' : 'acl.denied',
      resource,
      ownerUserId: this.ownerOf(clientId),
      data: { client_id: clientId, reason, address, ...(rule && { scope: rule.scope, rule_id: rule.ruleId }) },
      say: (all) =>
        `${visitors(all)} ${all === 1 ? 'was' : 'were'} refused: ${full ? 'too many connections' : reason.replaceAll('_', ' ')}`,
    });
  }

  private visitorFailed({ resource, clientId, policyId, address, count }: FailedVisitors): void {
    this.sampler.count(`policy:${policyId}:${resource.kind}:${resource.id}`, count, {
      type: 'auth.visitor_failed',
      resource,
      ownerUserId: this.ownerOf(clientId),
      data: { client_id: clientId, policy_id: policyId, address },
      say: (all) => `${visitors(all)} did not prove who they are`,
    });
  }

  private targetChanged({ hostId, clientId, target, state, reason, status }: TargetChange): void {
    const name = targetName(target);
    const why = status !== null && reason === 'status' ? `it answered with ${status}` : reason;
    this.add({
      type: state === 'down' ? 'host.target_down' : 'host.target_up',
      resource: { kind: 'host', id: hostId },
      ownerUserId: this.ownerOf(clientId),
      message: state === 'down' ? `${name} is down: ${why}` : `${name} is up`,
      data: {
        client_id: clientId,
        target: name,
        ...(reason !== null && { reason }),
        ...(status !== null && { status }),
      },
    });
  }

  private gone(clientId: number, reason: string): void {
    this.ofClient(clientId, 'client.offline', `The agent is gone: ${reason}`, { reason });
  }

  private ofClient(id: number, type: NewEvent['type'], message: string, data: Record<string, unknown>): void {
    this.add({ type, resource: { kind: 'client', id }, ownerUserId: this.ownerOf(id), message, data });
  }

  private ownerOf(clientId: number): number | null {
    return this.options.ownerOf(clientId) || null;
  }

  private add(event: NewEvent): void {
    if (this.silent) return;
    if (this.waiting.length >= MAX_WAITING) this.dropped += 1;
    else this.waiting.push({ ...event, at: new Date(this.options.now()) });
  }
}

function visitors(count: number): string {
  return count === 1 ? 'A visitor' : `${count} visitors`;
}

function dataOf({ clientId, port, lastPort, error }: TunnelState): Record<string, unknown> {
  return {
    client_id: clientId,
    port,
    ...(lastPort !== undefined && lastPort > port && { last_port: lastPort }),
    ...(error !== null && { error }),
  };
}
