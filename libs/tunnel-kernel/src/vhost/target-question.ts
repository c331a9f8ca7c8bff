import { setFlowTimeout } from '@gatehouse/net';
import type { Dispatcher } from 'undici';
import type { HostConfig } from '../config.js';
import { TargetError } from '../errors.js';
import { rewritesOf } from './host-rewrites.js';
import type { Upstream } from './upstreams.js';

/** Status of the answer to `HEAD` for the host's location. @throws TunnelError, and errors of undici */
export async function askForHead(upstream: Upstream, host: HostConfig, timeoutMs: number): Promise<number> {
  const { host: name, request } = rewritesOf(host);
  const question = new Question();
  const release = upstream.acquire();
  const timer = setFlowTimeout(null, () => question.giveUp(new TargetError('timeout')), timeoutMs);
  try {
    const headers = ['host', name ?? nameFor(host.host), 'accept', '*/*', ...request.set];
    upstream.dispatch({ method: 'HEAD', path: host.location, headers, body: null }, question);
    return await question.answer;
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
  private controller: Dispatcher.DispatchController | null = null;
  private givenUp: Error | null = null;

  get answer(): Promise<number> {
    return this.status.promise;
  }

  giveUp(error: Error): void {
    this.givenUp = error;
    this.status.reject(error);
    this.controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.givenUp) controller.abort(this.givenUp);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.status.resolve(status);
  }

  /** An answer to HEAD has none. */
  onResponseData(): void {}

  onResponseEnd(): void {
    this.status.reject(new Error('the answer has no head'));
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.status.reject(error);
  }
}
