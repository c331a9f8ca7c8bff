import type { GatewayAnswer } from '../access/visitor-verifier.js';
import type { HostConfig, HostRedirect } from '../config.js';
import { rewritesOf } from './host-rewrites.js';

export interface RedirectedRequest {
  scheme: 'http' | 'https';
  /** The visitor's `Host`, with its port. */
  authority: string;
  /** Path and query, as a target would get them. */
  path: string;
}

/** Sends the visitor to where the host leads. */
export function hostRedirectAnswer(
  host: HostConfig,
  redirect: HostRedirect,
  request: RedirectedRequest,
): GatewayAnswer {
  const { set } = rewritesOf(host).response;
  const fields = pairsOf(set).filter(([name]) => name.toLowerCase() !== 'location');
  return {
    status: redirect.status,
    headers: [['location', locationFor(redirect, request)], ['content-length', '0'], ...fields],
    body: '',
  };
}

function locationFor({ to, keepPath }: HostRedirect, { scheme, authority, path }: RedirectedRequest): string {
  const isUrl = to.includes('://');
  const base = isUrl ? to : `${scheme}://${to}${/:\d+$/.exec(authority)?.[0] ?? ''}/`;
  // A slash at the end of one is the one at the beginning of the other.
  return keepPath ? `${base.replace(/\/$/, '')}${path}` : base;
}

function pairsOf(fields: readonly string[]): [string, string][] {
  return fields.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []));
}
