import type { Actor } from '@gatehouse/auth';
import type { HarArchive, HostRequestDetail, HostRequestPage } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type { RecordedDetail, RecordFilter } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { HostOptions } from '../data/host.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import { readOptions } from '../data/row-options.js';
import { Fleet, type Placed } from '../edge-host/fleet.service.js';
import { fieldError } from '../wire/field-error.js';
import { toHar } from './har.js';
import { REQUEST_ID, type HostRequestFilter } from './host-request.dto.js';
import { toRequestDetail, toRequestView } from './host-request.view.js';

/** Of heads and bodies in one answer of an edge; other edges answer within a second and a half. */
const DETAIL_BYTES = 2 * 1024 * 1024;
/** Of heads and bodies in an export. */
const HAR_BYTES = 16 * 1024 * 1024;

/** The last requests of hosts, which edges keep in memory. */
@Injectable()
export class HostRequestsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly fleet: Fleet,
  ) {}

  async list(hostId: number, query: HostRequestFilter, actor: Actor): Promise<HostRequestPage> {
    await this.owned.hosts(actor).one(hostId);
    const { limit } = query;
    const { items, silent } = await this.fleet.requests({ hostId, filter: filterOf(query), limit, detailBytes: 0 });
    const options = (await readOptions(this.owned.options, HostOptions, 'hostId', [hostId])).get(hostId);
    return {
      items: items.map(toRequestView),
      next_cursor: items.length < limit ? null : (items.at(-1)?.id ?? null),
      record_requests: options?.recordRequests ?? 'off',
      silent_edges: silent,
    };
  }

  async get(hostId: number, id: string, actor: Actor): Promise<HostRequestDetail> {
    await this.owned.hosts(actor).one(hostId);
    return toRequestDetail(await this.find(hostId, id));
  }

  /** Those of one page, oldest first. */
  async har(hostId: number, query: HostRequestFilter, actor: Actor): Promise<HarArchive> {
    await this.owned.hosts(actor).one(hostId);
    const records: Placed<RecordedDetail>[] = [];
    const filter = filterOf(query);
    for (let bytes = 0, more = true; more && records.length < query.limit && bytes < HAR_BYTES;) {
      const limit = query.limit - records.length;
      const { items, isCut } = await this.fleet.requests({ hostId, filter, limit, detailBytes: DETAIL_BYTES });
      records.push(...items);
      bytes += items.length === 0 ? HAR_BYTES : items.reduce((total, item) => total + sizeOf(item), 0);
      filter.before = items.at(-1)?.id;
      more = isCut;
    }
    return toHar(records.reverse());
  }

  /** The caller has looked for the host. @throws AppError NOT_FOUND; EDGE_UNAVAILABLE where an edge that may have it does not answer */
  async find(hostId: number, id: string): Promise<Placed<RecordedDetail>> {
    const question = { hostId, filter: { id }, limit: 1, detailBytes: DETAIL_BYTES };
    const { items, silent } = await this.fleet.requests(question);
    const [found] = items;
    if (found) return found;
    if (silent.length === 0) throw new AppError('NOT_FOUND', `There is no request ${id}`);
    const message = `An edge does not answer, and may have the request: ${silent.join(', ')}`;
    throw new AppError('EDGE_UNAVAILABLE', message, { retryAfterSeconds: 1 });
  }
}

function filterOf({ cursor, q, method, status, visitor_ip: visitor }: HostRequestFilter): RecordFilter {
  if (cursor !== undefined && !REQUEST_ID.test(cursor)) {
    throw fieldError('cursor', 'must be the next_cursor of an answer');
  }
  return { before: cursor, text: q, method: method?.toUpperCase(), status, visitor };
}

function sizeOf({ asked, answered }: RecordedDetail): number {
  return [asked, answered].reduce((total, message) => total + (message?.body?.content.length ?? 0), 1_000);
}
