import type { Translator } from '@gatehouse/i18n';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { SiteMessages } from '../messages/index.js';
import type { SiteAccount } from '../site/site-account.entity.js';
import type { Theme } from '@gatehouse/contracts';

/** How a reader likes pages. */
export interface ReaderView {
  readonly words: Translator<SiteMessages>;
  readonly theme: Theme;
  /** In which times stand where no script puts them into the reader's own. */
  readonly timeZone: string;
}

/** Who looks at a page, and how. */
export interface Visitor extends ReaderView {
  /** Null without a login. */
  readonly account: SiteAccount | null;
  readonly sessionId: number | null;
  /** Up to 100, which stands for more. */
  readonly unreadNotices: number;
  /** Token for the forms of this browser; gives the browser a cookie to tie it to where it has none. */
  readonly formToken: () => string;
  /** The site is reached without HTTPS, so that services on other ports of its name get its cookies. */
  readonly cookiesAreShared: boolean;
  /** Path of the page, to come back to. */
  readonly path: string;
}

/** A visitor who is logged in. */
export type Member = Visitor & { readonly account: SiteAccount; readonly sessionId: number };

const VISITORS = new WeakMap<object, Visitor>();

export function setVisitor(request: object, visitor: Visitor): void {
  VISITORS.set(request, visitor);
}

export function visitorOf(request: object): Visitor | undefined {
  return VISITORS.get(request);
}

/** The Visitor of a page; a Member where the page needs a login. */
export const CurrentVisitor = createParamDecorator((_: unknown, context: ExecutionContext): Visitor | undefined =>
  visitorOf(context.switchToHttp().getRequest<object>()),
);
