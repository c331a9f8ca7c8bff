import type { Request } from 'express';

export const UNMATCHED = 'unmatched';

/** The template of the route that answered, such as `/api/v1/nodes/:id`. */
export function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : UNMATCHED;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Clients choose the text of the method; labels and names must not grow with it. */
export function knownMethod(method: string): string | undefined {
  return METHODS.has(method) ? method : undefined;
}
