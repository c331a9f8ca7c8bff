import { passesTls } from '@gatehouse/tunnel-kernel';
import { parseHostTargets } from '../common/targets.js';
import { parseStatusRange } from '../common/status-range.js';
import type { Host, StoredHealthCheck } from '../data/host.entity.js';
import type { HealthCheckBody } from './health-check.dto.js';
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

/** With its defaults; `path` as above. @throws AppError VALIDATION_FAILED */
export function readHealthCheck<T extends null | undefined>(
  body: HealthCheckBody | T,
  targetAddr: string,
  path = '',
): StoredHealthCheck | T {
  if (body === null || body === undefined) return body as T;
  const field = `${path}health_check`;
  const passed = passesTls({ targets: readField(`${path}target_addr`, () => parseHostTargets(targetAddr)) });
  if (passed && body.type === 'http') throw fieldError(`${field}.type`, 'must be tcp for a tls:// target');
  const { expected_status: status = '200-399', interval_seconds: interval = 10 } = body;
  const { timeout_seconds: timeout = Math.min(5, interval) } = body;
  readField(`${field}.expected_status`, () => parseStatusRange(status));
  if (timeout > interval) throw fieldError(`${field}.timeout_seconds`, 'must be at most interval_seconds');
  return {
    type: body.type,
    path: body.path ?? '/',
    expected_status: status.trim(),
    interval_seconds: interval,
    timeout_seconds: timeout,
    healthy_threshold: body.healthy_threshold ?? 2,
    unhealthy_threshold: body.unhealthy_threshold ?? 3,
  };
}

/** The path that targets receive in place of the location; `path` as above. @throws AppError VALIDATION_FAILED */
export function readTargetPath<T extends string | null | undefined>(text: T, path = ''): T | string {
  return typeof text === 'string' ? readField(`${path}rewrite_path`, () => parseTargetPath(text)) : text;
}
