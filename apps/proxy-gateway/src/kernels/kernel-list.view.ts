import { hostname } from 'node:os';
import type { KernelView, UnreachableKernel } from '@gatehouse/contracts';
import { OWN_KERNEL } from '../kernel-process/kernel-launcher.js';
import type { KernelMember } from '../kernel-process/kernel-member.js';
import { SERVICE_VERSION } from '../service-version.js';
import type { KernelRow } from './kernel-leases.js';
import { stateOf, type SeenKernel } from './seen-kernel.js';

/** The id of a kernel in the API: `own` for the one that this service started, `own-2` and so on for further ones. */
export function idOf({ identity, member }: Pick<SeenKernel, 'identity' | 'member'>): string {
  return identity?.id ?? member.place;
}

/** A kernel that this service is connected to. @param row its lease, if it has one. */
export function toLiveView(seen: SeenKernel, row: KernelRow | undefined, revision: string | null): KernelView {
  const { member, identity, figures } = seen;
  const isOwn = member.identity === null;
  return {
    id: idOf(seen),
    name: isOwn ? ownName(member) : member.title,
    version: identity?.version ?? (isOwn ? SERVICE_VERSION : 'unknown'),
    state: figures ? stateOf(figures) : 'waiting',
    reachable: true,
    address: isOwn ? null : member.place,
    public_host: identity?.publicHost ?? null,
    listeners: figures?.listeners ?? [],
    generation: figures?.generation ?? 0,
    revision: figures?.revision ?? null,
    current: figures !== null && figures.revision !== null && figures.revision === revision,
    error: errorOf(member),
    connections: figures?.connections ?? 0,
    upload_speed: figures?.uploadSpeed ?? 0,
    download_speed: figures?.downloadSpeed ?? 0,
    memory_bytes: figures?.rssBytes ?? null,
    loop_delay_ms: figures?.loopDelayMs ?? null,
    started_at: identity ? new Date(identity.startedAt).toISOString() : null,
    lease_until: row?.lease_until.toISOString() ?? null,
  };
}

/** The machine, with the number of one of several kernels. */
function ownName({ place }: KernelMember): string {
  return place === OWN_KERNEL ? hostname() : `${hostname()}${place.slice(OWN_KERNEL.length)}`;
}

/** A kernel that only another service reaches, or none. */
export function toRowView(row: KernelRow, revision: string | null): KernelView {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    state: row.lost ? 'lost' : row.state,
    reachable: false,
    address: null,
    public_host: row.public_host,
    listeners: [],
    generation: row.generation,
    revision: row.revision,
    current: row.revision !== null && row.revision === revision,
    error: null,
    connections: row.lost ? 0 : row.connections,
    upload_speed: row.lost ? 0 : row.upload_speed,
    download_speed: row.lost ? 0 : row.download_speed,
    memory_bytes: null,
    loop_delay_ms: row.lost ? null : row.loop_delay_ms,
    started_at: row.started_at.toISOString(),
    lease_until: row.lease_until.toISOString(),
  };
}

export function toUnreachable({ place, lost }: KernelMember): UnreachableKernel {
  return { address: place, reason: lost ?? 'it has not answered yet' };
}

/** Errors of the database are not shown, since they may contain parts of a statement. */
function errorOf({ configurator: { failure } }: KernelMember): string | null {
  return failure instanceof Error && failure.name === 'KernelConfigError' ? failure.message : null;
}
