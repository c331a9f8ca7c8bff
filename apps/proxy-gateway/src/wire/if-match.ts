import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { AppError } from '@gatehouse/platform';
import type { Request } from 'express';

const READS_IF_MATCH = 'proxy-gateway:reads-if-match';

const header = createParamDecorator((_data: unknown, context: ExecutionContext): string | undefined =>
  context.switchToHttp().getRequest<Request>().headers['if-match']?.toString(),
);

/** The header If-Match (RFC 9110 section 13.1.1); undefined without it. Also documents it. */
export function IfMatch(): ParameterDecorator {
  const read = header();
  return (controller, name, index) => {
    read(controller, name, index);
    const handler: unknown = name === undefined ? undefined : Reflect.get(controller, name);
    if (typeof handler === 'function') Reflect.defineMetadata(READS_IF_MATCH, true, handler);
  };
}

export function readsIfMatch(handler: object): boolean {
  return Reflect.getMetadata(READS_IF_MATCH, handler) === true;
}

/** The entity tag of a row: it changes when somebody changes the row, not with its counters. */
export function versionTag(updatedAt: Date | string): string {
  return `"${new Date(updatedAt).getTime().toString(36)}"`;
}

/** Weak tags never match. @throws AppError PRECONDITION_FAILED */
export function requireVersion(updatedAt: Date, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  if (ifMatch.split(',').some((tag) => tag.trim() === versionTag(updatedAt))) return;
  throw new AppError('PRECONDITION_FAILED', 'It has changed since it was read; read it again');
}

/** The time of a change: now, but never equal to the previous change. */
export function nextVersion(updatedAt: Date): Date {
  return new Date(Math.max(Date.now(), updatedAt.getTime() + 1));
}
