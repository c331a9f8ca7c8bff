import type { Translator } from '@gatehouse/i18n';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { SiteMessages } from '../messages/index.js';
import type { SiteAccount } from '../site/site-account.entity.js';
import type { Theme } from '@gatehouse/contracts';

/** A reader's preferences for pages. */
export interface ReaderView {
  readonly words: Translator<SiteMessages>;
  readonly theme: Theme;
  /** The time zone of times that no script converts to the reader's own. */
  readonly timeZone: string;
}

/** The visitor of a page. */
export interface Visitor extends ReaderView {
  /** Null without a login. */
  readonly account: SiteAccount | null;
  readonly sessionId: number | null;
  /** Up to 100, which stands for more. */
  readonly unreadNotices: number;
  /** Token for the forms of this browser; gives the browser a cookie to tie it to where it has none. */
  readonly formToken: () => string;
  /** True if the site is reached without HTTPS, so that services on other ports of its name get its cookies. */
  readonly cookiesAreShared: boolean;
  /** Path of the page, to return to. */
  readonly path: string;
}

/** A logged-in visitor. */
export type Member = Visitor & { readonly account: SiteAccount; readonly sessionId: number };

export function isMember(visitor: Visitor): visitor is Member {
  return visitor.account !== null && visitor.sessionId !== null;
}

const VISITORS = new WeakMap<object, Visitor>();

export function setVisitor(request: object, visitor: Visitor): void {
  VISITORS.set(request, visitor);
}

export function visitorOf(request: object): Visitor | undefined {
  return VISITORS.get(request);
}

/** The Visitor of a page; a Member if the page needs a login. */
export const CurrentVisitor = createParamDecorator((_: unknown, context: ExecutionContext): Visitor | undefined =>
  visitorOf(context.switchToHttp().getRequest<object>()),
);
