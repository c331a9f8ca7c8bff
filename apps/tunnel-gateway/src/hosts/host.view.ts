import type { HostTargetView, HostView } from '@gatehouse/contracts';
import { targetName, type CheckedTarget } from '@gatehouse/tunnel-kernel';
import type { Placed } from '../edge-host/fleet.service.js';
import { flag, instant } from '../wire/view-parts.js';
import type { Host, HostOptions } from '../data/host.entity.js';

export interface HostFacts {
  options: HostOptions | undefined;
  /** It has an uploaded or ordered certificate. */
  certified: boolean;
  /** What checks found out, at each edge. */
  targets: Placed<CheckedTarget>[];
}

/** Paths of certificate files are not shown. */
export function toHostView(host: Host, { options, certified, targets }: HostFacts): HostView {
  return {
    id: host.id,
    client_id: host.clientId,
    host: host.host,
    location: host.location ?? '/',
    strict_path: options?.strictPath ?? false,
    rewrite_path: options?.rewritePath ?? null,
    sticky: options?.sticky ?? false,
    max_body_bytes: options?.maxBodyBytes ?? 0,
    error_page: options?.errorPage ?? null,
    scheme: host.scheme ?? 'all',
    target_addr: host.targetAddr,
    has_cert: certified || (host.certPath !== null && host.keyPath !== null),
    auto_https: flag(host.autoHttps),
    status: flag(host.status),
    rewrite_host: options?.rewriteHost ?? null,
    request_headers: options?.requestHeaders ?? {},
    response_headers: options?.responseHeaders ?? {},
    compress: options?.compress ?? false,
    redirect: options?.redirect ?? null,
    health_check: options?.healthCheck ?? null,
    targets: options?.healthCheck ? targets.map(toTarget) : [],
    record_requests: options?.recordRequests ?? 'off',
    inlet_flow: host.inletFlow ?? 0,
    export_flow: host.exportFlow ?? 0,
    created_at: instant(host.createdAt),
    updated_at: instant(host.updatedAt),
  };
}

function toTarget({ target, state, reason, status, since, checkedAt, edge }: Placed<CheckedTarget>): HostTargetView {
  return {
    target: targetName(target),
    state,
    reason: reason as HostTargetView['reason'],
    status,
    since: time(since),
    checked_at: time(checkedAt),
    edge,
  };
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
