import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteReaderError, connectTls, setFlowTimeout } from '@gatehouse/net';
import { systemDialer, TunnelError, type AgentDialer, type HostAndPort } from '@gatehouse/tunnel-kernel';
import { nameOfProxy, type ProxyAddress, type ProxyChoice } from './proxy-address.js';
import { ProxyRefusal, shakeHands } from './proxy-handshake.js';

/** Shorter than the agent waits for its gateway, so that the reason names the proxy. */
const PROXY_MS = 8_000;

/** Reaches the gateway through the proxy that is chosen for its address. Targets are reached directly. */
export function proxiedDialer(choose: ProxyChoice): AgentDialer {
  return {
    server: (address, timeoutMs) => {
      const proxy = choose(address);
      return proxy ? dialThrough(proxy, address, timeoutMs) : systemDialer.server(address, timeoutMs);
    },
    target: (...values) => systemDialer.target(...values),
  };
}

/** @throws TunnelError `connection` that names the proxy, without its password. */
async function dialThrough(proxy: ProxyAddress, target: HostAndPort, most: number): Promise<Socket> {
  const timeoutMs = Math.min(most, PROXY_MS);
  const name = `the proxy ${nameOfProxy(proxy)}`;
  const endsAt = performance.now() + timeoutMs;
  let stream: Socket;
  try {
    stream = await systemDialer.server(proxy, timeoutMs);
  } catch (error) {
    throw new TunnelError('connection', `${name} was not reached: ${messageOf(error)}`, { cause: error });
  }
  let isLate = false;
  const late = (): void => {
    isLate = true;
    stream.destroy();
  };
  const timer = setFlowTimeout(null, late, Math.max(0, endsAt - performance.now()));
  try {
    if (proxy.kind === 'https') stream = await secured(stream, proxy.host);
    await shakeHands(stream, proxy, target);
    return stream;
  } catch (error) {
    stream.destroy();
    const reason = isLate ? `did not answer within ${timeoutMs} ms` : reasonOf(error);
    throw new TunnelError('connection', `${name} ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** To be read after the proxy's name. */
function reasonOf(error: unknown): string {
  if (error instanceof ProxyRefusal) return error.message;
  if (error instanceof ByteReaderError && error.code === 'ended') return 'closed the connection';
  return `failed: ${messageOf(error)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** TLS to the proxy itself, whose certificate is verified. */
function secured(socket: Socket, host: string): Promise<TLSSocket> {
  const stream = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
  return new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.once('close', () => reject(new ProxyRefusal('closed the connection')));
    stream.once('secureConnect', () => resolve(stream));
  });
}
