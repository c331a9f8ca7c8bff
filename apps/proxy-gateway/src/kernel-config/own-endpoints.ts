import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '@gatehouse/proxy-kernel';
import { parseControlEndpoint } from '@gatehouse/net';
import { MetricsServer } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ProxyGatewaySettings } from '../settings.js';

const POSTGRES_PORT = 5432;
const REDIS_PORT = 6379;

/**
 * The addresses that the proxy must not lead to: this service, the platform's other services, the database and Redis.
 */
@Injectable()
export class OwnEndpoints {
  constructor(
    private readonly settings: ProxyGatewaySettings,
    private readonly adapterHost: HttpAdapterHost,
    private readonly metrics: MetricsServer,
  ) {}

  list(): Endpoint[] {
    const { databaseUrl, redisUrl, ownEndpoints, proxyClientsChannel = '' } = this.settings;
    const channel = parseControlEndpoint(proxyClientsChannel);
    const channelPort = channel !== null && 'port' in channel ? channel.port : 0;
    const ports = [this.servicePort(), this.metrics.port ?? 0, channelPort].filter((port) => port !== 0);
    return [
      ...ports.map((port) => ({ host: '*', port })),
      ...endpointsOf(databaseUrl, POSTGRES_PORT),
      ...(redisUrl === undefined ? [] : endpointsOf(redisUrl, REDIS_PORT)),
      ...ownEndpoints.map(parseEndpoint),
    ];
  }

  /** Calls back when the service listens: only then is a port known that the system chose. */
  onListening(listener: () => void): void {
    this.server()?.once('listening', listener);
  }

  private servicePort(): number {
    const bound = this.server()?.address() as AddressInfo | string | null | undefined;
    return typeof bound === 'object' && bound ? bound.port : this.settings.port;
  }

  /** Undefined in a worker. */
  private server(): Server | undefined {
    return this.adapterHost.httpAdapter?.getHttpServer() as Server | undefined;
  }
}

/** Parses `host:port`, or `:port` for every address of this machine. */
function parseEndpoint(text: string): Endpoint {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  return { host: host === '' ? '*' : host.toLowerCase(), port: Number(text.slice(colon + 1)) };
}

/**
 * The hosts and ports of a connection string. PostgreSQL's `?host=` takes precedence over the host in the authority and
 * may name several.
 */
export function endpointsOf(url: string, defaultPort: number): Endpoint[] {
  const parsed = URL.parse(url);
  if (!parsed) return [];
  const hosts = (parsed.searchParams.get('host') ?? parsed.hostname).split(',');
  const port = Number(parsed.searchParams.get('port') ?? (parsed.port === '' ? defaultPort : parsed.port));
  return hosts
    .map((host) =>
      decodeURIComponent(host)
        .replace(/^\[|\]$/g, '')
        .toLowerCase(),
    )
    .filter((host) => !host.startsWith('/'))
    .map((host) => ({ host: host === '' ? 'localhost' : host, port }));
}
