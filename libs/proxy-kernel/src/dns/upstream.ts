import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { type Exchange, exchangeTcp, exchangeUdp } from './exchange.js';
import { exchangeHttps } from './exchange-https.js';
import {
  type AddressType,
  type DnsReply,
  DnsMessageError,
  TYPE,
  addressesIn,
  decodeReply,
  encodeQuestion,
} from './message.js';
import type { NameServer } from './name-server.js';
import { type Answer, type NameQuery, isNoSuchName, querySystem } from './name-query.js';

const CODE_OK = 0;
const CODE_NO_SUCH_NAME = 3;

export interface UpstreamOptions {
  /** For one question to one server. */
  attemptMs: number;
  /** Addresses of a server that is named. */
  bootstrap: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  ca?: string | undefined;
}

/** A name server answered, and what it said is that it will not or cannot tell. */
class ServerRefusal extends Error {
  readonly code: string;
  constructor(code: number) {
    super(`the name server answered with code ${code}`);
    this.code = code === 2 ? 'ESERVFAIL' : code === 5 ? 'EREFUSED' : 'EBADRESP';
  }
}

class NoReply extends Error {
  readonly code = 'ETIMEOUT';
}

/** Asks the servers one after the other; the first that knows the name, or knows that there is none, has answered. */
export function queryInTurn(servers: readonly NameServer[], options: UpstreamOptions): NameQuery {
  const queries = servers.map((server) => queryServer(server, options));
  return async (host) => {
    let failure: unknown = null;
    for (const query of queries) {
      try {
        return await query(host);
      } catch (error) {
        if (isNoSuchName(error)) throw error;
        failure ??= error;
      }
    }
    throw failure;
  };
}

function queryServer(server: NameServer, options: UpstreamOptions): NameQuery {
  if (server.kind === 'system') return querySystem;
  const ask = askThrough(server, options);
  return async (host) => {
    const signal = AbortSignal.timeout(options.attemptMs);
    const asked = await Promise.allSettled([ask(host, TYPE.A, signal), ask(host, TYPE.AAAA, signal)]);
    const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const ttls = answers.flatMap(({ ttlMs }) => (ttlMs === null ? [] : [ttlMs]));
    const addresses = answers.flatMap((answer) => answer.addresses);
    const [failed] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    // Without addresses, one half that failed may be the half that has them.
    if (addresses.length === 0 && failed !== undefined) throw signal.aborted ? new NoReply('no reply in time') : failed;
    return { addresses, ttlMs: ttls.length > 0 ? Math.min(...ttls) : null };
  };
}

type Ask = (host: string, type: AddressType, signal: AbortSignal) => Promise<Answer>;

function askThrough(server: Exclude<NameServer, { kind: 'system' }>, options: UpstreamOptions): Ask {
  const { host, port } = server;
  const addresses = async (signal: AbortSignal): Promise<readonly string[]> =>
    isIP(host) === 0 ? options.bootstrap(host, signal) : [host];
  const https =
    server.kind === 'https' ? exchangeHttps({ host, port, url: server.url, addresses, ca: options.ca }) : null;
  return async (name, type, signal) => {
    if (https) return answerOf(await exchangeOnce(https, name, type, signal));
    const [address] = await addresses(signal);
    if (address === undefined) throw new DnsMessageError(`${host} has no address`);
    if (server.kind === 'udp') {
      const reply = await exchangeOnce(exchangeUdp(address, port, options.attemptMs / 2), name, type, signal);
      if (!reply.truncated) return answerOf(reply);
    }
    return answerOf(await exchangeOnce(exchangeTcp(address, port), name, type, signal));
  };
}

async function exchangeOnce(
  exchange: Exchange,
  name: string,
  type: AddressType,
  signal: AbortSignal,
): Promise<DnsReply> {
  const id = randomInt(0x10000);
  const accepts = (bytes: Buffer): boolean => {
    try {
      const { id: own, question } = decodeReply(bytes);
      return own === id && question.name === name && question.type === type;
    } catch (error) {
      if (error instanceof DnsMessageError) return false;
      throw error;
    }
  };
  return decodeReply(await exchange(encodeQuestion(id, name, type), accepts, signal));
}

function answerOf(reply: DnsReply): Answer {
  if (reply.code !== CODE_OK && reply.code !== CODE_NO_SUCH_NAME) throw new ServerRefusal(reply.code);
  const { addresses, ttl } = addressesIn(reply);
  return { addresses, ttlMs: ttl === null ? null : ttl * 1000 };
}
