import { AppError } from '@gatehouse/platform';
import { Injectable, type PipeTransform } from '@nestjs/common';
import { REQUEST_ID } from './host-request.dto.js';

/** The id of a recorded request in a path, else 400. */
@Injectable()
export class RequestIdPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (REQUEST_ID.test(text)) return text;
    const message = 'must be the id of a request';
    throw new AppError('INVALID_ARGUMENT', `requestId: ${message}`, { details: [{ field: 'requestId', message }] });
  }
}
