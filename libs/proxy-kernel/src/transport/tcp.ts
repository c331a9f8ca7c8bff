import { Socket, isIP, isIPv6 } from 'node:net';
import { DialedSocket, guardFlow, guardPromise, setFlowTimeout } from '@gatehouse/net';
import { DialError, type DialContext, type Resolver } from '../interfaces/index.js';
import { isUnspecified } from './normal-host.js';
import { abortError, toDialError } from './dial-error.js';

/** RFC 8305 section 5: after this time the next address is tried in parallel. */
const ATTEMPT_DELAY_MS = 250;
const KEEP_ALIVE_MS = 30_000;
/** The most addresses of a name that are tried. */
const MAX_ADDRESSES = 8;

export interface TcpDial extends DialContext {
  host: string;
  port: number;
  /** Known addresses of `host`. */
  ips?: readonly string[] | undefined;
  resolver: Resolver;
  /** Called before a connection is made. */
  permit?: ((addresses: readonly string[]) => Promise<void> | void) | undefined;
  /** Return a plain `net.Socket`, which `tls.connect` can build on. */
  plain?: boolean;
}

/**
 * Connects to the first of the host's addresses that answers (happy eyeballs, RFC 8305). The socket is paused and
 * half-open, and has an error listener.
 * @throws DialError stage `dns` or `dial`; the signal's reason when it is aborted.
 */
export async function dialTcp(dial: TcpDial): Promise<Socket> {
  // Flows to an address wait for nothing before they connect, unless a check needs the resolver.
  const addresses = isIP(dial.host) ? [dial.host] : await addressesOf(dial);
  const permitting = dial.permit?.(addresses);
  if (permitting) await permitting;
  if (dial.signal.aborted) throw abortError(dial.signal);
  const [first] = addresses;
  if (first === undefined) throw new DialError('dns', 'dns_error', `${dial.host} has no address`);
  const socket = await (addresses.length === 1 ? connectOne(first, dial) : race(addresses, dial));
  dial.onStage?.('connect');
  return socket;
}

/** The first address of a host. @throws DialError stage `dns`. */
export async function resolveFirst(host: string, resolver: Resolver, context: DialContext): Promise<string> {
  const [first] = await addressesOf({ host, resolver, ...context });
  if (first === undefined) throw new DialError('dns', 'dns_error', `${host} has no address`);
  return first;
}

type Lookup = Pick<TcpDial, 'host' | 'ips' | 'resolver' | 'signal' | 'onStage'>;

async function addressesOf({ host, ips, resolver, signal, onStage }: Lookup): Promise<string[]> {
  if (isIP(host)) return [host];
  try {
    const addresses = ips?.length ? ips : await resolver.resolve(host, signal);
    onStage?.('dns');
    return interleave(addresses.filter((address) => !isUnspecified(address))).slice(0, MAX_ADDRESSES);
  } catch (error) {
    throw toDialError(error, 'dns');
  }
}

/** Alternates IPv6 and IPv4, beginning with the family that the resolver put first. */
function interleave(addresses: readonly string[]): string[] {
  const firstIsV6 = isIPv6(addresses[0] ?? '');
  const first = addresses.filter((address) => isIPv6(address) === firstIsV6);
  const second = addresses.filter((address) => isIPv6(address) !== firstIsV6);
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length));
}

function connectOne(ip: string, { port, signal, plain }: TcpDial): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = plain ? guardFlow(new Socket({ allowHalfOpen: true })) : new DialedSocket();
    socket.pause();
    const onAbort = (): void => void socket.destroy(abortError(signal));
    // Never removed: a late error needs a listener, even if the socket has another owner by then.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(toDialError(error, 'dial'));
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (socket instanceof DialedSocket) socket.connectTo(ip, port);
    else socket.connect({ host: ip, port });
  });
}

async function race(addresses: readonly string[], dial: TcpDial): Promise<Socket> {
  const losers = new AbortController();
  const signal = AbortSignal.any([dial.signal, losers.signal]);
  let firstError: unknown;
  const pending = new Set<Promise<Socket | null>>();
  try {
    for (const address of addresses) {
      const attempt = connectOne(address, { ...dial, signal }).catch((error: unknown) => {
        firstError ??= error;
        return null;
      });
      pending.add(attempt);
      guardPromise(
        null,
        attempt.then(() => pending.delete(attempt)),
      );
      const winner = await Promise.race([attempt, ...pending, pause(ATTEMPT_DELAY_MS)]);
      if (winner) return winner;
    }
    while (pending.size > 0) {
      const winner = await Promise.race(pending);
      if (winner) return winner;
    }
    throw dial.signal.aborted ? abortError(dial.signal) : toDialError(firstError, 'dial');
  } finally {
    closeLosers(pending, losers);
  }
}

function pause(ms: number): Promise<null> {
  return new Promise((resolve) => setFlowTimeout(null, () => resolve(null), ms));
}

function closeLosers(pending: Set<Promise<Socket | null>>, losers: AbortController): void {
  losers.abort(new DialError('dial', 'other', 'another address answered first'));
  // One that connected in the same turn as the winner can no longer be aborted.
  for (const attempt of pending)
    guardPromise(
      null,
      attempt.then((socket) => socket?.destroy()),
    );
}
