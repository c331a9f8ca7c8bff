import { namingFailure } from '@gatehouse/platform';
import type { RequestHandler } from 'express';

/**
 * Refuses logins that come from this machine's address while the kernel is too busy to say which client they belong to:
 * such guesses could not be counted for anyone.
 */
export const refuseUnnamedLogins: RequestHandler = (request, _response, next) => {
  const failure = namingFailure(request);
  next(failure !== undefined && request.path.toLowerCase().includes('/auth/') ? failure : undefined);
};
