import type { HostView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import type { Host, HostOptions } from '../data/host.entity.js';

/** Paths of certificate files are not shown. `certified`: it has an uploaded or ordered certificate. */
export function toHostView(host: Host, options: HostOptions | undefined, certified: boolean): HostView {
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
    record_requests: options?.recordRequests ?? 'off',
    inlet_flow: host.inletFlow ?? 0,
    export_flow: host.exportFlow ?? 0,
    created_at: instant(host.createdAt),
    updated_at: instant(host.updatedAt),
  };
}
