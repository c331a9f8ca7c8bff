import { randomBytes } from 'node:crypto';
import { SessionCookie, SessionStore } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Notices } from '../../notices/notices.service.js';
import { ResourceSharingSettings } from '../../settings.js';
import type { SiteAccount } from '../../site/site-account.entity.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { FormTokens } from './form-tokens.js';
import { readerView } from './reader-view.js';
import type { Visitor } from '../../wire/visitor.js';

/** Name of the field with the token in every form. */
export const TOKEN_FIELD = '_token';
const VISIT_COOKIE = 'gatehouse_visit';
const VISIT_SECONDS = 86_400;
const FROM_HERE = new Set([undefined, 'same-origin', 'none']);

/** Identifies the visitor of a page, and checks whether a form came from this site. */
@Injectable()
export class Visitors {
  private readonly visits: SessionCookie;

  constructor(
    private readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly accounts: SiteAccounts,
    private readonly notices: Notices,
    private readonly tokens: FormTokens,
    private readonly settings: ResourceSharingSettings,
  ) {
    this.visits = new SessionCookie(VISIT_COOKIE, settings.secureCookies);
  }

  async of(request: Request, response: Response): Promise<Visitor> {
    const token = this.cookie.read(request.headers);
    const session = token === undefined ? undefined : await this.sessions.verify(token);
    let formToken: string | undefined;
    const [account, unread] =
      session === undefined
        ? [null, 0]
        : await Promise.all([this.accounts.findActive(session.userId), this.notices.unread(session.userId)]);
    return {
      account,
      sessionId: account === null ? null : (session?.id ?? null),
      unreadNotices: account === null ? 0 : unread,
      // A page has several forms, and its browser one cookie.
      formToken: () => (formToken ??= this.tokens.of(this.tied(request) ?? this.tie(response))),
      ...this.view(request, account),
    };
  }

  /** What is known of a reader before any login was looked up; enough for a page about an error. */
  view(
    request: Request,
    account: SiteAccount | null = null,
  ): Omit<Visitor, 'account' | 'sessionId' | 'unreadNotices' | 'formToken'> {
    const { cookiesAreShared, timeZone } = this.settings;
    return {
      ...readerView(request, timeZone, account),
      cookiesAreShared,
      path: request.method === 'GET' ? request.originalUrl : '/',
    };
  }

  /**
   * The page of authorization sends no referrer, and then browsers send no origin either (`null`), so the token
   * decides.
   * @throws FORBIDDEN for a form of another site (RFC 9700 section 4.7).
   */
  assertOwnForm(request: Request): void {
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    const foreign = origin !== undefined && origin !== 'null' && hostOf(origin) !== request.host;
    if (foreign || !FROM_HERE.has(site as string | undefined)) {
      throw new AppError('FORBIDDEN', 'This request came from another site');
    }
    const body = request.body as Record<string, unknown> | undefined;
    if (!this.tokens.matches(this.tied(request), body?.[TOKEN_FIELD])) {
      throw new AppError('FORBIDDEN', 'This form is no longer valid: go back, reload the page and try again');
    }
  }

  private tied(request: Request): string | undefined {
    return this.cookie.read(request.headers) ?? this.visits.read(request.headers);
  }

  private tie(response: Response): string {
    const visit = randomBytes(32).toString('base64url');
    response.setHeader('Set-Cookie', this.visits.open(visit, VISIT_SECONDS));
    return visit;
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
