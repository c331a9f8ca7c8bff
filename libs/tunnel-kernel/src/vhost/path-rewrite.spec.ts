import { expect, it } from 'vitest';
import { rewritePath } from './path-rewrite.js';

it.each<[string, string, string, string, string]>([
  // forward, location, replacement: what the target receives, and the prefix
  ['/app', '/app', '/', '/', '/app'],
  ['/app/', '/app', '/', '/', '/app'],
  ['/app?x=/1', '/app', '/', '/?x=/1', '/app'],
  ['/app/a/b?x=1', '/app', '/', '/a/b?x=1', '/app'],
  ['/app/a', '/app', '/v2', '/v2/a', '/app'],
  ['/app', '/app', '/v2', '/v2', '/app'],
  ['/app?x', '/app', '/v2', '/v2?x', '/app'],
  ['/a/b/c', '/a/b', '/', '/c', '/a/b'],
  ['/a/b', '/a/b', '/x/y', '/x/y', '/a/b'],
  ['/%C3%A4/c%20d', '/ä', '/', '/c%20d', '/%C3%A4'],
  ['/', '/', '/v2', '/v2/', ''],
  ['/c?d', '/', '/v2', '/v2/c?d', ''],
  ['/c', '/', '/', '/c', ''],
])('%s at %s with %s is %s', (forward, location, replacement, expected, prefix) => {
  expect(rewritePath(forward, location, replacement)).toEqual({ forward: expected, prefix });
});
