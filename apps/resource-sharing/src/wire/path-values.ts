import { AppError } from '@gatehouse/platform';
import { Injectable, type PipeTransform } from '@nestjs/common';

/** An id in a path; NOT_FOUND for a text that cannot be one. */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(value: string): number {
    const id = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    if (id === 0) throw new AppError('NOT_FOUND');
    return id;
  }
}

/** A client id in a path; NOT_FOUND for a text that cannot be one. */
@Injectable()
export class ClientIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!/^[\w-]{1,64}$/.test(value)) throw new AppError('NOT_FOUND', 'The application does not exist');
    return value;
  }
}
