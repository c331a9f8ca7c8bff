import type { INestApplication } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { Visits } from './visits.service.js';

/** Before everything that is for people of the console: visitors have no login, and their forms are read by who knows them. */
export function visitPages(app: INestApplication): RequestHandler {
  const visits = app.get(Visits, { strict: false });
  return (request, response, next) => {
    if (request.path.startsWith('/visit/')) void visits.serve(request, response);
    else next();
  };
}
