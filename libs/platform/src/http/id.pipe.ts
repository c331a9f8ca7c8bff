import { AppError } from '../errors/app-error.js';
import { Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';

/** A row's id in a path: a 64-bit integer, or else 400; an id that no row can have gets 404 like any unknown id. */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(text: string): number {
    if (!/^-?\d{1,19}$/.test(text)) {
      const message = 'must be a 64-bit integer';
      throw new AppError('INVALID_ARGUMENT', `id: ${message}`, { details: [{ field: 'id', message }] });
    }
    const id = Number(text);
    if (!Number.isSafeInteger(id) || id < 1) throw new AppError('NOT_FOUND', `Nothing has the id ${text}`);
    return id;
  }
}
