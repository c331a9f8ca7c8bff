import type { Application } from 'express';

/** The parts of Express 5's router layers that are read here. */
interface RouteLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * Methods of the routes that match a path, for the Allow header of a 405; empty when nothing matches. A fixed path such as
 * /things/export is no id of /things/:id.
 */
export function allowedMethods(application: Application, path: string): string[] {
  const { stack } = application.router as unknown as { stack: readonly RouteLayer[] };
  const routes = stack.flatMap((layer) => {
    const { route } = layer;
    return route === undefined || route.methods['_all'] === true || !matches(layer, path) ? [] : [route];
  });
  const fixed = routes.filter((route) => route.path === path);
  const methods = new Set<string>();
  for (const route of fixed.length > 0 ? fixed : routes) {
    for (const method of Object.keys(route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch (error) {
    // A path that cannot be decoded matches no route.
    if (error instanceof URIError || (error instanceof Error && 'status' in error)) return false;
    throw error;
  }
}
