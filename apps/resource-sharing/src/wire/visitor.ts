import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { SiteAccount } from '../site/site-account.entity.js';

/** Who looks at a page. */
export interface Visitor {
  /** Null without a login. */
  readonly account: SiteAccount | null;
  readonly sessionId: number | null;
  /** Token for the forms of this browser; gives the browser a cookie to tie it to where it has none. */
  readonly formToken: () => string;
  /** What everybody should know of how the site is reached. */
  readonly warning?: string;
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
