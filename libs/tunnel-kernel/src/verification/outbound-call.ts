import { OutboundCalls as Calls, OutboundCallError, type OutboundAnswer, type OutboundRequest } from '@gatehouse/net';
import { TunnelError } from '../errors.js';

export type { OutboundAnswer, OutboundCallOptions } from '@gatehouse/net';

/** Asks other services about visitors. */
export class OutboundCalls extends Calls {
  /** Redirects are returned as answers. @throws TunnelError `connection`, `timeout`, `overloaded` */
  override async send(request: OutboundRequest): Promise<OutboundAnswer> {
    try {
      return await super.send(request);
    } catch (error) {
      if (!(error instanceof OutboundCallError)) throw error;
      throw new TunnelError(error.code, error.message, { cause: error.cause });
    }
  }
}

/** @throws TunnelError `connection` unless the answer is a success with a JSON object. */
export function readJsonObject({ status, body }: OutboundAnswer): Record<string, unknown> {
  if (status < 200 || status > 299 || body === null) throw new TunnelError('connection', `status ${status}`);
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new TunnelError('connection', 'the answer is no JSON object');
}
