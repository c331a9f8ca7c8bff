import { readOutboundUrl } from '@gatehouse/net';
import { WebhookSecrets } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { AuthPolicy, PolicyOptions } from '../../data/auth-policy.entity.js';
import { AgentKeys } from '../../clients/agent-keys.js';
import type { NewClientBody } from '../../clients/client.dto.js';
import { Client, ClientOptions } from '../../data/client.entity.js';
import type { NewHostBody } from '../../hosts/host.dto.js';
import { createChallenge, parseDomain } from '../../domains/domain-name.js';
import { Domain } from '../../data/domain.entity.js';
import { Host, HostOptions } from '../../data/host.entity.js';
import { lockNames } from '../../domains/lock-names.js';
import { parseAddressPattern } from '../../common/address-pattern.js';
import type { NewIpRuleBody } from '../../ip-rules/ip-rule.dto.js';
import { readRequests } from '../../ip-rules/rule-requests.js';
import { IpRule, IpRuleOptions } from '../../data/ip-rule.entity.js';
import { checkPortCount, parseTunnelTargets } from '../../common/targets.js';
import { ListenPorts } from '../../tunnels/listen-port.js';
import type { NewTunnelBody } from '../../tunnels/tunnel.dto.js';
import { Tunnel, TunnelOptions } from '../../data/tunnel.entity.js';
import { VisitorKeys } from '../../tunnels/visitor-keys.js';
import type { QuotaResource } from '../../common/quota-rows.js';
import { TrafficQuotaRow } from '../../data/traffic-quota.entity.js';
import type { QuotaFields } from '../../quotas/quota.dto.js';
import { User } from '../../data/user.entity.js';
import { Webhook } from '../../data/webhook.entity.js';
import { fieldError, readField } from '../../wire/field-error.js';
import type { ArchivedDomain, ArchivedPolicy, ArchivedUser, ArchivedWebhook } from './archive.dto.js';
import type { CheckedArchive, CheckedRow } from './archive-reader.js';
import { claimIds } from './id-map.js';
import { idOf, push, referred, type RestoreContext } from './restore-context.js';
import { hostOf, hostOptionsOf } from './restore-host.js';

/** Rows per statement. */
const AT_ONCE = 500;
/** Matches no password. */
const NO_PASSWORD = '!';

const REMEMBERED = `
  SELECT DISTINCT owner_user_id::float8 AS id FROM tunnel_gateway_ops.events WHERE owner_user_id = ANY ($1::bigint[])`;

/** Writes the rows of an archive, validated like requests. */
@Injectable()
export class RowRestorer {
  constructor(
    private readonly ports: ListenPorts,
    private readonly agentKeys: AgentKeys,
    private readonly visitorKeys: VisitorKeys,
    private readonly secrets: WebhookSecrets,
  ) {}

  /** An existing user of the same name is used. */
  async userIds(rows: readonly CheckedRow<ArchivedUser>[], tx: EntityManager): Promise<Map<number, number>> {
    const known = await tx.query(
      'SELECT id::float8 AS id, username FROM tunnel_gateway.users WHERE username = ANY ($1)',
      [rows.map(({ body }) => body.username)],
    );
    const idOf = new Map((known as { id: number; username: string }[]).map(({ id, username }) => [username, id]));
    const added = rows.filter(({ body }) => !idOf.has(body.username)).map(({ id }) => id);
    // Events outlive their user: a restored user must not see those of an earlier one.
    const remembered = (await tx.query(REMEMBERED, [added])) as { id: number }[];
    const former = remembered.map(({ id }) => id);
    const fresh = await claimIds('tunnel_gateway.users', added, tx, former);
    return new Map(rows.map(({ id, body }) => [id, idOf.get(body.username) ?? fresh.get(id) ?? id]));
  }

  async users(rows: readonly CheckedRow<ArchivedUser>[], context: RestoreContext): Promise<void> {
    const present = new Set(
      ((await context.tx.query('SELECT username FROM tunnel_gateway.users')) as { username: string }[]).map(
        ({ username }) => username,
      ),
    );
    const added = rows.filter(({ body }) => !present.has(body.username));
    for (const { id, body, hash } of rows) {
      const isPresent = present.has(body.username);
      const note = isPresent
        ? 'was here already, and stays as it is'
        : hash === null
          ? 'has no password: set one'
          : null;
      push(context, { kind: 'user', id, note });
    }
    const values = added.map(({ id, createdAt, updatedAt, body, hash }) => ({
      id: idOf(context, 'user', id),
      username: body.username,
      role: body.role,
      status: body.status,
      passwordHash: hash ?? NO_PASSWORD,
      createdAt,
      updatedAt,
    }));
    await insert(context.tx, User, values);
    await quotas('user', added, context);
  }

  /** Unproved names get a new challenge, because the archive does not contain it. */
  async domains(rows: readonly CheckedRow<ArchivedDomain>[], context: RestoreContext): Promise<void> {
    await lockNames(context.tx);
    for (const [index, { id, body, createdAt, updatedAt }] of rows.entries()) {
      const path = `archive.domains[${index}]`;
      const { method, verified_at: verifiedAt } = body;
      const userId = referred(context, 'user', body.user_id, `${path}.user_id`);
      const name = readField(`${path}.name`, () => parseDomain(body.name));
      const isPresent = await context.tx.existsBy(Domain, { userId, name });
      const note = isPresent
        ? 'was here already, and stays as it is'
        : verifiedAt
          ? null
          : 'has a new record to publish';
      push(context, { kind: 'domain', id, note });
      if (isPresent) continue;
      const row = {
        id: idOf(context, 'domain', id),
        userId,
        name,
        method,
        challenge: createChallenge(),
        verifiedAt: verifiedAt ? new Date(verifiedAt) : null,
        ...(createdAt && { createdAt }),
        ...(updatedAt && { updatedAt }),
      };
      await insert(context.tx, Domain, [row]);
    }
  }

  async clients(rows: readonly CheckedRow<NewClientBody>[], context: RestoreContext): Promise<void> {
    const values = rows.map(({ id, body, hash, createdAt, updatedAt }, index) => {
      const made = hash === null ? this.agentKeys.create() : null;
      const note = made ? 'has a new key' : null;
      push(context, { kind: 'client', id, note, secret: made?.key ?? null });
      return {
        id: idOf(context, 'client', id),
        name: body.name,
        verifyKey: hash ?? made?.hash ?? '',
        ownerUserId: referred(context, 'user', body.owner_user_id ?? 0, `archive.clients[${index}].owner_user_id`),
        rateLimit: body.rate_limit ?? 0,
        maxConn: body.max_conn ?? 0,
        expireAt: typeof body.expire_at === 'string' ? new Date(body.expire_at) : null,
        status: body.status ?? 1,
        createdAt,
        updatedAt,
      };
    });
    await insert(context.tx, Client, values);
    const options = rows.map(({ id, body }) => ({
      clientId: idOf(context, 'client', id),
      encrypt: body.encrypt ?? true,
    }));
    await insert(context.tx, ClientOptions, options);
    await quotas('client', rows, context);
  }

  async tunnels(rows: readonly CheckedRow<NewTunnelBody>[], context: RestoreContext): Promise<void> {
    for (const [index, row] of rows.entries()) {
      const path = `archive.tunnels[${index}]`;
      const { id, body } = row;
      push(context, { kind: 'tunnel', id, note: null });
      await insert(context.tx, Tunnel, [await this.tunnel(row, path, context)]);
      const options = {
        tunnelId: idOf(context, 'tunnel', id),
        proxyProtocol: body.proxy_protocol ?? 0,
        acceptProxyProtocol: body.accept_proxy_protocol ?? false,
        rateLimit: body.rate_limit ?? 0,
        portCount: body.port_count ?? 1,
      };
      await insert(context.tx, TunnelOptions, [options]);
    }
    await quotas('tunnel', rows, context);
  }

  async hosts(rows: readonly CheckedRow<NewHostBody>[], context: RestoreContext): Promise<void> {
    for (const [index, row] of rows.entries()) {
      const { id, body } = row;
      push(context, { kind: 'host', id, note: null });
      const path = `archive.hosts[${index}]`;
      const restored = await hostOf(row, path, context);
      await insert(context.tx, Host, [restored]);
      await insert(context.tx, HostOptions, [hostOptionsOf(body, restored, path)]);
    }
  }

  async ipRules(rows: readonly CheckedRow<NewIpRuleBody>[], context: RestoreContext): Promise<void> {
    const options: Pick<IpRuleOptions, 'ruleId' | 'paths' | 'methods'>[] = [];
    const values = rows.map(({ id, body, createdAt, updatedAt }, index) => {
      const path = `archive.ip_rules[${index}]`;
      const { paths = null, methods = null } = readRequests(body, body.scope, `${path}.`);
      options.push({ ruleId: idOf(context, 'ip_rule', id), paths, methods });
      const { scope, type, priority, remark, pattern_kind: patternKind = 'exact' } = body;
      const isOwned = scope !== 'global' && scope !== 'console';
      push(context, { kind: 'ip_rule', id, note: null });
      return {
        id: idOf(context, 'ip_rule', id),
        scope,
        resourceId: isOwned ? referred(context, scope, body.resource_id ?? 0, `${path}.resource_id`) : 0,
        type,
        pattern: readField(`${path}.pattern`, () => parseAddressPattern(patternKind, body.pattern)),
        patternKind,
        priority: priority ?? 0,
        remark: remark ?? null,
        createdAt,
        updatedAt,
      };
    });
    await insert(context.tx, IpRule, values);
    await insert(
      context.tx,
      IpRuleOptions,
      options.filter(({ paths, methods }) => paths || methods),
    );
  }

  /** Private tunnels without a visitors' key get a new one. */
  async policies({ auth_policies: rows, tunnels }: CheckedArchive, context: RestoreContext): Promise<void> {
    const privateOnes = tunnels.filter(({ body }) => !ListenPorts.needsPort(body.mode));
    const lost = new Set(privateOnes.map(({ id }) => id));
    const kept = rows.filter(({ body, hash }) => {
      return (
        hash !== null || body.type !== 'password' || body.resource_type !== 'tunnel' || !lost.has(body.resource_id)
      );
    });
    const values = kept.map((row, index) => policy(row, `archive.auth_policies[${index}]`, context));
    await insert(context.tx, AuthPolicy, values);
    const options = kept.map(({ id, body }) => ({
      policyId: idOf(context, 'auth_policy', id),
      copyHeaders: body.copy_headers,
      allowPrivate: body.allow_private,
      oauth: body.oauth ?? null,
      // A client that had a secret must not be treated as a public one.
      sealedSecret: body.has_secret ? '' : null,
    }));
    await insert(context.tx, PolicyOptions, options);
    for (const { id } of privateOnes) {
      const tunnel = await context.tx.findOneByOrFail(Tunnel, { id: idOf(context, 'tunnel', id) });
      const secret = await this.visitorKeys.ensure(tunnel, context.actor, context.tx);
      if (secret !== null) push(context, { kind: 'tunnel', id, note: 'has a new key for its visitors', secret });
    }
  }

  async webhooks(rows: readonly CheckedRow<ArchivedWebhook>[], context: RestoreContext): Promise<void> {
    const values = rows.map(({ id, body, createdAt, updatedAt }, index) => {
      const path = `archive.webhooks[${index}]`;
      const { secret, sealed } = this.secrets.create(idOf(context, 'webhook', id));
      push(context, { kind: 'webhook', id, note: 'has a new secret', secret });
      return {
        id: idOf(context, 'webhook', id),
        ownerUserId: referred(context, 'user', body.owner_user_id, `${path}.owner_user_id`),
        name: body.name,
        // Its address is checked again when connecting.
        url: readField(`${path}.url`, () => readOutboundUrl(body.url, true)),
        eventTypes: body.event_types ?? [],
        status: body.status ?? 1,
        sealedSecret: sealed,
        ...(createdAt && { createdAt }),
        ...(updatedAt && { updatedAt }),
      };
    });
    await insert(context.tx, Webhook, values);
  }

  private async tunnel(
    { id, body, createdAt, updatedAt }: CheckedRow<NewTunnelBody>,
    path: string,
    context: RestoreContext,
  ): Promise<object> {
    const { mode, target_addr: target = '', listen_port: port = 0, port_count: portCount = 1 } = body;
    readField(`${path}.port_count`, () => checkPortCount(mode, portCount));
    readField(`${path}.target_addr`, () => parseTunnelTargets(mode, target, portCount));
    const listenIp = await this.ports.readAddress(body.listen_ip ?? '0.0.0.0');
    const wanted = { mode, listenIp, listenPort: port, portCount, tunnelId: null };
    return {
      id: idOf(context, 'tunnel', id),
      clientId: referred(context, 'client', body.client_id, `${path}.client_id`),
      name: body.name ?? null,
      mode,
      listenIp,
      listenPort: await this.ports.claim(wanted, true, context.tx),
      targetAddr: target,
      status: body.status ?? 1,
      createdAt,
      updatedAt,
    };
  }
}

function policy(
  { id, body, hash, createdAt, updatedAt }: CheckedRow<ArchivedPolicy>,
  path: string,
  context: RestoreContext,
): object {
  const { resource_type: resourceType, type, callback_url: url } = body;
  const needsHash = type === 'password' || type === 'basic';
  const note =
    needsHash && hash === null
      ? 'lets nobody in: set its passwords'
      : body.has_secret
        ? 'lets nobody in: set its secret'
        : null;
  push(context, { kind: 'auth_policy', id, note });
  if (type === 'oauth' && !body.oauth) throw fieldError(`${path}.oauth`, 'is needed');
  if (type === 'callback' && !url) throw fieldError(`${path}.callback_url`, 'is needed');
  return {
    id: idOf(context, 'auth_policy', id),
    resourceType,
    resourceId: referred(context, resourceType, body.resource_id, `${path}.resource_id`),
    type,
    password: needsHash ? hash : null,
    callbackUrl: url ? readField(`${path}.callback_url`, () => readOutboundUrl(url, true)) : null,
    enabled: body.enabled,
    ttlSeconds: body.ttl_seconds,
    createdAt,
    updatedAt,
  };
}

/** Nothing of them is used. */
async function quotas(
  kind: QuotaResource,
  rows: readonly CheckedRow<QuotaFields>[],
  context: RestoreContext,
): Promise<void> {
  const some = rows.filter(({ body }) => (body.traffic_quota ?? 0) > 0);
  const values = some.map(({ id, body: { traffic_quota: bytes, quota_period: period = 'total' } }) => ({
    resourceType: kind,
    resourceId: idOf(context, kind, id),
    bytes,
    period,
  }));
  await insert(context.tx, TrafficQuotaRow, values);
}

async function insert<T extends ObjectLiteral>(
  tx: EntityManager,
  entity: EntityTarget<T>,
  rows: readonly object[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await tx.insert(entity, rows.slice(from, from + AT_ONCE) as never);
}
