import type { Application, RequestHandler } from 'express';
import { AppError } from './app-error.js';

interface RouteLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
}

/**
 * Refuses with 405 a method for which a fixed path such as /things/export has no route, before a route with a parameter
 * such as /things/:id takes `export` as an id.
 */
export function fixedPathMethods(application: Application): RequestHandler {
  let known: ReadonlyMap<string, readonly string[]> | undefined;
  return (request, _response, next) => {
    // Routes are complete when the first request comes.
    known ??= methodsOfFixedPaths(application);
    const methods = known.get(request.path);
    // A preflight is answered by a service that admits other sites; otherwise it gets a 405 anyway.
    if (methods === undefined || methods.includes(request.method) || request.method === 'OPTIONS') return next();
    next(methodNotAllowed(request.method, methods));
  };
}

/** A 405 with the allowed methods. */
export function methodNotAllowed(method: string, allowed: readonly string[]): AppError {
  return new AppError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, {
    headers: { Allow: allowed.join(', ') },
  });
}

function methodsOfFixedPaths(application: Application): Map<string, string[]> {
  const { stack } = application.router as unknown as { stack: readonly RouteLayer[] };
  const found = new Map<string, Set<string>>();
  for (const { route } of stack) {
    if (typeof route?.path !== 'string' || /[:*{]/.test(route.path) || route.methods['_all'] === true) continue;
    const methods = found.get(route.path) ?? new Set<string>();
    for (const method of Object.keys(route.methods)) methods.add(method.toUpperCase());
    if (methods.has('GET')) methods.add('HEAD');
    found.set(route.path, methods);
  }
  return new Map([...found].map(([path, methods]) => [path, [...methods].sort()]));
}
