import { keepAnswer, type Actor } from '@gatehouse/auth';
import type {
  ClientKeyView,
  NewTunnelClientView,
  RotatedClientKeyView,
  TunnelClientPage,
  TunnelClientView,
  TunnelConnectionList,
} from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventLog } from '../events/event-log.js';
import type { EdgeAgent } from '../common/edge-ipc.js';
import { Fleet, type FleetAgents, type Placed } from '../edge-host/fleet.service.js';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { readOptions, writeOptions } from '../data/row-options.js';
import { User } from '../data/user.entity.js';
import { fieldError } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { instant } from '../wire/view-parts.js';
import { AgentKeys } from './agent-keys.js';
import {
  CLIENT_SORTS,
  type ClientChanges,
  type ClientQuery,
  type KeyRotation,
  type NewClientBody,
} from './client.dto.js';
import { ClientOptions, type Client } from '../data/client.entity.js';
import { refuseLooserLimits, refuseLooserQuota } from './client-limits.js';
import { resetTraffic } from './reset-traffic.js';
import { readQuotas, saveQuota, storedQuota } from '../quotas/quotas.js';
import { toClientView, toConnectionView } from './client.view.js';

/** By the database's clock, which also decides when it is over. */
const LEASE = `
  INSERT INTO tunnel_gateway_ops.client_leases (client_id, until) VALUES ($1, now() + make_interval(secs => $2))
  ON CONFLICT (client_id) DO UPDATE SET until = excluded.until`;

/** Clients: each is used by one agent. */
@Injectable()
export class ClientsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly fleet: Fleet,
    private readonly keys: AgentKeys,
    private readonly events: EventLog,
  ) {}

  async list(query: ClientQuery, actor: Actor): Promise<TunnelClientPage> {
    const { items, next_cursor } = await this.owned.clients(actor).page(query, conditionsOf(query), CLIENT_SORTS);
    return { items: await this.views(items), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<TunnelClientView> {
    return this.view(await this.owned.clients(actor).one(id));
  }

  /** The answer contains the key, which is not stored. */
  async create(body: NewClientBody, actor: Actor): Promise<NewTunnelClientView> {
    return this.unitOfWork.run(async (tx) => {
      const { client, key, command } = await this.add(body, actor, tx);
      const options = await readOptions(tx, ClientOptions, 'clientId', [client.id]);
      const quotaOf = await readQuotas(tx, 'client', [client.id]);
      // No agent can be connected, because the key is new.
      const facts = { options: options.get(client.id), quota: quotaOf(client.id), agents: [], now: new Date() };
      const view = toClientView(client, facts);
      return keepAnswer(tx, { ...view, key, command });
    });
  }

  /** Part of a larger change. */
  async add(body: NewClientBody, actor: Actor, tx: EntityManager): Promise<ClientKeyView & { client: Client }> {
    const { key, command, hash } = this.keys.create();
    const ownerUserId = await ownerFor(body.owner_user_id ?? actor.userId ?? 0, actor, tx);
    const client = await this.owned.clients(actor, tx).add({ ...columnsOf(body), ownerUserId, verifyKey: hash });
    await this.saveOptions(client.id, body, tx);
    return { client, key, command };
  }

  async update(
    id: number,
    body: ClientChanges,
    actor: Actor,
    expected: ExpectedVersion | null = null,
  ): Promise<TunnelClientView> {
    const client = await this.unitOfWork.run(async (tx) => {
      const { owner_user_id: owner } = body;
      const ownerUserId = owner === undefined ? undefined : await ownerFor(owner, actor, tx);
      const clients = this.owned.clients(actor, tx);
      const changes = columnsOf(body);
      refuseLooserLimits(actor, await clients.lock(id, expected), changes);
      refuseLooserQuota(actor, await storedQuota(tx, 'client', id), body);
      const changed = await clients.change(id, { ...changes, ...(ownerUserId && { ownerUserId }) });
      await this.saveOptions(id, body, tx);
      return changed;
    });
    return this.view(client);
  }

  /** Also removes its tunnels and hosts, and everything about them. */
  async remove(id: number, actor: Actor, expected: ExpectedVersion | null = null): Promise<void> {
    await this.unitOfWork.run((tx) => this.owned.clients(actor, tx).remove(id, expected));
  }

  /** Only the last former key may have a grace period: a rotation ends the period of the one before. */
  async rotateKey(
    id: number,
    { grace_seconds: graceSeconds = 0 }: KeyRotation,
    actor: Actor,
  ): Promise<RotatedClientKeyView> {
    const { key, command, hash } = this.keys.create();
    const until = graceSeconds > 0 ? new Date(Date.now() + graceSeconds * 1_000) : null;
    return this.unitOfWork.run(async (tx) => {
      const clients = this.owned.clients(actor, tx);
      const { verifyKey } = await clients.lock(id);
      await clients.change(id, { verifyKey: hash });
      const previous = { previousVerifyKey: until && verifyKey, previousKeyUntil: until };
      if (until) await writeOptions(tx, ClientOptions, 'clientId', id, previous);
      else await tx.update(ClientOptions, { clientId: id }, previous);
      return keepAnswer(tx, { key, command, previous_key_until: instant(until) });
    });
  }

  /** The client is deleted once nobody has renewed this for so long. */
  async lease(id: number, seconds: number, actor: Actor): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await this.owned.clients(actor, tx).lock(id);
      await tx.query(LEASE, [id, seconds]);
    });
  }

  /** Ends the agent's session and all connections; the agent may reconnect. */
  async kick(id: number, actor: Actor): Promise<void> {
    const client = await this.owned.clients(actor).one(id);
    const online = await this.fleet.kick(id);
    await this.events.record({
      type: 'client.kicked',
      resource: { kind: 'client', id },
      ownerUserId: client.ownerUserId,
      message: `${client.name} was cut off by ${actor.name}`,
      data: { online, user_id: actor.userId },
    });
  }

  /** Resets its totals, and those of its tunnels and hosts, to zero. */
  async resetTraffic(id: number, actor: Actor): Promise<TunnelClientView> {
    const client = await this.unitOfWork.run(async (tx) => {
      const clients = this.owned.clients(actor, tx);
      await clients.lock(id);
      await resetTraffic(id, tx);
      return clients.one(id);
    });
    return this.view(client);
  }

  async connections(id: number, limit: number, actor: Actor): Promise<TunnelConnectionList> {
    await this.owned.clients(actor).one(id);
    const { items, total, silent } = await this.fleet.connections(id, limit);
    return { items: items.map(toConnectionView), total, silent_edges: silent };
  }

  private async saveOptions(clientId: number, body: ClientChanges, tx: EntityManager): Promise<void> {
    await writeOptions(tx, ClientOptions, 'clientId', clientId, { encrypt: body.encrypt });
    await saveQuota(tx, 'client', clientId, body);
  }

  private async view(client: Client): Promise<TunnelClientView> {
    const [view] = await this.views([client]);
    if (!view) throw new AppError('INTERNAL');
    return view;
  }

  private async views(clients: readonly Client[]): Promise<TunnelClientView[]> {
    const ids = clients.map(({ id }) => id);
    const agents = await this.fleet.agentsOf(ids);
    const options = await readOptions(this.owned.options, ClientOptions, 'clientId', ids);
    const quotaOf = await readQuotas(this.owned.options, 'client', ids);
    const now = new Date();
    return clients.map((client) => {
      const { id } = client;
      const facts = { options: options.get(id), quota: quotaOf(id), agents: presenceOf(id, agents), now };
      return toClientView(client, facts);
    });
  }
}

/** Null: unknown, because an edge that could have an agent does not answer. */
function presenceOf(clientId: number, agents: FleetAgents | null): Placed<EdgeAgent>[] | null {
  const found = agents?.of(clientId) ?? [];
  return found.length === 0 && agents?.silent.length !== 0 ? null : found;
}

function conditionsOf({ q, status, owner_user_id: owner }: ClientQuery): Condition[] {
  return [
    ...(q === undefined ? [] : [containing(q, ['row.name'])]),
    ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
    ...(owner === undefined ? [] : [{ sql: 'row.owner_user_id = :owner', parameters: { owner } }]),
  ];
}

/** Contains only what the body sets. */
function columnsOf(body: ClientChanges): Partial<Client> {
  const { name, rate_limit: rateLimit, max_conn: maxConn, expire_at: expireAt, status } = body;
  return {
    ...(name !== undefined && { name }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(maxConn !== undefined && { maxConn }),
    ...(expireAt !== undefined && { expireAt: expireAt === null ? null : new Date(expireAt) }),
    ...(status !== undefined && { status }),
  };
}

/** @throws AppError FORBIDDEN for another user's id, VALIDATION_FAILED if there is no such user. */
async function ownerFor(userId: number, actor: Actor, tx: EntityManager): Promise<number> {
  if (!isAdministrator(actor) && userId !== actor.userId) {
    throw new AppError('FORBIDDEN', 'Only administrators can assign clients to other users');
  }
  if (!(await tx.existsBy(User, { id: userId }))) throw fieldError('owner_user_id', `there is no user ${userId}`);
  return userId;
}
