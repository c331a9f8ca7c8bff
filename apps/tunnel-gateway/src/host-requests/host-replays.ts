import type { Actor } from '@gatehouse/auth';
import type { HostReplayView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type { RecordedDetail, RecordedMessage, ReplayRefusal, ReplayRequest } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { OwnedRows } from '../data/owned-rows.js';
import { Edges } from '../edge-host/edges.service.js';
import type { ReplayBody } from './host-request.dto.js';
import { HostRequestsService } from './host-requests.service.js';

/** What stands where a secret was. */
const MASK = '***';
const REFUSALS: Readonly<Record<ReplayRefusal, string>> = {
  unreadable: 'The request cannot be sent like this: a target could misread it',
  unrecorded: 'The edge does not record this host yet; try again in a moment',
  refused: 'The client or its visitor is not admitted now',
};

/** Sends recorded requests again. */
@Injectable()
export class HostReplays {
  constructor(
    private readonly owned: OwnedRows,
    private readonly requests: HostRequestsService,
    private readonly edges: Edges,
  ) {}

  async send(hostId: number, body: ReplayBody, actor: Actor): Promise<HostReplayView> {
    const { clientId } = await this.owned.hosts(actor).one(hostId);
    const record = await this.requests.find(hostId, body.request_id);
    const { request, leftOut } = replayOf(record, body);
    const sent = await this.edges.replay({ clientId, hostId, request });
    if ('refusal' in sent) throw new AppError('CONFLICT', REFUSALS[sent.refusal]);
    return { id: sent.id, left_out: leftOut };
  }
}

/** @throws AppError UNPROCESSABLE for what was not kept, and what was masked and is not given */
function replayOf(record: RecordedDetail, said: ReplayBody): { request: ReplayRequest; leftOut: string[] } {
  const { asked, id, method, scheme, authority, visitor } = record;
  if (!asked) throw unprocessable('Heads and bodies of this request were not kept: set record_requests to full');
  if (record.endedMs === null) throw unprocessable('The request is still running');
  if (record.status === 101) throw unprocessable('A connection that changed its protocol cannot be repeated');
  if (said.path === undefined && /=\*{3}/.test(record.target)) {
    throw unprocessable('A secret in the path was masked: set path');
  }
  const { fields, leftOut } = fieldsOf(asked, said);
  const body = said.body === undefined ? bodyOf(asked, record.request.body) : Buffer.from(said.body);
  const target = said.path ?? record.target;
  return {
    request: { id, method, scheme, authority, target, visitor, fields, body: body?.toString('base64') ?? null },
    leftOut,
  };
}

function fieldsOf(asked: RecordedMessage, { headers = {}, body }: ReplayBody): { fields: string[]; leftOut: string[] } {
  const said = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const isPlain = body !== undefined || asked.body?.unpacked === true;
  const fields: string[] = [];
  const leftOut = new Set<string>();
  for (const [name, value] of asked.fields) {
    const lower = name.toLowerCase();
    if (said.has(lower) || (isPlain && lower === 'content-encoding')) continue;
    if (value.includes(MASK)) leftOut.add(lower);
    else fields.push(name, value);
  }
  for (const [name, value] of Object.entries(headers)) if (value !== '') fields.push(name, value);
  return { fields, leftOut: [...leftOut] };
}

/** @throws AppError UNPROCESSABLE */
function bodyOf({ body }: RecordedMessage, size: number): Buffer | null {
  if (size === 0) return null;
  if (!body) throw unprocessable('The body could not be kept: set body');
  if (body.truncated) throw unprocessable('Only the beginning of the body was kept: set body');
  if (body.masked) throw unprocessable('A secret in the body was masked: set body');
  return Buffer.from(body.content, body.encoding);
}

function unprocessable(message: string): AppError {
  return new AppError('UNPROCESSABLE', message);
}
