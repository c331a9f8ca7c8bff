import type { NodeTls, OtherNode } from '@gatehouse/contracts';
import type { PoolOptions } from './session-pool.js';

const DEFAULT_IDLE_SECONDS = 30;
const MAX_IDLE_SECONDS = 3600;

/** What a node says by Clash's option names. */
export function anytlsOptions({ options }: OtherNode): { tls: NodeTls; pool: PoolOptions } {
  const [sni, fingerprint, alpn] = [text(options['sni']), text(options['fingerprint']), options['alpn']];
  const names = Array.isArray(alpn) ? alpn.filter((name) => typeof name === 'string' && name !== '') : [];
  const tls: NodeTls = {
    skipCertVerify: options['skip-cert-verify'] === true,
    ...(sni === undefined ? {} : { sni }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(names.length > 0 ? { alpn: names as string[] } : {}),
  };
  const idleSeconds = bounded(options['idle-session-timeout'], DEFAULT_IDLE_SECONDS, MAX_IDLE_SECONDS);
  const pool = {
    password: text(options['password']) ?? '',
    idleMs: idleSeconds * 1000,
  };
  return { tls, pool };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function bounded(value: unknown, otherwise: number, most: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? Math.min(number, most) : otherwise;
}
