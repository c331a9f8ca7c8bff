import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { TLSSocket } from 'node:tls';

export interface HostPorts {
  http: number;
  https: number;
}

export interface HostVisit {
  scheme: 'http' | 'https';
  name: string;
  ports: HostPorts;
  /** The certificate that is believed, PEM. */
  authority: string;
  path: string;
}

export interface HostAnswer {
  status: number;
  text: string;
  /** What it came through, for people. */
  protocol: string;
}

/** A request to a name that no resolver knows, at the gateway's own address. */
export function visitHost({ scheme, name, ports, authority, path }: HostVisit): Promise<HostAnswer> {
  const options = { host: '127.0.0.1', port: ports[scheme], path, headers: { host: name }, agent: false as const };
  const timeout = { signal: AbortSignal.timeout(30_000) };
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage): void => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), protocol: named(response) }),
      );
    };
    const request =
      scheme === 'http'
        ? requestHttp({ ...options, ...timeout }, read)
        : requestHttps({ ...options, ...timeout, servername: name, ca: authority }, read);
    request.on('error', reject).end();
  });
}

function named({ socket, httpVersion }: IncomingMessage): string {
  const tls = 'getProtocol' in socket ? ` over ${(socket as TLSSocket).getProtocol() ?? 'TLS'}` : '';
  return `HTTP/${httpVersion}${tls}`;
}
