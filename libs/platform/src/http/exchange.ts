import { ServerResponse } from 'node:http';
import type { Application } from 'express';
import type { RequestContext } from '../logging/request-context.js';

/** Called when an answer has been sent: its status, 499 when its client left before, and the milliseconds since the request came. */
export type AnswerObserver = (status: number, milliseconds: number, facts: AnswerFacts) => void;

export interface AnswerFacts {
  readonly requestId: string;
  /** Code of the error in the answer; undefined if there was none. */
  readonly errorCode: string | undefined;
}

/** What the platform stores about a request and its answer while they run. */
export class Exchange implements RequestContext, AnswerFacts {
  readonly requestId: string;
  readonly acceptLanguage: string | undefined;
  /** Names and values, alternating. */
  readonly headers: string[];
  errorCode: string | undefined;
  private readonly startedAt = performance.now();
  private readonly observers: AnswerObserver[] = [];

  constructor(requestId: string, headers: string[], acceptLanguage?: string) {
    this.requestId = requestId;
    this.acceptLanguage = acceptLanguage;
    this.headers = headers;
  }

  observe(observer: AnswerObserver): void {
    this.observers.push(observer);
  }

  /** Calls every observer. */
  end(response: ServerResponse): void {
    const status = response.writableFinished ? response.statusCode : CLIENT_LEFT;
    const milliseconds = performance.now() - this.startedAt;
    for (const observer of this.observers) observer(status, milliseconds, this);
  }
}

const CLIENT_LEFT = 499;
const EXCHANGE = Symbol('exchange');

interface Carrier {
  [EXCHANGE]?: Exchange;
}

/** Connects an exchange with its answer. */
export function beginExchange(response: ServerResponse, exchange: Exchange): void {
  (response as Carrier)[EXCHANGE] = exchange;
  // One listener for all observers: each costs as much as a small header.
  response.on('close', () => exchange.end(response));
}

/**
 * Calls back once, when the answer has been sent or its client has left. Needs a response of the service's application.
 */
export function onAnswered(response: ServerResponse, observer: AnswerObserver): void {
  exchangeOf(response).observe(observer);
}

/**
 * Adds a header when the head of the answer is written, unless response.setHeader() has set it by then. Cheaper than
 * setHeader() for values that do not change; response.getHeader() does not see it. Call it once for each name, with a
 * value of the service's own: an invalid value is noticed only at that time.
 */
export function addHeader(response: ServerResponse, name: string, value: string): void {
  exchangeOf(response).headers.push(name, value);
}

/** The headers of earlier calls of addHeader(). */
export function addedHeader(response: ServerResponse, name: string): string | undefined {
  const { headers } = exchangeOf(response);
  const index = headers.indexOf(name);
  return index < 0 ? undefined : headers[index + 1];
}

function exchangeOf(response: ServerResponse): Exchange {
  const exchange = (response as Carrier)[EXCHANGE];
  if (exchange === undefined) throw new Error('the response is none of the service’s application');
  return exchange;
}

type WriteHead = (this: ServerResponse & Carrier, ...parts: unknown[]) => ServerResponse;

const { writeHead } = ServerResponse.prototype as unknown as { writeHead: WriteHead };

/** Adds the headers of addHeader() to the answers of an application. */
export function writeAddedHeaders(application: Application): void {
  // All its answers have this as their prototype.
  const { response } = application as unknown as { response: { writeHead: WriteHead } };
  response.writeHead = function (...parts) {
    const headers = this[EXCHANGE]?.headers ?? [];
    // Written directly: nothing is looked up, and nothing is stored that would be read only once.
    if (parts.length === 1 && this.getHeaderNames().length === 0) return writeHead.call(this, parts[0], headers);
    for (let index = 0; index < headers.length; index += 2) {
      const [name, value] = [headers[index] as string, headers[index + 1] as string];
      if (!this.hasHeader(name)) this.setHeader(name, value);
    }
    return writeHead.apply(this, parts);
  };
}
