import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { TunnelServerConfig } from '../config.js';
import type { ResourceRef } from '../resource.js';
import type { Endpoint } from '../base/endpoint.js';

/** An answer of the gateway itself. */
export interface GatewayAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer | string;
}

/** A visitor's request to a host or a proxy, as needed for verification. */
export interface VisitorRequest {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  /** The visitor's scheme, as named by trusted proxies. */
  scheme: 'http' | 'https';
  method: string;
  host: string;
  /** As received, with the query. */
  target: string;
  headers: IncomingHttpHeaders;
  /** @throws TunnelError `overloaded` for a body over `maxBytes`. */
  readBody(maxBytes: number): Promise<Buffer>;
}

export type Verdict =
  | {
      allowed: true;
      /** Fields of the request that the target must not see, lower case. */
      dropHeaders: readonly string[];
      /** Set on the request to the target. */
      requestHeaders: readonly [name: string, value: string][];
      /** Added to the answer to the visitor. */
      responseHeaders: readonly [name: string, value: string][];
    }
  | { allowed: false; answer: GatewayAnswer };

/** A visitor of a raw tunnel whose bytes have not been read. */
export interface SocketVisitor {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  socket: Socket;
}

/** Verifies the identity of visitors. Answers synchronously where it can. */
export interface VisitorVerifier {
  /** Visitors of raw tunnels, by their address. */
  allows(resource: ResourceRef, clientId: number, visitor: Endpoint): boolean | Promise<boolean>;
  /** Visitors of hosts, and of proxy modes with their `proxy-authorization`. */
  verify(request: VisitorRequest): Verdict | Promise<Verdict>;
  /** Whether user name and password are right for a proxy mode (RFC 1929); also called without policies. */
  checkPassword(
    resource: ResourceRef,
    clientId: number,
    user: string,
    password: string,
    visitor: Endpoint,
  ): boolean | Promise<boolean>;
  /** Whether visitors of the resource must be verified at all. */
  guards(resource: ResourceRef, clientId: number): boolean;
  /**
   * Offers a visitor that `allows` refused a login on its connection, which then belongs to the verifier. False: there
   * is none.
   */
  greet?(visitor: SocketVisitor): boolean;
  /**
   * Applies a configuration. Returns the keys of resources where earlier proofs are no longer valid: their visitors
   * must be verified again.
   */
  apply?(config: TunnelServerConfig): ReadonlySet<string>;
  /** Releases its resources. */
  stop?(): void;
}
