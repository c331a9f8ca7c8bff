import { setFlowTimeout } from '@gatehouse/net';
import type { Dispatcher } from 'undici';
import type { HostConfig } from '../config.js';
import { TargetError } from '../errors.js';
import { rewritesOf } from './host-rewrites.js';
import type { Upstream } from './upstreams.js';

/** Of a body that nobody wants: reading it keeps the connection, and a longer one is not worth that. */
const MAX_BODY_BYTES = 64 * 1024;

export interface TargetQuestion {
  method: 'HEAD' | 'GET';
  path: string;
  /** For the whole answer. */
  timeoutMs: number;
  /** Name, value, name, value … */
  fields?: readonly string[];
}

/** Status of a target's answer. @throws TunnelError, and errors of undici */
export async function askTarget(upstream: Upstream, host: HostConfig, asked: TargetQuestion): Promise<number> {
  const { host: name, request } = rewritesOf(host);
  const question = new Question();
  const release = upstream.acquire();
  const timer = setFlowTimeout(null, () => question.giveUp(new TargetError('timeout')), asked.timeoutMs);
  try {
    const headers = ['host', name ?? nameFor(host.host), 'accept', '*/*', ...(asked.fields ?? []), ...request.set];
    upstream.dispatch({ method: asked.method, path: asked.path, headers, body: null }, question);
    const status = await question.answer;
    await question.ended;
    return status;
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** A name that the pattern matches. */
function nameFor(pattern: string): string {
  return pattern === '*' ? 'localhost' : pattern.replace(/^\*/, 'www');
}

class Question implements Dispatcher.DispatchHandler {
  private readonly status = Promise.withResolvers<number>();
  private readonly end = Promise.withResolvers<void>();
  private controller: Dispatcher.DispatchController | null = null;
  private givenUp: Error | null = null;
  private bytes = 0;

  /** Known with the head. */
  get answer(): Promise<number> {
    return this.status.promise;
  }

  /** Resolves when nothing more is read, however that came. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  giveUp(error: Error): void {
    this.givenUp = error;
    this.status.reject(error);
    this.end.resolve();
    this.controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.givenUp) controller.abort(this.givenUp);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.status.resolve(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > MAX_BODY_BYTES) controller.abort(new Error('the answer is long enough'));
  }

  onResponseEnd(): void {
    this.status.reject(new Error('the answer has no head'));
    this.end.resolve();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.status.reject(error);
    this.end.resolve();
  }
}
