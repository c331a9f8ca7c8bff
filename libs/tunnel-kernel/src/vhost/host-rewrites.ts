import type { HostConfig } from '../config.js';

/** Fields for framing and routing, which hosts must not rewrite. */
const RESERVED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** How a host rewrites the fields of requests or answers. */
export interface FieldRewrite {
  /** Fields that are set or removed, in lower case. */
  names: ReadonlySet<string>;
  /** Name, value, name, value … */
  set: readonly string[];
}

export interface HostRewrites {
  /** Null: the visitor's own. */
  host: string | null;
  request: FieldRewrite;
  response: FieldRewrite;
}

const prepared = new WeakMap<HostConfig, HostRewrites>();

/** Computed once for each host of a configuration. */
export function rewritesOf(host: HostConfig): HostRewrites {
  const known = prepared.get(host);
  if (known) return known;
  const rewrites = {
    host: host.rewriteHost ?? valueOf(host.requestHeaders, 'host'),
    request: fieldRewrite(host.requestHeaders),
    response: fieldRewrite(host.responseHeaders),
  };
  prepared.set(host, rewrites);
  return rewrites;
}

function valueOf(headers: Record<string, string>, wanted: string): string | null {
  return Object.entries(headers).find(([name, value]) => name.toLowerCase() === wanted && value !== '')?.[1] ?? null;
}

function fieldRewrite(headers: Record<string, string>): FieldRewrite {
  const entries = Object.entries(headers).filter(([name]) => !RESERVED.has(name.toLowerCase()));
  return {
    names: new Set(entries.map(([name]) => name.toLowerCase())),
    set: entries.filter(([, value]) => value !== '').flat(),
  };
}
