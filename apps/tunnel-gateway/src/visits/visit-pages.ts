import type { INestApplication } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { Visits } from './visits.service.js';

/** Runs before the console's middleware: visitors have no login, and their forms are parsed separately. */
export function visitPages(app: INestApplication): RequestHandler {
  const visits = app.get(Visits, { strict: false });
  return (request, response, next) => {
    if (request.path.startsWith('/visit/')) void visits.serve(request, response);
    else next();
  };
}
