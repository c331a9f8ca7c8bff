import { namingFailure } from '@gatehouse/platform';
import type { RequestHandler } from 'express';

/** Nobody guesses passwords under the address of this machine while the kernel is too busy to say whose they are. */
export const refuseUnnamedLogins: RequestHandler = (request, _response, next) => {
  const failure = namingFailure(request);
  next(failure !== undefined && request.path.toLowerCase().includes('/auth/') ? failure : undefined);
};
