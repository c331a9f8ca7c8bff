import { createHash } from 'node:crypto';
import type { GeoDatabaseName } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { FetchFailure } from '../documents/fetch-failure.js';
import { KernelProxyAddress } from '../documents/kernel-proxy-address.js';
import { SubscriptionFetcher } from '../documents/subscription-fetcher.js';
import type { FetchReply, FetchRequest } from '../documents/subscription-fetcher.js';
import { GEO_SOURCES } from '../geo/geo-sources.js';
import type { GeoContent, GeoOrigin, GeoRow } from '../geo/geo-store.js';

export type Via = 'direct' | 'proxy';

export type GeoDownload =
  | { kind: 'not_modified'; via: Via; origin: GeoOrigin }
  | ({ kind: 'content'; via: Via; origin: GeoOrigin } & GeoContent);

/** A download that failed, with a message for users. */
export class GeoDownloadError extends Error {
  override readonly name = 'GeoDownloadError';
}

const USER_AGENT = 'gatehouse-geo-update';
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1_048_576;
const MAX_CHECKSUM_BYTES = 4_096;
const CHECKSUM_SUFFIXES = ['.sha256sum', '.sha256'];
/** Statuses that mean that no checksum is offered, rather than that fetching it failed. */
const NOT_OFFERED = new Set([401, 403, 404, 410]);

/**
 * Downloads a database from the first of its mirrors that has a valid one. A file is opened as a check before it is
 * kept.
 */
@Injectable()
export class GeoDownloader {
  private readonly fetcher = new SubscriptionFetcher();

  constructor(
    private readonly preferences: Preferences,
    private readonly kernel: KernelProxyAddress,
  ) {}

  /** @throws GeoDownloadError with the error of every mirror. */
  async download(name: GeoDatabaseName, present: GeoRow | undefined, urls: readonly string[]): Promise<GeoDownload> {
    const refusals: string[] = [];
    for (const url of urls) {
      try {
        return await this.fromMirror(name, present, url);
      } catch (error) {
        refusals.push(`${new URL(url).host}: ${reasonOf(error)}`);
      }
    }
    throw new GeoDownloadError(refusals.join(' '));
  }

  private async fromMirror(name: GeoDatabaseName, present: GeoRow | undefined, url: string): Promise<GeoDownload> {
    const known = present?.source_url === url && present.sha256 !== null ? present : undefined;
    const request = this.request(url, MAX_BYTES, known);
    const { via, reply } = await this.fetch(request);
    const { etag = null, 'last-modified': lastModified = null } = reply.headers;
    const origin = { url, etag, lastModified };
    if (reply.kind === 'not_modified') return { kind: 'not_modified', via, origin };
    const { content } = reply;
    const sha256 = createHash('sha256').update(content).digest('hex');
    await this.check(url, via, sha256);
    if (sha256 === present?.sha256) return { kind: 'not_modified', via, origin };
    return { kind: 'content', via, origin, content, sha256, facts: GEO_SOURCES[name].inspect(content) };
  }

  /** @throws GeoDownloadError when a checksum is offered and differs. */
  private async check(url: string, via: Via, sha256: string): Promise<void> {
    for (const suffix of CHECKSUM_SUFFIXES) {
      const expected = await this.checksum(besides(url, suffix), via);
      if (expected === null) continue;
      if (expected === sha256) return;
      throw new GeoDownloadError('The file does not match the checksum published with it.');
    }
  }

  private async checksum(url: string, via: Via): Promise<string | null> {
    const proxy = via === 'proxy' ? await this.kernel.find() : null;
    try {
      const reply = await this.fetcher.fetch({
        ...this.request(url, MAX_CHECKSUM_BYTES, undefined),
        ...(proxy === null ? {} : { proxy }),
      });
      const text = reply.kind === 'content' ? reply.content.toString('latin1') : '';
      return /^\s*([0-9a-f]{64})(\s|$)/i.exec(text)?.[1]?.toLowerCase() ?? null;
    } catch (error) {
      // A "not found" page with status 200 is too long for a checksum.
      if (error instanceof FetchFailure && (NOT_OFFERED.has(error.httpStatus ?? 0) || error.reason === 'too_large')) {
        return null;
      }
      throw error;
    }
  }

  /** Fetches directly, or through our own kernel if the network prevents that. */
  private async fetch(request: FetchRequest): Promise<{ via: Via; reply: FetchReply }> {
    try {
      return { via: 'direct', reply: await this.fetcher.fetch(request) };
    } catch (error) {
      if (!(error instanceof FetchFailure) || !['network_error', 'timeout'].includes(error.reason)) throw error;
      const proxy = await this.kernel.find();
      if (proxy === null) throw error;
      return { via: 'proxy', reply: await this.fetcher.fetch({ ...request, proxy }) };
    }
  }

  private request(url: string, maxBytes: number, known: GeoRow | undefined): FetchRequest {
    return {
      url,
      userAgent: USER_AGENT,
      timeoutMs: TIMEOUT_MS,
      maxBytes,
      allowPrivate: this.preferences.get('geo.allow_private'),
      etag: known?.etag ?? null,
      lastModified: known?.last_modified ?? null,
    };
  }
}

/** The URL of a file next to it; a query stays behind the path. */
function besides(url: string, suffix: string): string {
  const beside = new URL(url);
  beside.pathname += suffix;
  return beside.href;
}

/** Messages of the fetcher speak of subscriptions. Here the server is not a provider, and another setting applies. */
function reasonOf(error: unknown): string {
  if (error instanceof FetchFailure && error.reason === 'blocked_address') {
    return 'The address is private or reserved; geo.allow_private allows it.';
  }
  if (error instanceof FetchFailure) return error.message.replaceAll('The provider', 'The server');
  if (error instanceof GeoDownloadError) return error.message;
  if (error instanceof Error && error.name === 'GeoDatabaseError') return `Not a usable database: ${error.message}.`;
  throw error;
}
