import express, {
  type Application,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { fixedRoutes } from './fixed-routes.js';

const WAY = 'X-Way';

/** A step that writes down that it was passed, and whether Express or the short way led to it. */
function step(name: string, taken: string[]): RequestHandler {
  return (_request, response, next) => {
    taken.push(name);
    response.setHeader(WAY, taken.join(' '));
    next();
  };
}

/** `routes` come behind two steps, as those of a service do; `early` before them. */
function application(routes: (app: Application) => void, early: (app: Application) => void = () => undefined) {
  const taken: string[] = [];
  const steps = [step('first', taken), step('second', taken)];
  const app = express();
  app.use(fixedRoutes(app, steps));
  early(app);
  app.use((_request, _response, next) => {
    taken.push('express');
    next();
  });
  for (const each of steps) app.use(each);
  routes(app);
  app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
    response.status(500).send(error.message);
  });
  return app;
}

const say =
  (text: string): RequestHandler =>
  (asked, response) =>
    void response.send(`${text} ${asked.route?.path} ${JSON.stringify(asked.query)}`);

describe('fixedRoutes', () => {
  it('runs the steps and then the route, and skips the rest', async () => {
    const app = application((routes) => routes.get('/things', say('all')).post('/things', say('new')));
    const read = await request(app).get('/things?page=2');
    expect(read.headers['x-way']).toBe('first second');
    expect(read.text).toBe('all /things {"page":"2"}');
    expect((await request(app).post('/things')).text).toBe('new /things {}');
    const head = await request(app).head('/things');
    expect(head.status).toBe(200);
    expect(head.headers['x-way']).not.toContain('express');
  });

  it.each(['/THINGS', '/things/', '/things/7', '//things'])('leaves %s to Express', async (path) => {
    const app = application((routes) => routes.get('/things/:id', say('one')).get('/things', say('all')));
    const found = await request(app).get(path);
    const way = found.headers['x-way'] as string | undefined;
    expect(way).toContain('express first second');
  });

  it('chooses the same route as Express', async () => {
    const app = application(
      (routes) => routes.get('/things/:id', say('one')).get('/things/new', say('new')).get('/early', say('late')),
      (before) => before.get('/early', say('early')),
    );
    expect((await request(app).get('/things/new')).text).toContain('one');
    const early = await request(app).get('/early');
    expect(early.text).toContain('early /early');
    expect(early.headers['x-way']).toBeUndefined();
  });

  it('leaves routes behind an unknown middleware to Express', async () => {
    const app = application((routes) =>
      routes
        .use((_request, response, next) => {
          response.setHeader('X-Seen', 'yes');
          next();
        })
        .get('/things', say('all')),
    );
    expect((await request(app).get('/things')).headers['x-seen']).toBe('yes');
  });

  it('passes on the error of a step or of the route', async () => {
    const app = application((routes) =>
      routes
        .get('/throws', () => {
          throw new Error('thrown');
        })
        .get('/rejects', () => Promise.reject(new Error('rejected')))
        .get('/passes', (_request, _response, next) => next()),
    );
    expect((await request(app).get('/throws')).text).toBe('thrown');
    expect((await request(app).get('/rejects')).text).toBe('rejected');
    // Not entered a second time.
    expect((await request(app).get('/passes')).text).toBe('the route of /passes passed a request on');
    const failing = express();
    const refuse: RequestHandler = (_request, _response, next) => next(new Error('refused'));
    failing.use(fixedRoutes(failing, [refuse]));
    failing.use(refuse).get('/things', say('all'));
    failing.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
      response.status(400).send(error.message);
    });
    expect((await request(failing).get('/things')).text).toBe('refused');
  });
});
