import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { FetchFailure } from '../documents/fetch-failure.js';
import { SubscriptionFetcher } from '../documents/subscription-fetcher.js';
import type { FetchReply } from '../documents/subscription-fetcher.js';
import { RuleSetFailure } from './rule-set-failure.js';
import { RuleSetFolder } from './rule-set-folder.js';
import type { RuleSetEntity } from '../data/rule-set.entity.js';

export type SourceReply =
  | { kind: 'not_modified'; httpStatus: number | null; etag: string | null; lastModified: string | null }
  | {
      kind: 'content';
      httpStatus: number | null;
      etag: string | null;
      lastModified: string | null;
      content: Buffer;
      bytes: number;
    };

type Asked = Pick<RuleSetEntity, 'type' | 'path' | 'etag' | 'lastModified' | 'allowPrivate'>;

/** Anything longer is not a validator. */
const MAX_VALIDATOR = 1_000;

/** Reads the content of a rule set from its source. */
@Injectable()
export class ContentSource {
  constructor(
    private readonly fetcher: SubscriptionFetcher,
    private readonly folder: RuleSetFolder,
    private readonly preferences: Preferences,
  ) {}

  /** @throws RuleSetFailure. */
  async get(set: Asked, { url, force }: { url: string | null; force: boolean }): Promise<SourceReply> {
    const maxBytes = this.preferences.get('subscription.max_bytes');
    if (set.type === 'http' && url !== null) return this.fetch(set, { url, force, maxBytes });
    const facts = { httpStatus: null, etag: null, lastModified: null };
    if (set.type !== 'file' || set.path === null) return { kind: 'not_modified', ...facts };
    const content = await this.folder.read(set.path, maxBytes);
    return { kind: 'content', ...facts, content, bytes: content.length };
  }

  private async fetch(
    set: Asked,
    { url, force, maxBytes }: { url: string; force: boolean; maxBytes: number },
  ): Promise<SourceReply> {
    try {
      const reply = await this.fetcher.fetch({
        url,
        userAgent: this.preferences.get('subscription.user_agent'),
        timeoutMs: this.preferences.get('subscription.timeout_ms'),
        maxBytes,
        allowPrivate: set.allowPrivate || this.preferences.get('subscription.allow_private'),
        etag: force ? null : set.etag,
        lastModified: force ? null : set.lastModified,
      });
      return toReply(reply);
    } catch (error) {
      throw toFailure(error);
    }
  }
}

function toReply(reply: FetchReply): SourceReply {
  const { httpStatus, headers } = reply;
  const validator = (name: string): string | null => {
    const value = headers[name];
    return value === undefined || value.length > MAX_VALIDATOR ? null : value;
  };
  const facts = { httpStatus, etag: validator('etag'), lastModified: validator('last-modified') };
  if (reply.kind === 'not_modified') return { kind: 'not_modified', ...facts };
  return { kind: 'content', ...facts, content: reply.content, bytes: reply.receivedBytes };
}

/** Replaces the fetcher's wording, which is about subscriptions. */
function toFailure(error: unknown): unknown {
  if (!(error instanceof FetchFailure)) return error;
  const message = error.message.replace('on the subscription', 'on the rule set').replace('The provider', 'The server');
  const reason =
    error.reason === 'html_response' || error.reason === 'shrunk_below_threshold' ? 'parse_error' : error.reason;
  return new RuleSetFailure(reason, message, { cause: error, httpStatus: error.httpStatus });
}
