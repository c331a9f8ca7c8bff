import type { Duplex } from 'node:stream';
import { isIP, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteStreamDuplex, connectTls, guardFlow, setFlowTimeout } from '@gatehouse/net';
import type { HostConfig, HostTarget } from '../config.js';
import { TargetError, TunnelError } from '../errors.js';
import type { ChannelSource } from '../session/channel-source.js';
import type { Endpoint } from '../base/endpoint.js';

export interface ConnectorOptions {
  channels: Pick<ChannelSource, 'reach'>;
  /** From the start of a channel until the target is reached, including its TLS, in milliseconds. */
  connectMs: number;
  /** PEM texts of authorities that `https` targets are verified against; absent: Node's. */
  authorities?: string[] | undefined;
}

/** A connection to a target is shared by many visitors, so no visitor is named. */
const NOBODY: Endpoint = { address: '0.0.0.0', port: 0 };

/**
 * Opens a data channel to one target of a host, with TLS inside if the target uses it. It waits for the agent to
 * confirm that it reached the target: that costs one round trip per connection, and no request is sent into the void.
 * @throws TunnelError as `ChannelSource.reach`.
 */
export async function connectTarget(host: HostConfig, index: number, options: ConnectorOptions): Promise<Duplex> {
  const target = host.targets[index];
  if (!target) throw new TargetError('unknown_tunnel');
  const start = {
    kind: 'host',
    id: host.id,
    target: index,
    destination: '',
    visitor: NOBODY,
    entrance: NOBODY,
  } as const;
  const stream = await options.channels.reach(host.clientId, start, options.connectMs);
  // `node:http2` and `node:tls` take over the handle of a socket, and would miss bytes that were put back.
  const raw = target.scheme === 'http' && stream instanceof Socket ? stream : new ByteStreamDuplex(stream);
  const duplex = target.scheme === 'https' ? await secure(raw, host, target, options) : raw;
  guardFlow(duplex);
  distinguishAbortFromEnd(duplex);
  return duplex;
}

/**
 * An answer that ends with its connection would look complete after a reset, because undici treats ECONNRESET there as
 * an end.
 */
function distinguishAbortFromEnd(duplex: Duplex): void {
  duplex.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'ERR_TARGET_RESET';
  });
}

function secure(raw: Duplex, host: HostConfig, target: HostTarget, options: ConnectorOptions): Promise<TLSSocket> {
  const name = host.rewriteHost?.replace(/:\d+$/, '') ?? target.host;
  return new Promise((resolve, reject) => {
    const stream = connectTls({
      socket: raw,
      ...(isIP(name) ? { host: name } : { servername: name }),
      rejectUnauthorized: !target.insecure,
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      ...(options.authorities ? { ca: options.authorities } : {}),
    });
    const timer = setFlowTimeout(stream, () => stream.destroy(new TargetError('timeout')), options.connectMs);
    const failed = (error: Error): void => {
      clearTimeout(timer);
      reject(
        error instanceof TargetError ? error : new TunnelError('target', 'no TLS with the target', { cause: error }),
      );
    };
    stream.once('error', failed);
    stream.once('close', () => failed(new Error('closed during the handshake')));
    stream.once('secureConnect', () => {
      clearTimeout(timer);
      // Covers the time until the next owner adds its listener.
      stream.off('error', failed).on('error', () => undefined);
      resolve(stream);
    });
  });
}
