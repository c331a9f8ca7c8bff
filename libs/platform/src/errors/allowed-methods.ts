import type { Application } from 'express';

/** The parts of Express 5's router layers that are read here. */
interface RouteLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Methods of the routes that match a path, for the Allow header of a 405; empty when nothing matches. */
export function allowedMethods(application: Application, path: string): string[] {
  const { stack } = application.router as unknown as { stack: readonly RouteLayer[] };
  const methods = new Set<string>();
  for (const layer of stack) {
    if (layer.route === undefined || layer.route.methods['_all'] === true || !matches(layer, path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
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
