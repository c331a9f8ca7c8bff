import type { IncomingMessage } from 'node:http';
import type { VisitorRequest } from '../access/visitor-verifier.js';
import { asHeaders } from '../vhost/request-fields.js';
import { readRequest } from '../vhost/request-rules.js';
import { readWhole } from '../vhost/visitor-body.js';

export type Arrival = Pick<VisitorRequest, 'resource' | 'clientId' | 'visitor' | 'scheme'>;

/** A request to the gateway itself, of which only the head was read; null: it is ambiguous. */
export function readVisitorRequest(arrival: Arrival, request: IncomingMessage): VisitorRequest | null {
  const { method = '', httpVersion: version, url: target = '', rawHeaders: fields } = request;
  const head = readRequest({ method, version, target, authority: null, fields });
  if ('error' in head || !target.startsWith('/')) return null;
  return {
    ...arrival,
    method,
    host: head.host,
    target,
    headers: { ...asHeaders(head.fields.kept), host: head.authority },
    readBody: (maxBytes) => readWhole(request, maxBytes, () => undefined),
  };
}
