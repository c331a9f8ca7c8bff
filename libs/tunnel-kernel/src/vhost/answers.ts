import type { GateRefusal } from '../access/gate.js';
import type { GatewayAnswer } from '../access/visitor-verifier.js';
import { TargetError, TunnelError } from '../errors.js';

/** An error as the visitor sees it: `X-Gw-Error` and, in a browser, a page. */
interface Failure {
  status: number;
  error: string;
  /** Text for people. */
  text: string;
  /** Seconds. */
  retryAfter?: number;
}

const REFUSALS: Readonly<Record<Exclude<GateRefusal, 'address_denied'>, Failure>> = {
  client_disabled: {
    status: 503,
    error: 'client_disabled',
    text: 'This site is switched off at the moment.',
    retryAfter: 5,
  },
  client_expired: {
    status: 503,
    error: 'client_expired',
    text: 'This site is switched off at the moment.',
    retryAfter: 5,
  },
  too_many_connections: {
    status: 429,
    error: 'max_conn',
    text: 'This site has too many visitors just now.',
    retryAfter: 1,
  },
};
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  417: 'Expectation failed',
  421: 'Misdirected request',
  429: 'Too many requests',
  431: 'Request header fields too large',
  501: 'Not implemented',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Gateway timeout',
};
const FORBIDDEN: GatewayAnswer = { status: 403, headers: [['content-length', '0']], body: '' };

/** For a refused visitor; a denied address gets no hint. */
export function refusalAnswer(refusal: GateRefusal, accept: string | undefined): GatewayAnswer {
  return refusal === 'address_denied' ? FORBIDDEN : failureAnswer(REFUSALS[refusal], accept);
}

export function badRequestAnswer(status: number, error: string, accept?: string): GatewayAnswer {
  const answer = failureAnswer({ status, error, text: 'The request could not be understood.' }, accept);
  if (status === 405) answer.headers.push(['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
  return answer;
}

export function noHostAnswer(accept: string | undefined): GatewayAnswer {
  return failureAnswer({ status: 404, error: 'no_host', text: 'There is no site of this name here.' }, accept);
}

export function misdirectedAnswer(accept: string | undefined): GatewayAnswer {
  const text = 'This connection was opened for another site.';
  return failureAnswer({ status: 421, error: 'misdirected', text }, accept);
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

/** For a target that did not answer. */
export function targetFailureAnswer(error: Error, accept: string | undefined): GatewayAnswer {
  return failureAnswer(failureOf(error), accept);
}

function failureOf(error: Error): Failure {
  if (error instanceof TargetError) {
    const status = error.reason === 'timeout' ? 504 : 502;
    return { status, error: `target_${error.reason}`, text: 'The site could not be reached.' };
  }
  if (error instanceof TunnelError && error.code === 'target') {
    return { status: 502, error: 'target_tls', text: 'The site could not be reached securely.' };
  }
  if (error instanceof TunnelError) {
    const code = error.code === 'overloaded' ? 'overloaded' : 'agent_offline';
    return { status: 503, error: code, text: 'This site is not connected at the moment.', retryAfter: 5 };
  }
  if (codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT') {
    return { status: 504, error: 'target_timeout', text: 'The site did not answer in time.' };
  }
  return { status: 502, error: 'bad_response', text: 'The site did not give a proper answer.' };
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function failureAnswer({ status, error, text, retryAfter }: Failure, accept: string | undefined): GatewayAnswer {
  const html = accept?.includes('text/html') ?? false;
  const body = html ? page(status, text) : '';
  const headers: GatewayAnswer['headers'] = [
    ['x-gw-error', error],
    ['cache-control', 'no-store'],
    ['content-length', String(Buffer.byteLength(body))],
  ];
  if (html) headers.push(['content-type', 'text/html; charset=utf-8']);
  if (retryAfter !== undefined) headers.push(['retry-after', String(retryAfter)]);
  return { status, headers, body };
}

function page(status: number, text: string): string {
  const title = TITLES[status] ?? 'Error';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:18vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>${title}</h1>
<p>${text}</p>
<p><small>${status}</small></p>
</html>
`;
}
