import { passesTls } from '@gatehouse/tunnel-kernel';
import { parseHostTargets } from '../common/targets.js';
import type { Host } from '../data/host.entity.js';
import { fieldError, readField } from '../wire/field-error.js';
import { parseTargetPath } from '../wire/host-pattern.js';

/**
 * A host that passes TLS on (`tls://` targets) sees no request, so it must have nothing that needs one.
 *
 * @param path of the host's fields in a larger body, with its dot
 * @throws AppError VALIDATION_FAILED
 */
export function requirePassable(
  host: Pick<Host, 'targetAddr' | 'location' | 'scheme' | 'autoHttps' | 'certPath'>,
  path = '',
): void {
  const targets = readField(`${path}target_addr`, () => parseHostTargets(host.targetAddr));
  if (!passesTls({ targets })) return;
  if (host.scheme !== 'https') throw fieldError(`${path}scheme`, 'must be https for a tls:// target');
  if (host.location !== '/') throw fieldError(`${path}location`, 'must be / for a tls:// target');
  if (host.autoHttps === 1) {
    throw fieldError(`${path}auto_https`, 'must be 0 for a tls:// target, which has its own certificate');
  }
  if (host.certPath !== null) {
    throw fieldError(`${path}cert_path`, 'must be null for a tls:// target, which has its own certificate');
  }
}

/** The path that targets receive in place of the location; `path` as above. @throws AppError VALIDATION_FAILED */
export function readTargetPath<T extends string | null | undefined>(text: T, path = ''): T | string {
  return typeof text === 'string' ? readField(`${path}rewrite_path`, () => parseTargetPath(text)) : text;
}
