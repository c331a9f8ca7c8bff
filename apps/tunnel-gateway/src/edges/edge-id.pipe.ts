import { AppError } from '@gatehouse/platform';
import { Injectable, type PipeTransform } from '@nestjs/common';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of an edge in a path: a UUID, else 400. */
@Injectable()
export class EdgeIdPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (UUID.test(text)) return text.toLowerCase();
    const message = 'must be a UUID';
    throw new AppError('INVALID_ARGUMENT', `id: ${message}`, { details: [{ field: 'id', message }] });
  }
}
