import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { readCertificatePair } from '../common/certificate-files.js';
import type { Host } from '../data/host.entity.js';
import { isAdministrator } from '../data/owned-rows.js';
import { lockNames } from '../domains/lock-names.js';
import { NameOwners } from '../domains/name-owners.js';
import { TunnelGatewaySettings } from '../settings.js';
import { fieldError, readField } from '../wire/field-error.js';
import { covers, parseHostPattern, parseLocation } from '../wire/host-pattern.js';
import { requirePassable } from './host-checks.js';
import { claimPlace } from './host-places.js';
import type { HostChanges } from './host.dto.js';

/** Validates what users write into the row of a host. */
@Injectable()
export class HostColumns {
  constructor(
    private readonly settings: TunnelGatewaySettings,
    private readonly names: NameOwners,
  ) {}

  /** The columns that the body sets, validated together with the unchanged ones. */
  async of(body: HostChanges, before: Host | null, actor: Actor, tx: EntityManager): Promise<Partial<Host>> {
    const { target_addr: target, auto_https: autoHttps, status } = body;
    const place = readPlace(body, before, actor);
    const certificate = this.certificateOf(body, before, actor);
    const changed = { ...place, autoHttps: autoHttps ?? before?.autoHttps ?? 0, certPath: certificate.certPath };
    requirePassable({ ...changed, targetAddr: target ?? before?.targetAddr ?? '' });
    const wantsAcme = (autoHttps ?? before?.autoHttps) === 1 && !certificate.certPath;
    if (wantsAcme && place.host.includes('*')) this.requireProvable(place.host);
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

  /** Only DNS can prove a wildcard, and nothing proves every name. */
  private requireProvable(host: string): void {
    if (host !== '*' && this.settings.acmeDnsProvider !== undefined) return;
    const message =
      host === '*'
        ? 'a certificate for * takes files: cert_path and key_path'
        : 'a certificate for *.name takes files (cert_path and key_path), or ACME_DNS_PROVIDER';
    throw fieldError('auto_https', message);
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
