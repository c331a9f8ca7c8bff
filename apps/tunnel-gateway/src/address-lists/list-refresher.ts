import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AddressList, MIN_INTERVAL } from '../data/address-list.entity.js';
import { ListFetcher, ListFetchError, type FetchedList } from './list-fetcher.js';
import { MAX_ENTRIES, parseList, type ParsedList } from './list-parser.js';

/** After a failure, a list is tried again sooner than its interval says. */
const DUE = `
  SELECT id::float8 AS id FROM tunnel_gateway_ops.address_lists
  WHERE checked_at IS NULL OR checked_at < now() - make_interval(mins =>
    CASE WHEN last_error IS NULL THEN interval_minutes ELSE ${MIN_INTERVAL} END)
  ORDER BY checked_at NULLS FIRST, id LIMIT $1`;

/** Only if nobody changed the address meanwhile. */
const SAME_SOURCE = 'id = $1 AND url = $2 AND allow_private = $3';

const UNCHANGED = `
  UPDATE tunnel_gateway_ops.address_lists SET checked_at = now(), last_error = NULL WHERE ${SAME_SOURCE}`;
const FAILED = `
  UPDATE tunnel_gateway_ops.address_lists SET checked_at = now(), last_error = $4 WHERE ${SAME_SOURCE}`;
const FETCHED = `
  UPDATE tunnel_gateway_ops.address_lists
  SET checked_at = now(), refreshed_at = now(), last_error = NULL, etag = $4, last_modified = $5, entries = $6,
    bytes = $7, bad_line_count = $8, bad_lines = $9
  WHERE ${SAME_SOURCE}`;
/** A statement of its own: edges read the list again only if it has other addresses. */
const CHANGED = `
  UPDATE tunnel_gateway_ops.address_lists SET content = $4 WHERE ${SAME_SOURCE} AND content IS DISTINCT FROM $4`;

export type RefreshOutcome = 'gone' | 'unchanged' | 'refreshed' | 'failed';

/** Fetches lists and stores what they have. What fails leaves the former content. */
@Injectable()
export class ListRefresher {
  constructor(
    private readonly dataSource: DataSource,
    private readonly fetcher: ListFetcher,
    private readonly logger: JsonLogger,
  ) {}

  /** Ids of lists whose time has come. */
  async due(limit: number): Promise<number[]> {
    const rows = (await this.dataSource.query(DUE, [limit])) as { id: number }[];
    return rows.map(({ id }) => id);
  }

  async refresh(id: number): Promise<RefreshOutcome> {
    const list = await this.dataSource.manager.findOneBy(AddressList, { id });
    if (list === null) return 'gone';
    const source = [id, list.url, list.allowPrivate];
    try {
      const fetched = await this.fetcher.fetch(list);
      if (fetched === null) {
        await this.dataSource.query(UNCHANGED, source);
        return 'unchanged';
      }
      await this.store(source, fetched, await readList(fetched));
      return 'refreshed';
    } catch (error) {
      if (!(error instanceof ListFetchError)) throw error;
      this.logger.warn(
        'a list of addresses was not refreshed',
        { list: list.name, why: error.message },
        'AddressLists',
      );
      await this.dataSource.query(FAILED, [...source, error.message]);
      return 'failed';
    }
  }

  private async store(source: unknown[], { body, etag, lastModified }: FetchedList, parsed: ParsedList): Promise<void> {
    const { set, entries, badLineCount, badLines } = parsed;
    await this.dataSource.transaction(async (tx) => {
      await tx.query(CHANGED, [...source, set.encode()]);
      const status = [entries, body.length, badLineCount, JSON.stringify(badLines)];
      await tx.query(FETCHED, [...source, etag, lastModified, ...status]);
    });
  }
}

async function readList({ body }: FetchedList): Promise<ParsedList> {
  const parsed = await parseList(body.toString('utf8'));
  if (parsed === null) throw new ListFetchError(`it has more than ${MAX_ENTRIES} entries`);
  if (parsed.entries === 0) throw new ListFetchError('it has no address');
  return parsed;
}
