import { expect, it } from 'vitest';
import { hasToken, switchesTo, webSocketAccept } from './handshake.js';

it('the accept is the one in the example of RFC 6455 1.3', () => {
  expect(webSocketAccept('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
});

it.each([
  ['WebSocket', 'keep-alive , Upgrade', true],
  ['websocket', 'close', false],
  ['h2c', 'Upgrade', false],
  [undefined, undefined, false],
])('Upgrade: %s with Connection: %s switches to a WebSocket: %s', (upgrade, connection, switches) => {
  const fields: Record<string, string | undefined> = { upgrade, connection };
  expect(switchesTo('websocket', (name) => fields[name])).toBe(switches);
});

it('a token matches a whole item of a list', () => {
  expect(hasToken('a, b', 'b')).toBe(true);
  expect(hasToken('ab', 'b')).toBe(false);
});
