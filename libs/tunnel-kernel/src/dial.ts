import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { DialedSocket, setFlowTimeout } from '@gatehouse/net';
import type { AgentDialer, HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';

/** Time without traffic after which TCP keep-alive probes a connection. */
export const KEEP_ALIVE_MS = 15_000;

/** Connects directly; the operating system resolves names. */
export const systemDialer: AgentDialer = {
  server: (address, timeoutMs) => connectTcp(address, timeoutMs),
  target: (address, timeoutMs, permits) => {
    if (isIP(address.host) === 0) return connectTcp(address, timeoutMs, permittedLookup(permits));
    return permits(address.host) ? connectTcp(address, timeoutMs) : Promise.reject(forbidden(address.host));
  },
};

/** Resolves a name to those addresses that `permits` accepts. */
function permittedLookup(permits: (address: string) => boolean): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return done(error, '');
      const [first, ...others] = found.filter(({ address }) => permits(address));
      if (!first) return done(forbidden(name), '');
      if (options.all) done(null, [first, ...others]);
      else done(null, first.address, first.family);
    });
  };
}

function forbidden(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} may not be dialled`), { code: 'EACCES' });
}

function connectTcp({ host, port }: HostAndPort, timeoutMs: number, resolve?: LookupFunction): Promise<DialedSocket> {
  const socket = new DialedSocket();
  return new Promise((connected, reject) => {
    const timer = setFlowTimeout(
      socket,
      () => socket.destroy(new TunnelError('timeout', `no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    // Stays when the promise is settled: an error before the next owner adds its listener must not end the process.
    socket.on('error', reject);
    socket.on('close', () => clearTimeout(timer));
    socket.on('connect', () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      connected(socket);
    });
    socket.pause();
    socket.connect({ host, port, ...(resolve && { lookup: resolve }) });
  });
}
