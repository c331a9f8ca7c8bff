import { keepAnswer, type Actor } from '@gatehouse/auth';
import type { HostPage, HostView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { withCertificates } from '../data/with-certificates.js';
import { lockNames } from '../domains/lock-names.js';
import { Fleet } from '../edge-host/fleet.service.js';
import { NameOwners } from '../domains/name-owners.js';
import { readCertificatePair } from '../common/certificate-files.js';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { readOptions, writeOptions } from '../data/row-options.js';
import { TunnelGatewaySettings } from '../settings.js';
import { fieldError, readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { covers, parseHostPattern, parseLocation } from '../wire/host-pattern.js';
import { HostHistory } from './host-history.js';
import { claimPlace } from './host-places.js';
import { HOST_SORTS, type HostChanges, type HostQuery, type NewHostBody } from './host.dto.js';
import { HostOptions, type Host } from '../data/host.entity.js';
import { toHostView } from './host.view.js';
import { readHealthCheck, readTargetPath, requirePassable } from './host-checks.js';

/** Hosts: domains that lead to a client's targets. */
@Injectable()
export class HostsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly settings: TunnelGatewaySettings,
    private readonly history: HostHistory,
    private readonly names: NameOwners,
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
    const columns = await this.columnsOf(body, null, actor, tx);
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
      const changed = await hosts.change(id, await this.columnsOf(body, await hosts.lock(id, expected), actor, tx));
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

  /** The columns that the body sets, validated together with the unchanged ones. */
  private async columnsOf(
    body: HostChanges,
    before: Host | null,
    actor: Actor,
    tx: EntityManager,
  ): Promise<Partial<Host>> {
    const { target_addr: target, auto_https: autoHttps, status } = body;
    const place = readPlace(body, before, actor);
    const certificate = this.certificateOf(body, before, actor);
    const changed = { ...place, autoHttps: autoHttps ?? before?.autoHttps ?? 0, certPath: certificate.certPath };
    requirePassable({ ...changed, targetAddr: target ?? before?.targetAddr ?? '' });
    const wantsAcme = (autoHttps ?? before?.autoHttps) === 1 && !certificate.certPath;
    if (wantsAcme && place.host.includes('*')) {
      throw fieldError('auto_https', 'a certificate for * or *.name takes files: cert_path and key_path');
    }
    const ownerId = place.host === before?.host || isAdministrator(actor) ? null : (actor.userId ?? 0);
    if (ownerId !== null && covers(place.host, new URL(this.settings.publicUrl).hostname)) {
      throw new AppError('FORBIDDEN', 'host: browsers would send the cookies of the console there');
    }
    const isOwned = await this.ownsName(place.host, ownerId, actor, tx);
    await claimPlace({ ...place, id: before?.id ?? null, ownerId, isOwned }, tx);
    return {
      ...place,
      ...certificate,
      ...(target !== undefined && { targetAddr: target.trim() }),
      ...(autoHttps !== undefined && { autoHttps }),
      ...(status !== undefined && { status }),
    };
  }

  /** Names belong to users; administrators may use all of them. @throws AppError FORBIDDEN, HOST_CONFLICT */
  private async ownsName(host: string, ownerId: number | null, actor: Actor, tx: EntityManager): Promise<boolean> {
    if (ownerId === null || actor.role === 'admin') return false;
    await lockNames(tx);
    return this.names.require(host, ownerId, tx);
  }

  private certificateOf(body: HostChanges, before: Host | null, actor: Actor): Pick<Host, 'certPath' | 'keyPath'> {
    const certPath = body.cert_path === undefined ? (before?.certPath ?? null) : body.cert_path;
    const keyPath = body.key_path === undefined ? (before?.keyPath ?? null) : body.key_path;
    if ((certPath === null) !== (keyPath === null)) {
      throw fieldError(certPath === null ? 'cert_path' : 'key_path', 'cert_path and key_path go together');
    }
    if (certPath === null || keyPath === null) return { certPath: null, keyPath: null };
    if (certPath !== before?.certPath || keyPath !== before.keyPath) {
      if (!isAdministrator(actor)) throw new AppError('FORBIDDEN', 'cert_path: only administrators can set files');
      readField('cert_path', () => readCertificatePair(this.settings.certificateFolder, { certPath, keyPath }));
    }
    return { certPath, keyPath };
  }

  private async saveOptions({ id: hostId, targetAddr }: Host, body: HostChanges, tx: EntityManager): Promise<void> {
    if (body.target_addr !== undefined && body.health_check === undefined) {
      const kept = (await readOptions(tx, HostOptions, 'hostId', [hostId])).get(hostId)?.healthCheck;
      readHealthCheck(kept, targetAddr);
    }
    await writeOptions(tx, HostOptions, 'hostId', hostId, {
      strictPath: body.strict_path,
      rewriteHost: body.rewrite_host,
      rewritePath: readTargetPath(body.rewrite_path),
      sticky: body.sticky,
      maxBodyBytes: body.max_body_bytes,
      errorPage: body.error_page,
      requestHeaders: body.request_headers,
      responseHeaders: body.response_headers,
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

function readPlace(
  body: HostChanges,
  before: Host | null,
  actor: Actor,
): { host: string; location: string; scheme: NonNullable<Host['scheme']> } {
  const host =
    body.host === undefined ? (before?.host ?? '') : readField('host', () => parseHostPattern(body.host ?? ''));
  if (host === '*' && before?.host !== '*' && !isAdministrator(actor)) {
    throw new AppError('FORBIDDEN', 'host: only administrators can serve every name');
  }
  const location = readField('location', () => parseLocation(body.location ?? before?.location ?? '/'));
  return { host, location, scheme: body.scheme ?? before?.scheme ?? 'all' };
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
