import * as dgram from 'node:dgram';
import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { guardDatagrams, guardExchange, guardFlow, guardServer, guardSession } from './flow-boundary.js';

/**
 * Node's functions that create servers, sockets, sessions and requests, wrapped in the boundary of their flows. Data planes
 * must use these instead of Node's; an architecture test checks it.
 */

/** Wraps `make` so that what it creates is guarded. */
function within<F extends (...values: never[]) => unknown>(guard: (made: never) => unknown, make: F): F {
  return ((...values: never[]) => guard(make(...values) as never)) as unknown as F;
}

export const createTcpServer = within(guardServer, net.createServer);
export const connectTcp = within(guardFlow, net.connect);
export const createTlsServer = within(guardServer, tls.createServer);
export const connectTls = within(guardFlow, tls.connect);
export const createHttpServer = within(guardServer, http.createServer);
export const createHttpsServer = within(guardServer, https.createServer);
export const requestHttp = within(guardExchange, http.request);
export const requestHttps = within(guardExchange, https.request);
export const createHttp2Server = within(guardHttp2Server, http2.createServer);
export const createHttp2SecureServer = within(guardHttp2Server, http2.createSecureServer);
export const connectHttp2 = within(guardSession, http2.connect);
export const createUdpSocket = within(guardDatagrams, dgram.createSocket);

/** A stream is announced by an event of the server and by one of its session. */
function guardHttp2Server<T extends http2.Http2Server | http2.Http2SecureServer>(server: T): T {
  server.prependListener('session', (session: http2.ServerHttp2Session) => guardSession(session));
  guardServer(server);
  return server;
}
