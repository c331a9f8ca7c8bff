import { keepAnswer, type Actor } from '@gatehouse/auth';
import type { NewTunnelView, TunnelPage, TunnelView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Fleet } from '../edge-host/fleet.service.js';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { readOptions, writeOptions } from '../data/row-options.js';
import { checkPortCount, parseTunnelTargets } from '../common/targets.js';
import { readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { containsPort, ListenPorts, type WantedPort } from './listen-port.js';
import { TUNNEL_SORTS, type NewTunnelBody, type TunnelChanges, type TunnelQuery } from './tunnel.dto.js';
import { TunnelOptions, type Tunnel } from '../data/tunnel.entity.js';
import { toTunnelView } from './tunnel.view.js';
import { readQuotas, saveQuota } from '../quotas/quotas.js';
import { VisitorKeys } from './visitor-keys.js';

/** Tunnels: ports that lead to a client's targets. */
@Injectable()
export class TunnelsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly fleet: Fleet,
    private readonly ports: ListenPorts,
    private readonly visitorKeys: VisitorKeys,
  ) {}

  async list(query: TunnelQuery, actor: Actor): Promise<TunnelPage> {
    const { items, next_cursor } = await this.owned.tunnels(actor).page(query, conditionsOf(query), TUNNEL_SORTS);
    return { items: await this.views(items), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<TunnelView> {
    return this.view(await this.owned.tunnels(actor).one(id));
  }

  /** For a `secret` or `p2p` tunnel the answer contains the visitors' key, which is not stored. */
  async create(body: NewTunnelBody, actor: Actor): Promise<NewTunnelView> {
    return this.unitOfWork.run(async (tx) => {
      const { tunnel, visitorKey } = await this.add(body, actor, tx);
      const options = await readOptions(tx, TunnelOptions, 'tunnelId', [tunnel.id]);
      const quotaOf = await readQuotas(tx, 'tunnel', [tunnel.id]);
      // The data plane learns of it after the commit.
      const facts = { options: options.get(tunnel.id), quota: quotaOf(tunnel.id), state: undefined };
      const view = toTunnelView(tunnel, facts);
      return keepAnswer(tx, { ...view, visitor_key: visitorKey });
    });
  }

  /** Part of a larger change. */
  async add(
    body: NewTunnelBody,
    actor: Actor,
    tx: EntityManager,
  ): Promise<{ tunnel: Tunnel; visitorKey: string | null }> {
    const client = await this.owned.clients(actor, tx).lock(body.client_id);
    const columns = await this.columnsOf(body, null, actor, tx);
    const tunnel = await this.owned.tunnels(actor, tx).add({ ...columns, clientId: client.id }, body.port_count);
    await this.saveOptions(tunnel.id, body, tx);
    return { tunnel, visitorKey: await this.visitorKeys.ensure(tunnel, actor, tx) };
  }

  async update(
    id: number,
    body: TunnelChanges,
    actor: Actor,
    expected: ExpectedVersion | null = null,
  ): Promise<TunnelView> {
    const tunnel = await this.unitOfWork.run(async (tx) => {
      const tunnels = this.owned.tunnels(actor, tx);
      const before = await tunnels.lock(id, expected);
      const more = (body.port_count ?? 1) - (await portCountOf(id, tx));
      if (more > 0) await tunnels.requireRoom(more);
      const columns = await this.columnsOf(body, before, actor, tx);
      const changed = await tunnels.change(id, columns);
      await this.saveOptions(id, body, tx);
      await this.visitorKeys.drop(changed, actor, tx);
      return changed;
    });
    return this.view(tunnel);
  }

  async remove(id: number, actor: Actor, expected: ExpectedVersion | null = null): Promise<void> {
    await this.unitOfWork.run((tx) => this.owned.tunnels(actor, tx).remove(id, expected));
  }

  /** Replaces the visitors' key of a `secret` or `p2p` tunnel; only this answer contains it. */
  async rotateVisitorKey(id: number, actor: Actor): Promise<NewTunnelView> {
    const { tunnel, visitorKey } = await this.unitOfWork.run(async (tx) => {
      const row = await this.owned.tunnels(actor, tx).lock(id);
      if (ListenPorts.needsPort(row.mode))
        throw new AppError('CONFLICT', `Tunnels of mode ${row.mode} have no visitor key`);
      return { tunnel: row, visitorKey: await this.visitorKeys.renew(row, actor, tx) };
    });
    return { ...(await this.view(tunnel)), visitor_key: visitorKey };
  }

  /** The columns that the body sets, validated together with the unchanged ones. */
  private async columnsOf(
    body: TunnelChanges,
    before: Tunnel | null,
    actor: Actor,
    tx: EntityManager,
  ): Promise<Partial<Tunnel>> {
    const mode = body.mode ?? before?.mode ?? 'tcp';
    const countBefore = before === null ? 1 : await portCountOf(before.id, tx);
    const portCount = body.port_count ?? countBefore;
    readField('port_count', () => checkPortCount(mode, portCount));
    const targetAddr = (body.target_addr ?? before?.targetAddr ?? '').trim();
    readField('target_addr', () => parseTunnelTargets(mode, targetAddr, portCount));
    const listenIp =
      body.listen_ip === undefined ? (before?.listenIp ?? '0.0.0.0') : await this.ports.readAddress(body.listen_ip);
    const wanted = { mode, listenIp, listenPort: body.listen_port ?? before?.listenPort ?? 0, portCount };
    const { name, status } = body;
    return {
      mode,
      targetAddr,
      listenIp,
      listenPort: await this.portOf(wanted, before, countBefore, { actor, tx }),
      ...(name !== undefined && { name }),
      ...(status !== undefined && { status }),
    };
  }

  private async portOf(
    wanted: Omit<WantedPort, 'tunnelId'>,
    before: Tunnel | null,
    countBefore: number,
    { actor, tx }: { actor: Actor; tx: EntityManager },
  ): Promise<number> {
    const { mode, listenIp, listenPort, portCount } = wanted;
    const same = before?.mode === mode && before.listenIp === listenIp && before.listenPort === listenPort;
    if (same && countBefore === portCount) return before.listenPort;
    return this.ports.claim({ ...wanted, tunnelId: before?.id ?? null }, isAdministrator(actor), tx);
  }

  private async saveOptions(tunnelId: number, body: TunnelChanges, tx: EntityManager): Promise<void> {
    const { proxy_protocol: proxyProtocol, accept_proxy_protocol: acceptProxyProtocol, rate_limit: rateLimit } = body;
    const options = { proxyProtocol, acceptProxyProtocol, rateLimit, portCount: body.port_count };
    await writeOptions(tx, TunnelOptions, 'tunnelId', tunnelId, options);
    await saveQuota(tx, 'tunnel', tunnelId, body);
  }

  private async view(tunnel: Tunnel): Promise<TunnelView> {
    const [view] = await this.views([tunnel]);
    if (!view) throw new AppError('INTERNAL');
    return view;
  }

  private async views(tunnels: readonly Tunnel[]): Promise<TunnelView[]> {
    const failed = tunnels.filter(({ runStatus }) => runStatus === 3).map(({ id }) => id);
    const states = await this.fleet.tunnelStates(failed);
    const ids = tunnels.map(({ id }) => id);
    const options = await readOptions(this.owned.options, TunnelOptions, 'tunnelId', ids);
    const quotaOf = await readQuotas(this.owned.options, 'tunnel', ids);
    return tunnels.map((tunnel) => {
      const { id } = tunnel;
      return toTunnelView(tunnel, { options: options.get(id), quota: quotaOf(id), state: states?.get(id) });
    });
  }
}

async function portCountOf(tunnelId: number, tx: EntityManager): Promise<number> {
  return (await readOptions(tx, TunnelOptions, 'tunnelId', [tunnelId])).get(tunnelId)?.portCount ?? 1;
}

/** A part of the name, the targets or the port; or a port of a range. */
function search(text: string): Condition {
  const texts = containing(text, ['row.name', 'row.target_addr', 'row.listen_port::text']);
  if (!/^\d{1,5}$/.test(text)) return texts;
  const port = containsPort(Number(text));
  return { sql: `${texts.sql} OR ${port.sql}`, parameters: { ...texts.parameters, ...port.parameters } };
}

function conditionsOf(query: TunnelQuery): Condition[] {
  const { q, client_id: clientId, status, run_status: runStatus, mode, listen_port: port } = query;
  return [
    ...(q === undefined ? [] : [search(q)]),
    ...(port === undefined ? [] : [containsPort(port)]),
    ...(clientId === undefined ? [] : [{ sql: 'row.client_id = :clientId', parameters: { clientId } }]),
    ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
    ...(runStatus === undefined ? [] : [{ sql: 'row.run_status = :runStatus', parameters: { runStatus } }]),
    ...(mode === undefined ? [] : [{ sql: 'row.mode = :mode', parameters: { mode } }]),
  ];
}
