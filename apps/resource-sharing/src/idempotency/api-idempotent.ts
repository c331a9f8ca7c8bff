import { ApiHeader } from '@nestjs/swagger';

/** Describes an operation that goes through IdempotentRequests. */
export const ApiIdempotent = (): MethodDecorator & ClassDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'A repeat with the same key within 24 hours gets the first answer, with Idempotency-Replayed: true; 409 while the ' +
      'first is running, 422 when it was another request',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  });
