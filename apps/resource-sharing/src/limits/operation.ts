import type { ExecutionContext } from '@nestjs/common';
import { RequestMethod } from '@nestjs/common';
import { OPEN_OPERATION, type OpenOperationOptions, type OpenScope } from '../credentials/caller.js';

/** One operation of the open API, for limits and counts. */
export interface Operation {
  /** A short key for memory. */
  readonly id: number;
  readonly method: string;
  /** Route template, such as `/api/open/resources/:type/:tmdb_id`. */
  readonly endpoint: string;
  /** Method and template. */
  readonly name: string;
  readonly scope: OpenScope;
  /** Counts against no daily quota. */
  readonly exempt: boolean;
}

const EXEMPT = /^\/api\/open\/(me$|checkin$|vip\/|shares($|\/))/;
const operations = new WeakMap<object, Operation | null>();
let count = 0;

/** Null if it is not one; metadata of a route never changes, so it is read once. */
export function operationOf(context: ExecutionContext): Operation | null {
  const handler = context.getHandler();
  const known = operations.get(handler);
  if (known !== undefined) return known;
  const options = Reflect.getMetadata(OPEN_OPERATION, handler) as OpenOperationOptions | undefined;
  const operation = options === undefined ? null : toOperation(context, options);
  operations.set(handler, operation);
  return operation;
}

function toOperation(context: ExecutionContext, { scope }: OpenOperationOptions): Operation {
  const handler = context.getHandler();
  const paths = [context.getClass(), handler].map((target) => pathOf(target));
  const endpoint = `/${paths.filter((path) => path !== '').join('/')}`;
  const method = RequestMethod[Reflect.getMetadata('method', handler) as RequestMethod];
  count += 1;
  return { id: count, method, endpoint, name: `${method} ${endpoint}`, scope, exempt: EXEMPT.test(endpoint) };
}

function pathOf(target: object): string {
  const [path] = [Reflect.getMetadata('path', target) as unknown].flat();
  return typeof path === 'string' ? path.replace(/^\/|\/$/g, '') : '';
}
