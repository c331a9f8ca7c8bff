import { SECRET_BOX, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { openUrl } from '../sealed-url.js';
import { DocumentParser } from '../documents/document-parser.js';
import { FetchFailure } from '../documents/fetch-failure.js';
import { interpretReply, sha256 } from './interpret-reply.js';
import type { ReadReply } from './interpret-reply.js';
import { KernelProxyAddress } from '../documents/kernel-proxy-address.js';
import { SubscriptionFetcher } from '../documents/subscription-fetcher.js';
import type { FetchReply, FetchRequest } from '../documents/subscription-fetcher.js';
import type { SubscriptionEntity } from '../data/subscription.entity.js';

export type Route = 'direct' | 'proxy';

/** The result of a fetch, before the database is involved. */
export type Attempt = { via: Route; userAgent: string } & (
  | { kind: 'failed'; failure: FetchFailure }
  | { kind: 'not_modified'; fetched: Extract<FetchReply, { kind: 'not_modified' }> }
  | { kind: 'read'; fetched: Extract<FetchReply, { kind: 'content' }>; read: ReadReply }
);

/** Statuses by which networks and panels refuse an address, so that another route may work. */
const TURNED_AWAY = new Set([403, 451]);

/** Fetches and reads a subscription's reply, trying the routes and user agents that may work. */
@Injectable()
export class ReplyReader {
  constructor(
    private readonly fetcher: SubscriptionFetcher,
    private readonly parser: DocumentParser,
    private readonly kernel: KernelProxyAddress,
    private readonly preferences: Preferences,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Tries again with a user agent of the other family if the first reply is unusable. All errors of the provider are
   * part of the result.
   */
  async read(row: SubscriptionEntity, force: boolean): Promise<Attempt> {
    const chosen = this.chosenAgent(row);
    const [first, second] = row.workingUserAgent ? [row.workingUserAgent, chosen] : [chosen, otherFamily(chosen)];
    const request = this.request(row, first, force);
    const attempt = await this.attempt(row, request);
    if (!isUnusable(attempt) || second === first) return attempt;
    const other = await this.attempt(row, { ...request, userAgent: second, etag: null, lastModified: null });
    return other.kind === 'read' && !isUnusable(other) ? other : attempt;
  }

  /** The user agent of the subscription, or else of the setting. */
  chosenAgent(row: SubscriptionEntity): string {
    return row.userAgent ?? this.preferences.get('subscription.user_agent');
  }

  private async attempt(row: SubscriptionEntity, request: FetchRequest): Promise<Attempt> {
    const { userAgent } = request;
    let via: Route = 'direct';
    try {
      const got = await this.fetch(request);
      ({ via } = got);
      const { fetched } = got;
      if (fetched.kind === 'not_modified') return { kind: 'not_modified', via, userAgent, fetched };
      if (!fetched.whole && row.contentSha256 !== null) await this.confirm(row.contentSha256, fetched.content, request);
      const document = await this.parser.parse(fetched.content, { type: row.type, profile: row.bringRules });
      return { kind: 'read', via, userAgent, fetched, read: interpretReply(fetched, document) };
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
      if (this.preferences.get('subscription.via_proxy') === 'always') via = 'proxy';
      return { kind: 'failed', via, userAgent, failure: error };
    }
  }

  /**
   * A changed reply whose end cannot be verified may be truncated: it is accepted only if a second fetch gives the
   * same.
   */
  private async confirm(before: string, content: Buffer, request: FetchRequest): Promise<void> {
    if (sha256(content) === before) return;
    const { fetched } = await this.fetch({ ...request, etag: null, lastModified: null });
    if (fetched.kind === 'content' && fetched.content.equals(content)) return;
    throw new FetchFailure('network_error', 'The reply has no length, and a second one differs from it.');
  }

  private async fetch(request: FetchRequest): Promise<{ via: Route; fetched: FetchReply }> {
    const policy = this.preferences.get('subscription.via_proxy');
    if (policy === 'always') return { via: 'proxy', fetched: await this.fetcher.fetch(await this.proxied(request)) };
    try {
      return { via: 'direct', fetched: await this.fetcher.fetch(request) };
    } catch (error) {
      if (policy === 'never' || !(error instanceof FetchFailure) || !mayDoBetter(error)) throw error;
      const proxy = await this.kernel.find();
      if (proxy === null) throw error;
      try {
        return { via: 'proxy', fetched: await this.fetcher.fetch({ ...request, proxy }) };
      } catch (further) {
        // The first error is the one that the owner can do something about.
        if (further instanceof FetchFailure) throw error;
        throw further;
      }
    }
  }

  private async proxied(request: FetchRequest): Promise<FetchRequest> {
    const proxy = await this.kernel.find();
    if (proxy !== null) return { ...request, proxy };
    throw new FetchFailure('network_error', 'The proxy kernel, through which this should go, is not listening.');
  }

  private request(row: SubscriptionEntity, userAgent: string, force: boolean): FetchRequest {
    return {
      url: openUrl(this.box, 'subscriptions', row),
      userAgent,
      timeoutMs: this.preferences.get('subscription.timeout_ms'),
      maxBytes: this.preferences.get('subscription.max_bytes'),
      allowPrivate: row.allowPrivate || this.preferences.get('subscription.allow_private'),
      etag: force ? null : row.etag,
      lastModified: force ? null : row.lastModified,
    };
  }
}

function isUnusable(attempt: Attempt): boolean {
  return attempt.kind === 'read' && attempt.read.reply.kind === 'unusable';
}

function mayDoBetter({ reason, httpStatus }: FetchFailure): boolean {
  if (reason === 'http_status') return httpStatus !== null && TURNED_AWAY.has(httpStatus);
  return reason === 'network_error' || reason === 'timeout';
}

/** Panels that check the user agent send Clash YAML to one family and base64 links to the other. */
const CLASH_FAMILY = /clash|mihomo|stash|meta|verge|surge|sing-box/i;
const CLASH_AGENT = 'clash.meta/1.19 gatehouse';
const LINKS_AGENT = 'v2rayN/7.12';

/** A user agent of the other family. */
function otherFamily(userAgent: string): string {
  return CLASH_FAMILY.test(userAgent) ? LINKS_AGENT : CLASH_AGENT;
}
