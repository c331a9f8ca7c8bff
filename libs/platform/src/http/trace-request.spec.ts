import { describe, expect, it } from 'vitest';
import { maskedPath } from './trace-request.js';

describe('the path of a request in a trace', () => {
  it.each([
    ['/api/v1/nodes', '/api/v1/nodes', '/api/v1/nodes'],
    ['/api/v1/nodes/12', '/api/v1/nodes/:id', '/api/v1/nodes/12'],
    [
      '/things/0190d3c4-1f4e-7c3a-9a51-0242ac120002/a',
      '/things/:id/:name',
      '/things/0190d3c4-1f4e-7c3a-9a51-0242ac120002/***',
    ],
    ['/oauth/tokens/hat_secret', '/oauth/tokens/:token', '/oauth/tokens/***'],
    ['/', 'unmatched', '/'],
    ['/some/secret', 'unmatched', '/***'],
    ['/files/a/b', '/files/*path', '/***'],
  ])('%s of %s is %s', (path, route, expected) => {
    expect(maskedPath(path, route)).toBe(expected);
  });
});
