import type { Application, NextFunction, Request, RequestHandler, Response } from 'express';

/** The parts of Express 5's router layers that are used here. */
interface Layer {
  readonly handle: unknown;
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
  handleRequest(request: Request, response: Response, next: NextFunction): void;
}

type Routes = ReadonlyMap<string, Layer>;

/**
 * Finds the route of a fixed path such as /api/things in one step, where Express would try every route before it.
 * Everything between this and the routes still runs: `steps`, which the application uses after this, in their order.
 */
export function fixedRoutes(application: Application, steps: readonly RequestHandler[]): RequestHandler {
  let known: Routes | undefined;
  return (request, response, next) => {
    // Routes are complete when the first request comes.
    known ??= findRoutes(application, steps);
    const layer = known.get(`${request.method} ${pathOf(request.url)}`);
    if (layer === undefined) return next();
    const go = (index: number): void => {
      const step = steps[index];
      if (step === undefined) return enter(layer, request, response, next);
      void step(request, response, (error?: unknown) => (error === undefined ? go(index + 1) : next(error)));
    };
    go(0);
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function enter(layer: Layer, request: Request, response: Response, next: NextFunction): void {
  request.params = {};
  layer.handleRequest(request, response, (error?: unknown) => {
    // Express would continue after the route and reach the same one again.
    next(error ?? new Error(`the route of ${request.url} passed a request on`));
  });
}

/** The routes that Express would choose behind the steps, by method and path. */
function findRoutes(application: Application, steps: readonly RequestHandler[]): Routes {
  const { stack } = application.router as unknown as { stack: readonly Layer[] };
  const found = new Map<string, Layer>();
  const takers = new Map<string, readonly Layer[]>();
  const last = Math.max(...steps.map((step) => stack.findIndex(({ handle }) => handle === step)));
  for (const layer of stack.slice(last + 1)) {
    // The middleware between routes is unknown here, so routes behind it are left to Express.
    if (layer.route === undefined) break;
    const { path } = layer.route;
    if (typeof path !== 'string' || /[:*{]/.test(path)) continue;
    for (const method of methodsOf(layer)) {
      const others = takers.get(method) ?? stack.filter((other) => handles(other, method));
      takers.set(method, others);
      const first = others.find((other) => other.match(path) !== false);
      if (first === layer) found.set(`${method} ${path}`, layer);
    }
  }
  return found;
}

function methodsOf({ route }: Layer): string[] {
  const methods = Object.keys(route?.methods ?? {}).filter((method) => method !== '_all');
  if (methods.includes('get') && !methods.includes('head')) methods.push('head');
  return methods.map((method) => method.toUpperCase());
}

function handles(layer: Layer, method: string): boolean {
  return layer.route?.methods['_all'] === true || methodsOf(layer).includes(method);
}
