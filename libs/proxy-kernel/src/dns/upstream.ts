import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { type Exchange, exchangeTcp, exchangeUdp } from './exchange.js';
import { exchangeHttps } from './exchange-https.js';
import {
  type DnsReply,
  DnsMessageError,
  type Question,
  TYPE,
  addressesIn,
  decodeReply,
  encodeQuestion,
} from './message.js';
import { type NameServer, parseNameServer } from './name-server.js';
import { type Answer, type NameQuery, isNoSuchName, querySystem, systemServers } from './name-query.js';

const CODE_OK = 0;
const CODE_NO_SUCH_NAME = 3;
/** How many of the system's name servers are asked questions that only a name server can answer. */
const MAX_SYSTEM_SERVERS = 3;

export interface UpstreamOptions {
  /** The limit for one question to one server. */
  attemptMs: number;
  /** Resolves a server given by host name. */
  bootstrap: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  ca?: string | undefined;
  /** Absent: those that the system uses at the moment. */
  systemServers?: (() => readonly string[]) | undefined;
}

/** Name servers, asked one after the other: the first that answers, even with "no such name", decides. */
export interface Upstream {
  /** The addresses of a name. */
  query: NameQuery;
  /** The unchanged reply to a question of any type. */
  forward: (question: Question) => Promise<Buffer>;
}

/** A name server answered that it will not or cannot resolve the name. */
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

export function askInTurn(servers: readonly NameServer[], options: UpstreamOptions): Upstream {
  const upstreams = servers.map((server) =>
    server.kind === 'system' ? systemUpstream(options) : serverUpstream(server, options),
  );
  return {
    query: (host) => firstAnswer(upstreams, ({ query }) => query(host)),
    forward: (question) => firstAnswer(upstreams, ({ forward }) => forward(question)),
  };
}

async function firstAnswer<T>(upstreams: readonly Upstream[], ask: (upstream: Upstream) => Promise<T>): Promise<T> {
  let failure: unknown = new DnsMessageError('there is no name server to ask');
  let failed = false;
  for (const upstream of upstreams) {
    try {
      return await ask(upstream);
    } catch (error) {
      if (isNoSuchName(error)) throw error;
      if (!failed) failure = error;
      failed = true;
    }
  }
  throw failure;
}

/** The system has its own ways to find addresses; for other records its name servers are asked. */
function systemUpstream(options: UpstreamOptions): Upstream {
  const forward = (question: Question): Promise<Buffer> => {
    const servers = (options.systemServers ?? systemServers)()
      .slice(0, MAX_SYSTEM_SERVERS)
      .map((text) => parseNameServer(text));
    const usable = servers.filter((server) => server !== null && server.kind !== 'system');
    return firstAnswer(
      usable.map((server) => serverUpstream(server, options)),
      (upstream) => upstream.forward(question),
    );
  };
  return { query: querySystem, forward };
}

function serverUpstream(server: Exclude<NameServer, { kind: 'system' }>, options: UpstreamOptions): Upstream {
  const ask = askThrough(server, options);
  const askType = async (name: string, type: number, signal: AbortSignal): Promise<Answer> =>
    answerOf(decodeReply(await ask({ name, type }, signal)));
  return {
    query: async (host) => {
      const signal = AbortSignal.timeout(options.attemptMs);
      const asked = await Promise.allSettled([askType(host, TYPE.A, signal), askType(host, TYPE.AAAA, signal)]);
      const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const ttls = answers.flatMap(({ ttlMs }) => (ttlMs === null ? [] : [ttlMs]));
      const addresses = answers.flatMap((answer) => answer.addresses);
      const [failed] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      // Without addresses, the half that failed may be the one that has them.
      if (addresses.length === 0 && failed !== undefined) throw inTime(failed, signal);
      const missing = answers.some((answer) => answer.missing === true);
      return { addresses, ttlMs: ttls.length > 0 ? Math.min(...ttls) : null, missing };
    },
    forward: async (question) => {
      const signal = AbortSignal.timeout(options.attemptMs);
      try {
        const reply = await ask(question, signal);
        checkCode(decodeReply(reply));
        return reply;
      } catch (error) {
        throw inTime(error, signal);
      }
    },
  };
}

function inTime(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? new NoReply('no reply in time') : error;
}

/** Over UDP, then over TCP if the reply was truncated. */
function askThrough(
  server: Exclude<NameServer, { kind: 'system' }>,
  options: UpstreamOptions,
): (question: Question, signal: AbortSignal) => Promise<Buffer> {
  const { host, port } = server;
  const addresses = async (signal: AbortSignal): Promise<readonly string[]> =>
    isIP(host) === 0 ? options.bootstrap(host, signal) : [host];
  const https =
    server.kind === 'https' ? exchangeHttps({ host, port, url: server.url, addresses, ca: options.ca }) : null;
  return async (question, signal) => {
    if (https) return exchangeOnce(https, question, signal);
    const [address] = await addresses(signal);
    if (address === undefined) throw new DnsMessageError(`${host} has no address`);
    if (server.kind === 'udp') {
      const reply = await exchangeOnce(exchangeUdp(address, port, options.attemptMs / 2), question, signal);
      if (!decodeReply(reply).truncated) return reply;
    }
    return exchangeOnce(exchangeTcp(address, port), question, signal);
  };
}

function exchangeOnce(exchange: Exchange, asked: Question, signal: AbortSignal): Promise<Buffer> {
  const id = randomInt(0x10000);
  const accepts = (bytes: Buffer): boolean => {
    try {
      const { id: own, question } = decodeReply(bytes);
      return own === id && question.name === asked.name && question.type === asked.type;
    } catch (error) {
      if (error instanceof DnsMessageError) return false;
      throw error;
    }
  };
  return exchange(encodeQuestion(id, asked.name, asked.type, asked), accepts, signal);
}

function answerOf(reply: DnsReply): Answer {
  checkCode(reply);
  const { addresses, ttl } = addressesIn(reply);
  return { addresses, ttlMs: ttl === null ? null : ttl * 1000, missing: reply.code === CODE_NO_SUCH_NAME };
}

function checkCode({ code }: DnsReply): void {
  if (code !== CODE_OK && code !== CODE_NO_SUCH_NAME) throw new ServerRefusal(code);
}
