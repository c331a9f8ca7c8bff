import type { GateRefusal } from '../access/gate.js';
import type { GatewayAnswer } from '../access/visitor-verifier.js';
import type { HostConfig } from '../config.js';
import { TargetError, TunnelError } from '../errors.js';
import { visitorWords, type ErrorName, type VisitorWords } from '../messages/index.js';
import { escapeHtml, failurePage, pageFields } from '../pages/visitor-page.js';
import { BodyTooLargeError } from './request-body.js';
import { firstField } from './request-fields.js';
import type { RequestHead } from './request-rules.js';

/** An error as the visitor sees it: `X-Gw-Error` and, in a browser, a page. */
interface Failure {
  status: number;
  error: string;
  /** What the page says. */
  text: ErrorName;
  /** Seconds. */
  retryAfter?: number;
}

/**
 * Whose request is answered: its fields choose the form and the language of the answer, and its host may have a page of its
 * own. Null: a program.
 */
export type Reader = (Pick<RequestHead, 'fields'> & Pick<HostConfig, 'errorPage'>) | null;

/** A visitor of this host. */
export function readerAt({ errorPage }: HostConfig, { fields }: RequestHead): Reader {
  return { fields, ...(errorPage !== undefined && { errorPage }) };
}

const REFUSALS: Readonly<Record<Exclude<GateRefusal, 'address_denied'>, Failure>> = {
  client_disabled: { status: 503, error: 'client_disabled', text: 'switchedOff', retryAfter: 5 },
  client_expired: { status: 503, error: 'client_expired', text: 'switchedOff', retryAfter: 5 },
  quota_used_up: { status: 503, error: 'quota_used_up', text: 'quotaUsedUp', retryAfter: 60 },
  too_many_connections: { status: 429, error: 'max_conn', text: 'tooManyConnections', retryAfter: 1 },
};
const BODY_TOO_LARGE: Failure = { status: 413, error: 'body_too_large', text: 'bodyOverLimit' };
const FORBIDDEN: GatewayAnswer = { status: 403, headers: [['content-length', '0']], body: '' };

/** For a refused visitor; a denied address gets no hint. */
export function refusalAnswer(refusal: GateRefusal, reader: Reader): GatewayAnswer {
  return refusal === 'address_denied' ? FORBIDDEN : failureAnswer(REFUSALS[refusal], reader);
}

export function badRequestAnswer(status: number, error: string, reader: Reader = null): GatewayAnswer {
  const answer = failureAnswer({ status, error, text: 'badRequest' }, reader);
  if (status === 405) answer.headers.push(['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
  return answer;
}

export function noHostAnswer(reader: Reader): GatewayAnswer {
  return failureAnswer({ status: 404, error: 'no_host', text: 'noHost' }, reader);
}

/** For a visitor whose identity cannot be verified. `tooLarge`: its request is too large for that. */
export function unverifiedAnswer(tooLarge: boolean, reader: Reader): GatewayAnswer {
  const failure: Failure = tooLarge
    ? { status: 413, error: 'verification', text: 'bodyTooLarge' }
    : { status: 503, error: 'verification', text: 'notChecked' };
  return failureAnswer(failure, reader);
}

/** For a body that is longer than the host accepts. */
export function bodyTooLargeAnswer(reader: Reader): GatewayAnswer {
  return failureAnswer(BODY_TOO_LARGE, reader);
}

export function misdirectedAnswer(reader: Reader): GatewayAnswer {
  return failureAnswer({ status: 421, error: 'misdirected', text: 'misdirected' }, reader);
}

export function redirectAnswer(location: string): GatewayAnswer {
  return {
    status: 308,
    headers: [
      ['location', location],
      ['content-length', '0'],
    ],
    body: '',
  };
}

/** Where checks found every target down. */
export function targetsDownAnswer(reader: Reader): GatewayAnswer {
  return failureAnswer({ status: 503, error: 'targets_down', text: 'unreachable', retryAfter: 5 }, reader);
}

/** For a target that did not answer. */
export function targetFailureAnswer(error: Error, reader: Reader): GatewayAnswer {
  return failureAnswer(failureOf(error), reader);
}

function failureOf(error: Error): Failure {
  if (error instanceof BodyTooLargeError) return BODY_TOO_LARGE;
  if (error instanceof TargetError) {
    const status = error.reason === 'timeout' ? 504 : 502;
    return { status, error: `target_${error.reason}`, text: 'unreachable' };
  }
  if (error instanceof TunnelError && error.code === 'target') {
    return { status: 502, error: 'target_tls', text: 'unreachableSecurely' };
  }
  if (error instanceof TunnelError) {
    const code = error.code === 'overloaded' ? 'overloaded' : 'agent_offline';
    return { status: 503, error: code, text: 'offline', retryAfter: 5 };
  }
  if (codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT') {
    return { status: 504, error: 'target_timeout', text: 'timeout' };
  }
  return { status: 502, error: 'bad_response', text: 'badResponse' };
}

/** `X-Gw-Error` of an answer; null: it is not about an error of this kind. */
export function errorOf({ headers }: GatewayAnswer): string | null {
  return headers.find(([name]) => name === 'x-gw-error')?.[1] ?? null;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function failureAnswer({ status, error, text, retryAfter }: Failure, reader: Reader): GatewayAnswer {
  const accept = reader ? firstField(reader.fields, 'accept') : undefined;
  const isBrowser = accept?.includes('text/html') === true;
  const words = reader && isBrowser ? visitorWords(firstField(reader.fields, 'accept-language')) : null;
  const body = words ? pageFor(reader, words, status, words.text(`errors.${text}`)) : '';
  const headers: GatewayAnswer['headers'] = [
    ['x-gw-error', error],
    ['cache-control', 'no-store'],
    ['content-length', String(Buffer.byteLength(body))],
  ];
  // A page of the host may load what it likes: it has the rights that its target has.
  if (words) headers.push(...pageFields(words, reader?.errorPage === undefined ? undefined : null));
  if (retryAfter !== undefined) headers.push(['retry-after', String(retryAfter)]);
  return { status, headers, body };
}

function pageFor(reader: Reader, words: VisitorWords, status: number, reason: string): string {
  const page = reader?.errorPage;
  if (page === undefined) return failurePage(words, status, reason);
  return page.replaceAll(/\{(status|reason)\}/g, (_, name) =>
    name === 'status' ? String(status) : escapeHtml(reason),
  );
}
