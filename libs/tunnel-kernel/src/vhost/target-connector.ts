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
  /** From the start of a channel until the target is reached, its TLS included, milliseconds. */
  connectMs: number;
  /** PEM texts of authorities that `https` targets are checked against; absent: those of Node. */
  authorities?: string[] | undefined;
}

/** A connection to a target is used by many visitors, one after the other. */
const NOBODY: Endpoint = { address: '0.0.0.0', port: 0 };

/**
 * A data channel to one target of a host, TLS in it where the target wants that. The agent's word that it reached the
 * target is waited for: it costs one round trip a connection, not one a request, and a request is sent to nobody.
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
  // Streams of `node:http2` and `node:tls` take over the handle of a socket; bytes that were put back would be passed over.
  const raw = target.scheme === 'http' && stream instanceof Socket ? stream : new ByteStreamDuplex(stream);
  const duplex = target.scheme === 'https' ? await secure(raw, host, target, options) : raw;
  guardFlow(duplex);
  distinguishAbortFromEnd(duplex);
  return duplex;
}

/** An answer that ends with its connection would look complete after a reset: undici takes ECONNRESET there for an end. */
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
      // Between now and the next owner's listener.
      stream.off('error', failed).on('error', () => undefined);
      resolve(stream);
    });
  });
}
