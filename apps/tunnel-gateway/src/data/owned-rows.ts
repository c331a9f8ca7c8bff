import { allows, type Actor } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AddressList } from './address-list.entity.js';
import { ApiKeyRow } from './api-key.entity.js';
import { AuthPolicy } from './auth-policy.entity.js';
import { Client } from './client.entity.js';
import { Domain } from './domain.entity.js';
import { EventRow } from './event.entity.js';
import { Host } from './host.entity.js';
import { IpRule } from './ip-rule.entity.js';
import { SessionRow } from './session.entity.js';
import { TunnelGatewaySettings } from '../settings.js';
import { FlowStat, RequestIp } from './traffic.entity.js';
import { Tunnel } from './tunnel.entity.js';
import { User } from './user.entity.js';
import { Webhook, WebhookDelivery } from './webhook.entity.js';
import { OwnedTable, type Condition, type OwnedCap } from './owned-table.js';

const OWN_CLIENTS = 'SELECT c.id FROM tunnel_gateway.clients c WHERE c.owner_user_id = :actorId';

/** Each port of a range counts as a tunnel. */
const TUNNEL_PLACES = `count(*) + coalesce(sum(
  (SELECT o.port_count - 1 FROM tunnel_gateway_ops.tunnel_options o WHERE o.tunnel_id = row.id)), 0)`;

function ownedThrough(table: 'tunnels' | 'hosts'): string {
  return `SELECT r.id FROM tunnel_gateway.${table} r WHERE r.client_id IN (${OWN_CLIENTS})`;
}

/** A rule or policy belongs to the owner of its resource. */
function aboutOwn(kind: string): string {
  return `(${kind} = 'client' AND row.resource_id IN (${OWN_CLIENTS}))
    OR (${kind} = 'tunnel' AND row.resource_id IN (${ownedThrough('tunnels')}))
    OR (${kind} = 'host' AND row.resource_id IN (${ownedThrough('hosts')}))`;
}

/** A user's own totals, and those of the user's resources. */
const COUNTED_OWN = `(row.resource_type = 'user' AND row.resource_id = :actorId) OR ${aboutOwn('row.resource_type')}`;

/**
 * The only access to tables with owners. Every query names an actor: administrators see all rows, everybody else those
 * of their own clients.
 */
@Injectable()
export class OwnedRows {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Everybody but administrators sees only their own user. */
  users(actor: Actor, tx?: EntityManager): OwnedTable<User> {
    const restriction = restrictedTo(actor, 'row.id = :actorId');
    return new OwnedTable({ manager: this.manager(tx), entity: User, noun: 'user', restriction });
  }

  sessions(actor: Actor): OwnedTable<SessionRow> {
    const restriction = restrictedTo(actor, 'row.user_id = :actorId');
    return new OwnedTable({ manager: this.manager(undefined), entity: SessionRow, noun: 'login', restriction });
  }

  apiKeys(actor: Actor): OwnedTable<ApiKeyRow> {
    const restriction = restrictedTo(actor, 'row.user_id = :actorId');
    return new OwnedTable({ manager: this.manager(undefined), entity: ApiKeyRow, noun: 'API key', restriction });
  }

  clients(actor: Actor, tx?: EntityManager): OwnedTable<Client> {
    const restriction = restrictedTo(actor, 'row.owner_user_id = :actorId');
    const cap = capOf(actor, this.settings.maxClientsPerUser);
    return new OwnedTable({ manager: this.manager(tx), entity: Client, noun: 'client', restriction, cap });
  }

  tunnels(actor: Actor, tx?: EntityManager): OwnedTable<Tunnel> {
    const restriction = restrictedTo(actor, `row.client_id IN (${OWN_CLIENTS})`);
    const cap = capOf(actor, this.settings.maxTunnelsPerUser, TUNNEL_PLACES);
    return new OwnedTable({ manager: this.manager(tx), entity: Tunnel, noun: 'tunnel', restriction, cap });
  }

  hosts(actor: Actor, tx?: EntityManager): OwnedTable<Host> {
    const restriction = restrictedTo(actor, `row.client_id IN (${OWN_CLIENTS})`);
    const cap = capOf(actor, this.settings.maxHostsPerUser);
    return new OwnedTable({ manager: this.manager(tx), entity: Host, noun: 'host', restriction, cap });
  }

  /** The same limit as for hosts, each of which may have a name of its own. */
  domains(actor: Actor, tx?: EntityManager): OwnedTable<Domain> {
    const restriction = restrictedTo(actor, 'row.user_id = :actorId');
    const cap = capOf(actor, this.settings.maxHostsPerUser);
    return new OwnedTable({ manager: this.manager(tx), entity: Domain, noun: 'domain', restriction, cap });
  }

  ipRules(actor: Actor, tx?: EntityManager): OwnedTable<IpRule> {
    const own = `(row.scope = 'user' AND row.resource_id = :actorId) OR ${aboutOwn('row.scope')}`;
    const restriction = restrictedTo(actor, own);
    const cap = capOf(actor, this.settings.maxRulesPerUser);
    return new OwnedTable({ manager: this.manager(tx), entity: IpRule, noun: 'rule', restriction, cap });
  }

  /** Of the whole gateway: only administrators see them. */
  addressLists(actor: Actor, tx?: EntityManager): OwnedTable<AddressList> {
    const restriction = restrictedTo(actor, 'FALSE');
    return new OwnedTable({ manager: this.manager(tx), entity: AddressList, noun: 'list', restriction });
  }

  authPolicies(actor: Actor, tx?: EntityManager): OwnedTable<AuthPolicy> {
    const restriction = restrictedTo(actor, aboutOwn('row.resource_type'));
    const { maxRulesPerUser, maxTunnelsPerUser } = this.settings;
    // Keys for visitors of private tunnels are policies, too.
    const cap = capOf(actor, maxRulesPerUser + maxTunnelsPerUser);
    return new OwnedTable({ manager: this.manager(tx), entity: AuthPolicy, noun: 'policy', restriction, cap });
  }

  flowStats(actor: Actor): OwnedTable<FlowStat> {
    const restriction = restrictedTo(actor, COUNTED_OWN);
    return new OwnedTable({ manager: this.manager(undefined), entity: FlowStat, noun: 'total', restriction });
  }

  requestIps(actor: Actor): OwnedTable<RequestIp> {
    const restriction = restrictedTo(actor, COUNTED_OWN);
    return new OwnedTable({ manager: this.manager(undefined), entity: RequestIp, noun: 'address', restriction });
  }

  webhooks(actor: Actor, tx?: EntityManager): OwnedTable<Webhook> {
    const restriction = restrictedTo(actor, 'row.owner_user_id = :actorId');
    return new OwnedTable({ manager: this.manager(tx), entity: Webhook, noun: 'webhook', restriction });
  }

  webhookDeliveries(actor: Actor): OwnedTable<WebhookDelivery> {
    const own = 'SELECT w.id FROM tunnel_gateway_ops.webhooks w WHERE w.owner_user_id = :actorId';
    const restriction = restrictedTo(actor, `row.webhook_id IN (${own})`);
    return new OwnedTable({ manager: this.manager(undefined), entity: WebhookDelivery, noun: 'delivery', restriction });
  }

  /** Read only: the log is written elsewhere. */
  events(actor: Actor): OwnedTable<EventRow> {
    const restriction = restrictedTo(actor, 'row.owner_user_id = :actorId');
    return new OwnedTable({ manager: this.manager(undefined), entity: EventRow, noun: 'event', restriction });
  }

  /** For the options of rows that were found here. */
  get options(): EntityManager {
    return this.dataSource.manager;
  }

  private manager(tx: EntityManager | undefined): EntityManager {
    return tx ?? this.dataSource.manager;
  }
}

export function isAdministrator(actor: Actor): boolean {
  return allows(actor, 'admin');
}

/** Whether the actor sees all rows: an administrator's API key does, whatever its scopes. */
export function seesAll(actor: Actor): boolean {
  return isAdministrator(actor) || actor.role === 'admin';
}

/** The limit for one user; users who see everything have none. */
function capOf(actor: Actor, most: number, places = 'count(*)'): OwnedCap | null {
  return seesAll(actor) ? null : { userId: actor.userId ?? 0, most, places };
}

/** An actor without a user owns no rows: ids begin with 1. */
function restrictedTo(actor: Actor, sql: string): Condition | null {
  return seesAll(actor) ? null : { sql, parameters: { actorId: actor.userId ?? 0 } };
}
