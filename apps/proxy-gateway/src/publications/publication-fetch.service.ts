import { LastUseWriter, parseApiKey } from '@gatehouse/auth';
import type { PublicationDefinition, PublicationTarget } from '@gatehouse/contracts';
import { cidrContains, hostCidr, parseCidr, parseIp } from '@gatehouse/net';
import { pgPool } from '@gatehouse/persistence';
import { AppError, JsonLogger, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DocumentCache } from './document-cache.js';
import { DEFAULT_UPDATE_SEC, PublicationWriter, type WrittenPublication } from './publication-writer.js';
import { TOKEN_PREFIX } from './publications.service.js';

const HOUR_MS = 3_600_000;
/** The latest use of each. Fetches are counted one by one, since a batch keeps only the last of several. */
const RECORD_USE = `
  UPDATE publications AS kept SET last_used_at = used.at, last_used_ip = used.ip
  FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS used (id, at, ip) WHERE kept.id = used.id`;

interface Row {
  id: number;
  name: string;
  definition: PublicationDefinition;
  expiresAt: Date | null;
  fetchesPerHour: number | null;
  allowedAddresses: string[];
  /** Of everything that documents are made from, besides the definition; of the results of tests; of its templates. */
  marks: string | null;
  healthMarks: string | null;
  templates: string | null;
}

/** The token, with the marks that it is worth looking at before a document is built: data/sql/publications.sql. */
const BY_TOKEN = `
  SELECT id, name, definition, expires_at AS "expiresAt", fetches_per_hour AS "fetchesPerHour",
    allowed_addresses AS "allowedAddresses",
    (SELECT string_agg(id::text, ',' ORDER BY id) FROM publication_marks WHERE area = 'config') AS marks,
    (SELECT string_agg(id::text, ',' ORDER BY id) FROM publication_marks WHERE area = 'health') AS "healthMarks",
    (SELECT string_agg(template.id || ' ' || template.digest, ',' ORDER BY template.id)
     FROM publication_templates template
     WHERE coalesce(publication.definition -> 'template_ids', '[]') @> to_jsonb(template.id)) AS templates
  FROM publications publication
  WHERE token_hash = $1 AND enabled AND (expires_at IS NULL OR expires_at > now())`;

export interface FetchRequest {
  token: string;
  target: PublicationTarget;
  onlyNodes: boolean;
  /** The client's. */
  ip: string;
  url: string;
}

/** What is kept of a written publication. */
type Document = Pick<WrittenPublication, 'contentType' | 'extension' | 'etag' | 'subscriptionIds'> & { body: Buffer };

export interface FetchedPublication extends Document {
  name: string;
  updateIntervalSec: number;
  /** Undefined: no quota is known, or none is to be shown. */
  userinfo: string | undefined;
}

/** Answers clients that have a token. */
@Injectable()
export class PublicationFetch implements BeforeApplicationShutdown {
  private readonly counter: PostgresWindowCounter;
  private readonly lastUse: LastUseWriter;
  private readonly documents = new DocumentCache<Document>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: PublicationWriter,
    logger: JsonLogger,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
    this.lastUse = new LastUseWriter(dataSource, logger, RECORD_USE);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.stop();
  }

  /**
   * @throws AppError NOT_FOUND for a token that is unknown, replaced, expired, of a publication that is off, or that may
   * not be used from this address: the answer does not say which. RATE_LIMITED.
   */
  async fetch({ token, ip, ...asked }: FetchRequest): Promise<FetchedPublication> {
    const row = await this.find(token);
    if (row === undefined || !isAllowed(row.allowedAddresses, ip)) {
      throw new AppError('NOT_FOUND', 'There is no such publication');
    }
    await this.count(row);
    const document = await this.document(row, asked);
    this.lastUse.note(row.id, ip);
    await this.dataSource.query('UPDATE publications SET fetch_count = fetch_count + 1 WHERE id = $1', [row.id]);
    return {
      ...document,
      name: row.name,
      updateIntervalSec: row.definition.update_interval_sec ?? DEFAULT_UPDATE_SEC,
      userinfo: await this.writer.userinfo(row.definition, document.subscriptionIds),
    };
  }

  /** From the cache, unless something that it was made from has changed. */
  private document(row: Row, { target, onlyNodes, url }: Omit<FetchRequest, 'token' | 'ip'>): Promise<Document> {
    const { definition, marks, healthMarks, templates } = row;
    // Only documents of Surge name their address.
    const place = target === 'surge' ? { url } : {};
    const health = looksAtHealth(definition) ? healthMarks : null;
    const asked = JSON.stringify([definition, target, onlyNodes, place]);
    return this.documents.get(asked, JSON.stringify([marks, health, templates]), async () => {
      const written = await this.writer.write(definition, { target, onlyNodes, ...place });
      const { contentType, extension, etag, subscriptionIds, text } = written;
      return { contentType, extension, etag, subscriptionIds, body: Buffer.from(text) };
    });
  }

  /**
   * The lookup compares SHA-256 digests, so that its time says nothing about a token. Text of another shape is refused
   * before the database is asked.
   */
  private async find(token: string): Promise<Row | undefined> {
    const parsed = parseApiKey(token, TOKEN_PREFIX);
    if (parsed === undefined) return undefined;
    const { rows } = await pgPool(this.dataSource).query<Row>({
      name: 'publication_by_token',
      text: BY_TOKEN,
      values: [parsed.hash],
    });
    return rows[0];
  }

  private async count({ id, fetchesPerHour }: Row): Promise<void> {
    if (fetchesPerHour === null) return;
    const { hits, remainingMs } = await this.counter.hit(`publication ${id}`, HOUR_MS);
    if (hits <= fetchesPerHour) return;
    throw new AppError('RATE_LIMITED', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(remainingMs / 1_000)),
      level: 'debug',
      limit: 'requests',
    });
  }
}

/** Whether steps ask for the results of tests, which change all the time. */
function looksAtHealth({ steps = [] }: PublicationDefinition): boolean {
  return steps.some(({ health, by }) => health !== undefined || by === 'delay');
}

/** An address that cannot be read is in no list. */
function isAllowed(allowed: readonly string[], ip: string): boolean {
  if (allowed.length === 0) return true;
  const address = parseIp(ip.replace(/^::ffff:(?=\d+\.)/i, ''));
  if (address === null) return false;
  return allowed.some((text) => {
    const single = parseIp(text);
    const range = single === null ? parseCidr(text) : hostCidr(single);
    return range !== null && cidrContains(range, address);
  });
}
