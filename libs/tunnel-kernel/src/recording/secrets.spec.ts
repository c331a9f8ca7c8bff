import { describe, expect, it } from 'vitest';
import { maskAddress, maskBody, maskField } from './secrets.js';

describe('an address without its secrets', () => {
  it.each([
    ['/a?b=1&token=abc&c=2', '/a?b=1&token=***&c=2'],
    ['/a?access_token=abc', '/a?access_token=***'],
    ['/a?X-Amz-Signature=abc&X-Amz-Date=1', '/a?X-Amz-Signature=***&X-Amz-Date=1'],
    ['/a?%74oken=abc', '/a?%74oken=***'],
    ['/a?b[password]=x', '/a?b[password]=***'],
    ['/a?code=abc&state=1', '/a?code=***&state=1'],
    ['/a?token=', '/a?token='],
    ['/a?next=/b?token=abc', '/a?next=/b?token=***'],
    ['/a?next=%2Fb%3Ftoken%3Dabc', '/a?next=***'],
    ['/a?next=%2Fb%3Fpage%3D2', '/a?next=%2Fb%3Fpage%3D2'],
    ['https://ann:pw@b.test/c', 'https://***@b.test/c'],
    ['https://b.test/c#id_token=abc&x=1', 'https://b.test/c#id_token=***&x=1'],
    ['/token/abc', '/token/abc'],
    ['/a?page=2&size=%ff', '/a?page=2&size=%ff'],
  ])('%s', (address, masked) => expect(maskAddress(address)).toBe(masked));
});

describe('a field without its secret', () => {
  it.each([
    ['Authorization', 'Bearer abc', 'Bearer ***'],
    ['authorization', 'abc', '***'],
    ['Proxy-Authorization', 'Basic YTpi', 'Basic ***'],
    ['Cookie', 'a=1; b=2', 'a=***; b=***'],
    ['Set-Cookie', 'sid=abc; Path=/; HttpOnly', 'sid=***; Path=/; HttpOnly'],
    ['X-Api-Key', 'abc', '***'],
    ['X-Functions-Key', 'abc', '***'],
    ['X-CSRF-Token', 'abc', '***'],
    ['Idempotency-Key', 'abc', 'abc'],
    ['Referer', 'https://b.test/?token=abc', 'https://b.test/?token=***'],
    ['Location', '/in#access_token=abc', '/in#access_token=***'],
    ['Content-Type', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ])('%s: %s', (name, value, masked) => expect(maskField(name, value)).toBe(masked));
});

describe('a body without its secrets', () => {
  const form = 'application/x-www-form-urlencoded';
  const parts = 'multipart/form-data; boundary=zz';
  const multipart = (password: string): string =>
    `--zz\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n--zz\r\n` +
    `Content-Disposition: form-data; name="password"\r\n\r\n${password}\r\n--zz--\r\n`;
  it.each([
    [form, 'user=ann&password=pw&x=1', 'user=ann&password=***&x=1'],
    [form, 'password=pw', 'password=***'],
    ['application/json', '{"user":"ann","password": "p\\"w","n":1}', '{"user":"ann","password": "***","n":1}'],
    ['application/json', '{"tokens":["a","b"],"x":"y"}', '{"tokens":["***","***"],"x":"y"}'],
    ['application/json', '{"max_tokens":512,"x":"y"}', '{"max_tokens":512,"x":"y"}'],
    ['application/json', '{"secret":"cut of', '{"secret":"***"'],
    ['text/plain', '"api_key" : "abc"', '"api_key" : "***"'],
    [parts, multipart('pw'), multipart('***')],
    ['text/html', '<p>password</p>', '<p>password</p>'],
  ])('%s: %s', (type, body, masked) => expect(maskBody(body, type)).toBe(masked));

  it.each([
    ['application/json', `"${'\\"'.repeat(256_000)}`],
    ['application/json', '"'.repeat(512_000)],
    ['application/json', `"a"${' '.repeat(512_000)}`],
    [form, '?'.repeat(512_000)],
    [form, 'a%3D'.repeat(128_000)],
    [parts, '--zz\r\nname='.repeat(48_000)],
  ])('is made in a moment, whatever a visitor sends (%s)', (type, body) => {
    // What is quadratic takes minutes: bodies of 64 KiB are read, and these are eight times as long.
    expect(maskBody(body, type).length).toBeLessThanOrEqual(body.length);
  });
});
