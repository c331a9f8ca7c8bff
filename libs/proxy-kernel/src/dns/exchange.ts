/** Exchanges one DNS message for another over UDP or TCP. */
import { isIPv6 } from 'node:net';
import { connectTcp, createUdpSocket, setFlowTimeout } from '@gatehouse/net';
import { DnsMessageError } from './message.js';

/** Resolves to a reply that `accepts` approves. Rejects with the transport's error or the signal's reason. */
export type Exchange = (query: Buffer, accepts: Accepts, signal: AbortSignal) => Promise<Buffer>;
/** Whether a message answers the question, since anyone can send a datagram. */
export type Accepts = (reply: Buffer) => boolean;

const MAX_REPLY = 0xffff;

/** Uses a new socket for each question, so that each has a random port; repeats the question once if no reply comes. */
export function exchangeUdp(address: string, port: number, repeatMs: number): Exchange {
  return (query, accepts, signal) =>
    new Promise((resolve, reject) => {
      const socket = createUdpSocket(isIPv6(address) ? 'udp6' : 'udp4');
      const repeat = setFlowTimeout({ destroy: (error) => fail(error) }, send, repeatMs);
      let settled = false;
      const settle = (): void => {
        if (settled) return;
        settled = true;
        clearTimeout(repeat);
        signal.removeEventListener('abort', onAbort);
        socket.close();
      };
      const fail = (error: unknown): void => {
        settle();
        reject(error as Error);
      };
      const onAbort = (): void => fail(signal.reason);
      function send(): void {
        if (!settled) socket.send(query, (error) => error && fail(error));
      }
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      socket.on('error', fail);
      socket.once('connect', send);
      socket.on('message', (reply) => {
        if (settled || !accepts(reply)) return;
        settle();
        resolve(reply);
      });
      // Connected, so that the system drops datagrams from others and reports a closed port.
      socket.connect(port, address);
    });
}

/** A length before each message (RFC 1035 4.2.2), and one connection per question. */
export function exchangeTcp(address: string, port: number): Exchange {
  return (query, accepts, signal) =>
    new Promise((resolve, reject) => {
      const socket = connectTcp({ host: address, port, noDelay: true, signal });
      let received = Buffer.alloc(0);
      const fail = (error: Error): void => {
        socket.destroy();
        reject(signal.aborted ? (signal.reason as Error) : error);
      };
      socket.on('error', fail);
      socket.once('end', () => fail(new DnsMessageError('the connection ended before the reply')));
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const length = received.length < 2 ? MAX_REPLY : received.readUInt16BE(0);
        if (received.length < length + 2) return;
        const reply = received.subarray(2, length + 2);
        if (!accepts(reply)) return fail(new DnsMessageError('not a reply to the question'));
        socket.destroy();
        resolve(reply);
      });
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.length);
      socket.write(Buffer.concat([length, query]));
    });
}
