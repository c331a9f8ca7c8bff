import { setFlowTimeout } from '@gatehouse/net';
import type { VisitorRequest } from '../access/visitor-verifier.js';
import { TunnelError } from '../errors.js';

const MAX_BYTES = 8 * 1024;
const BODY_MS = 15_000;

/** Null: the request has no form. @throws TunnelError `protocol` for one that is too long, `timeout`, `connection` */
export async function readForm(asked: VisitorRequest): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(asked.headers['content-type'] ?? '')) return null;
  const late = Promise.withResolvers<never>();
  const timer = setFlowTimeout(null, () => late.reject(new TunnelError('timeout', 'the form did not come')), BODY_MS);
  try {
    const body = await Promise.race([asked.readBody(MAX_BYTES), late.promise]);
    return new URLSearchParams(body.toString('utf8'));
  } catch (error) {
    const tooLong = error instanceof TunnelError && error.code === 'overloaded';
    throw tooLong ? new TunnelError('protocol', 'the form is too long', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
