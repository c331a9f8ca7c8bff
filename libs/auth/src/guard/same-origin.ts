import { AppError } from '@gatehouse/platform';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { HttpRequest } from './http-request.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Browsers attach cookies to requests that other sites cause; such requests may not change anything here. */
export function refuseForeignOrigin(request: HttpRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
  const { origin } = request.headers;
  if (origin !== undefined && hostOf(origin) !== request.host) throw foreign();
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function foreign(): AppError {
  return new AppError('FORBIDDEN', 'This request came from another site');
}

/**
 * For routes that open a session without one. A form of another site would log its visitor in as another user, who
 * then sees what the visitor does (RFC 9700 section 4.7).
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    refuseForeignOrigin(context.switchToHttp().getRequest<HttpRequest>());
    return true;
  }
}
