import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { TunnelServerConfig } from '../config.js';
import type { ResourceRef } from '../resource.js';
import type { Endpoint } from '../base/endpoint.js';

/** An answer that the gateway gives itself. */
export interface GatewayAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer | string;
}

/** A request of a visitor to a host, or to a proxy, as far as it matters for who it is. */
export interface VisitorRequest {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  /** What the visitor uses, after trusted proxies were believed. */
  scheme: 'http' | 'https';
  method: string;
  host: string;
  /** As it came, with the query. */
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

/** A visitor of a raw tunnel, with nothing read of what it sent. */
export interface SocketVisitor {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  socket: Socket;
}

/** Finds out whether visitors are who they must be. Answers at once where it can. */
export interface VisitorVerifier {
  /** Visitors of raw tunnels, by their address. */
  allows(resource: ResourceRef, clientId: number, visitor: Endpoint): boolean | Promise<boolean>;
  /** Visitors of hosts; of proxy modes with what they say in `proxy-authorization`. */
  verify(request: VisitorRequest): Verdict | Promise<Verdict>;
  /** Whether user name and password are right for a proxy mode (RFC 1929); also for one without policies. */
  checkPassword(
    resource: ResourceRef,
    clientId: number,
    user: string,
    password: string,
    visitor: Endpoint,
  ): boolean | Promise<boolean>;
  /** Whether visitors of the resource must prove anything at all. */
  guards(resource: ResourceRef, clientId: number): boolean;
  /**
   * Offers one whom `allows` refused a way to prove itself on its connection, which belongs to the verifier then. False:
   * there is none.
   */
  greet?(visitor: SocketVisitor): boolean;
  /**
   * Takes a configuration. Answers the keys of the resources where what visitors proved before is no proof any more: those
   * who are in come in anew.
   */
  apply?(config: TunnelServerConfig): ReadonlySet<string>;
  /** Lets go of what it holds. */
  stop?(): void;
}
