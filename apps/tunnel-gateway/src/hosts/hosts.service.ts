import { keepAnswer, type Actor } from '@gatehouse/auth';
import type { HostPage, HostView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { withCertificates } from '../data/with-certificates.js';
import { Fleet } from '../edge-host/fleet.service.js';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { readOptions, writeOptions } from '../data/row-options.js';
import { readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { parseHostPattern } from '../wire/host-pattern.js';
import { HostColumns } from './host-columns.js';
import { HostHistory } from './host-history.js';
import { HOST_SORTS, type HostChanges, type HostQuery, type NewHostBody } from './host.dto.js';
import { HostOptions, type Host } from '../data/host.entity.js';
import { toHostView } from './host.view.js';
import { readRedirect } from './read-redirect.js';
import { readHealthCheck, readTargetPath } from './host-checks.js';

/** Hosts: domains that lead to a client's targets. */
@Injectable()
export class HostsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly columns: HostColumns,
    private readonly history: HostHistory,
    private readonly fleet: Fleet,
  ) {}

  async list(query: HostQuery, actor: Actor): Promise<HostPage> {
    const { items, next_cursor } = await this.owned.hosts(actor).page(query, conditionsOf(query), HOST_SORTS);
    return { items: await this.views(items), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<HostView> {
    return this.view(await this.owned.hosts(actor).one(id));
  }

  async create(body: NewHostBody, actor: Actor): Promise<HostView> {
    return this.unitOfWork.run(async (tx) => keepAnswer(tx, await this.view(await this.add(body, actor, tx), tx)));
  }

  /** Part of a larger change. */
  async add(body: NewHostBody, actor: Actor, tx: EntityManager): Promise<Host> {
    const client = await this.owned.clients(actor, tx).lock(body.client_id);
    const columns = await this.columns.of(body, null, actor, tx);
    const added = await this.owned.hosts(actor, tx).add({ ...columns, clientId: client.id });
    await this.saveOptions(added, body, tx);
    await this.history.record('added', added, actor, tx);
    return added;
  }

  async update(
    id: number,
    body: HostChanges,
    actor: Actor,
    expected: ExpectedVersion | null = null,
  ): Promise<HostView> {
    const host = await this.unitOfWork.run(async (tx) => {
      const hosts = this.owned.hosts(actor, tx);
      const changed = await hosts.change(id, await this.columns.of(body, await hosts.lock(id, expected), actor, tx));
      await this.saveOptions(changed, body, tx);
      await this.history.record('changed', changed, actor, tx);
      return changed;
    });
    return this.view(host);
  }

  async remove(id: number, actor: Actor, expected: ExpectedVersion | null = null): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const removed = await this.owned.hosts(actor, tx).remove(id, expected);
      await this.history.record('removed', removed, actor, tx);
    });
  }

  private async saveOptions(host: Host, body: HostChanges, tx: EntityManager): Promise<void> {
    const { id: hostId, targetAddr } = host;
    // What stays has to fit what changes.
    const kept = (await readOptions(tx, HostOptions, 'hostId', [hostId])).get(hostId);
    if (body.health_check === undefined) readHealthCheck(kept?.healthCheck, targetAddr);
    if (body.redirect === undefined) readRedirect(kept?.redirect, host);
    await writeOptions(tx, HostOptions, 'hostId', hostId, {
      strictPath: body.strict_path,
      rewriteHost: body.rewrite_host,
      rewritePath: readTargetPath(body.rewrite_path),
      sticky: body.sticky,
      maxBodyBytes: body.max_body_bytes,
      errorPage: body.error_page,
      requestHeaders: body.request_headers,
      responseHeaders: body.response_headers,
      compress: body.compress,
      redirect: readRedirect(body.redirect, host),
      healthCheck: readHealthCheck(body.health_check, targetAddr),
      recordRequests: body.record_requests,
    });
  }

  private async view(host: Host, manager = this.owned.options): Promise<HostView> {
    const [view] = await this.views([host], manager);
    if (!view) throw new AppError('INTERNAL');
    return view;
  }

  private async views(hosts: readonly Host[], manager = this.owned.options): Promise<HostView[]> {
    const ids = hosts.map(({ id }) => id);
    const options = await readOptions(manager, HostOptions, 'hostId', ids);
    const certified = await withCertificates(manager, ids);
    const checked = ids.filter((id) => options.get(id)?.healthCheck);
    // Within a transaction the host has just been made: nothing was checked yet.
    const isNew = manager !== this.owned.options;
    const targets = await this.fleet.checkedTargets(isNew ? [] : checked);
    return hosts.map((host) =>
      toHostView(host, {
        options: options.get(host.id),
        certified: certified.has(host.id),
        targets: targets.get(host.id) ?? [],
      }),
    );
  }
}

function conditionsOf({ q, client_id: clientId, status, host }: HostQuery): Condition[] {
  return [
    ...(q === undefined ? [] : [containing(q, ['row.host', 'row.location', 'row.target_addr'])]),
    ...(clientId === undefined ? [] : [{ sql: 'row.client_id = :clientId', parameters: { clientId } }]),
    ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
    ...(host === undefined ? [] : [{ sql: 'row.host = :host', parameters: { host: readName(host) } }]),
  ];
}

function readName(text: string): string {
  return readField('host', () => parseHostPattern(text));
}
