import { AppError } from '@gatehouse/platform';
import type { HttpRequest } from './http-request.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Browsers attach cookies to requests that other sites cause; those may not change anything here. */
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
