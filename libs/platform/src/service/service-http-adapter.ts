import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';
import { addHeader } from '../http/exchange.js';
import { isKnownAnswer } from '../http/known-answer.js';
import { compress, isToBeCompressed } from './compress-answer.js';

type Handler = Parameters<ExpressAdapter['setNotFoundHandler']>[0];

/** The wire format of a handler's result. */
export type Presentation = (result: unknown, status: number) => unknown;

/** The strong entity tag of a handler's result; undefined if it has none. */
export type EntityTag = (result: unknown) => string | undefined;

const TAGGED = new Set(['GET', 'HEAD', 'PATCH']);

/**
 * Express with one not-found handler at the root, so that an address outside the global prefix also gets our error
 * body, and with a shortcut for JSON.
 */
export class ServiceHttpAdapter extends ExpressAdapter {
  /**
   * Applied to everything that handlers return, except files. This and the tag are here and not in interceptors, because
   * those cost as much as the rest of Nest.
   */
  present: Presentation | undefined;

  /** Asked for the result of every read and PATCH; If-None-Match is compared with it. */
  entityTag: EntityTag | undefined;

  /** Whether long answers are compressed for clients that support it. */
  compresses = false;

  override setNotFoundHandler(handler: Handler): unknown {
    return this.use(handler);
  }

  override reply(response: Response, body: unknown, status?: number): unknown {
    const answered = status ?? response.statusCode;
    const tag = TAGGED.has(response.req.method) ? this.entityTag?.(body) : undefined;
    if (tag !== undefined) response.setHeader('ETag', tag);
    if (answered === 200 && isKnownAnswer(response)) return response.status(304).end();
    const isFile = body instanceof StreamableFile;
    const shown = this.present === undefined || isFile ? body : this.present(body, answered);
    if (
      typeof shown !== 'object' ||
      shown === null ||
      isFile ||
      hasNoBody(answered) ||
      response.hasHeader('Content-Type')
    ) {
      return super.reply(response, shown, status);
    }
    const text = JSON.stringify(shown);
    response.statusCode = answered;
    addHeader(response, 'Content-Type', 'application/json; charset=utf-8');
    if (this.compresses) addHeader(response, 'Vary', 'Accept-Encoding');
    if (this.compresses && isToBeCompressed(response.req, answered, text)) return sendCompressed(response, text);
    addHeader(response, 'Content-Length', String(Buffer.byteLength(text)));
    return response.end(text);
  }
}

async function sendCompressed(response: Response, text: string): Promise<void> {
  const body = await compress(text).catch(() => null);
  // The client may have left in the meantime.
  if (response.destroyed) return;
  if (body === null) {
    addHeader(response, 'Content-Length', String(Buffer.byteLength(text)));
    response.end(text);
    return;
  }
  addHeader(response, 'Content-Encoding', 'gzip');
  addHeader(response, 'Content-Length', String(body.length));
  response.end(body);
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
