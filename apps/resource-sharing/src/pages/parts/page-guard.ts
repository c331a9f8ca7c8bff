import { AppError } from '@gatehouse/platform';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { postedRequest } from './posted-request.js';
import { isAuthorizePath } from './return-address.js';
import { setVisitor, type Visitor } from '../../wire/visitor.js';
import { Visitors } from './visitors.js';

export type PageAudience = 'everybody' | 'member' | 'administrator';
export const PAGE_AUDIENCE = 'gatehouse:page-audience';

/** Raised if the visitor has to log in first. */
export class LoginNeeded extends AppError {
  /** Where to continue afterwards. */
  readonly returnTo: string | undefined;

  constructor(returnTo: string | undefined) {
    super('UNAUTHORIZED', 'Log in first');
    this.returnTo = returnTo;
  }
}

/**
 * Guards every page: identifies the visitor, checks their rights, and checks that a form came from a page of this site.
 */
@Injectable()
export class PageGuard implements CanActivate {
  constructor(
    private readonly visitors: Visitors,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const visitor = await this.visitors.of(request, http.getResponse<Response>());
    setVisitor(request, visitor);
    const changes = request.method === 'POST' && postedRequest(request) === undefined;
    if (changes) this.visitors.assertOwnForm(request);
    const targets = [context.getHandler(), context.getClass()];
    const audience = this.reflector.getAllAndOverride<PageAudience | undefined>(PAGE_AUDIENCE, targets) ?? 'member';
    // The page of authorization has its request in its address; other forms have no page to return to.
    const returns = !changes || isAuthorizePath(request.originalUrl);
    assertAudience(visitor, audience, returns ? request.originalUrl : undefined);
    return true;
  }
}

function assertAudience({ account }: Visitor, audience: PageAudience, returnTo: string | undefined): void {
  if (audience === 'everybody') return;
  if (account === null) throw new LoginNeeded(returnTo);
  if (audience === 'administrator' && account.role !== 'administrator') {
    throw new AppError('FORBIDDEN', 'This page is for administrators');
  }
}
