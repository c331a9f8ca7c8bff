import type { TrustedProxies } from '../access/trusted-proxies.js';
import type { VisitorScheme } from './host-router.js';
import type { RequestHead } from './request-rules.js';
import type { Endpoint } from '../base/endpoint.js';

/** The real origin of a request, as far as those who forwarded it are trusted. */
export interface VisitorOrigin {
  visitor: Endpoint;
  scheme: VisitorScheme;
  /** Fields for the target: name, value, name, value … */
  forwarded: string[];
}

/** The connection that carried a request. */
export interface Arrival {
  /** The machine at the other end. */
  peer: Endpoint;
  /** The address that it connected to. */
  entrance: Endpoint;
  secure: boolean;
  /** Whether the peer is a trusted proxy. */
  trusted: boolean;
}

/** Forwarding fields that visitors sent have been removed by now; a trusted proxy's are extended here. */
export function originOf(head: RequestHead, arrival: Arrival, proxies: TrustedProxies): VisitorOrigin {
  const { peer, entrance, secure, trusted } = arrival;
  const scheme = secure ? 'https' : 'http';
  if (!trusted) {
    return {
      visitor: peer,
      scheme,
      forwarded: forwardedFields(peer.address, peer.address, scheme, head.authority, String(entrance.port)),
    };
  }
  const { forwardedFor, forwardedProto, forwardedHost, forwardedPort } = head.fields;
  const said = forwardedFor === null ? null : proxies.visitorIn(forwardedFor);
  const visitor = said === null ? peer : { address: said, port: 0 };
  const saidScheme = forwardedProto === 'https' || forwardedProto === 'http' ? forwardedProto : scheme;
  const list = said === null ? peer.address : `${forwardedFor}, ${peer.address}`;
  const port = forwardedPort !== null && /^\d{1,5}$/.test(forwardedPort) ? forwardedPort : String(entrance.port);
  const host = forwardedHost !== null && /^[\x21-\x7e]{1,300}$/.test(forwardedHost) ? forwardedHost : head.authority;
  return { visitor, scheme: saidScheme, forwarded: forwardedFields(list, visitor.address, saidScheme, host, port) };
}

function forwardedFields(list: string, visitor: string, scheme: string, host: string, port: string): string[] {
  return [
    'X-Forwarded-For',
    list,
    'X-Real-IP',
    visitor,
    'X-Forwarded-Proto',
    scheme,
    'X-Forwarded-Host',
    host,
    'X-Forwarded-Port',
    port,
  ];
}
