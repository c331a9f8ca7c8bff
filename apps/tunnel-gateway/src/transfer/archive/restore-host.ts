import type { Host } from '../../data/host.entity.js';
import type { NewHostBody } from '../../hosts/host.dto.js';
import { readHealthCheck, readTargetPath, requirePassable } from '../../hosts/host-checks.js';
import { claimPlace } from '../../hosts/host-places.js';
import { readRedirect } from '../../hosts/read-redirect.js';
import { readField } from '../../wire/field-error.js';
import { parseHostPattern, parseLocation } from '../../wire/host-pattern.js';
import type { CheckedRow } from './archive-reader.js';
import { idOf, referred, type RestoreContext } from './restore-context.js';

/** The row of an archive's host; its place is reserved. `path`: where the host is in the archive. */
export async function hostOf(
  { id, body, createdAt, updatedAt }: CheckedRow<NewHostBody>,
  path: string,
  context: RestoreContext,
) {
  const name = readField(`${path}.host`, () => parseHostPattern(body.host));
  const location = readField(`${path}.location`, () => parseLocation(body.location ?? '/'));
  const scheme = body.scheme ?? 'all';
  const { target_addr: targetAddr, cert_path: certPath = null, auto_https: autoHttps = 0 } = body;
  requirePassable({ targetAddr, location, scheme, autoHttps, certPath }, `${path}.`);
  await claimPlace({ host: name, location, scheme, id: null, ownerId: null, isOwned: false }, context.tx);
  return {
    id: idOf(context, 'host', id),
    clientId: referred(context, 'client', body.client_id, `${path}.client_id`),
    host: name,
    location,
    scheme,
    targetAddr,
    certPath,
    keyPath: body.key_path ?? null,
    autoHttps,
    status: body.status ?? 1,
    createdAt,
    updatedAt,
  };
}

/** What the host has besides its row. */
export function hostOptionsOf(
  body: NewHostBody,
  restored: Pick<Host, 'id' | 'host' | 'location' | 'scheme' | 'targetAddr'>,
  path: string,
): object {
  return {
    hostId: restored.id,
    strictPath: body.strict_path ?? false,
    rewriteHost: body.rewrite_host ?? null,
    rewritePath: readTargetPath(body.rewrite_path ?? null, `${path}.`),
    sticky: body.sticky ?? false,
    maxBodyBytes: body.max_body_bytes ?? 0,
    errorPage: body.error_page ?? null,
    compress: body.compress ?? false,
    redirect: readRedirect(body.redirect ?? null, restored, `${path}.`),
    healthCheck: readHealthCheck(body.health_check ?? null, body.target_addr, `${path}.`),
    requestHeaders: body.request_headers ?? {},
    responseHeaders: body.response_headers ?? {},
    recordRequests: body.record_requests ?? 'off',
  };
}
