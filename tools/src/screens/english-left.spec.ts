import { expect, it } from 'vitest';
import { apiNames, englishLeft } from './english-left.js';

it('finds labels that are still in English, but not names', () => {
  expect(englishLeft(['Add another node', '添加节点', 'HTTP 和 SOCKS5'])).toEqual(['Add another node']);
  expect(englishLeft(['My own machine'], ['My own machine'])).toEqual([]);
});

it('finds names of the API in place of words', () => {
  expect(
    apiNames([
      'client.online',
      'share:manage',
      'share_id',
      'Client online',
      'url-test',
      '客户端上线',
      'example.localhost',
    ]),
  ).toEqual(['client.online', 'share:manage', 'share_id']);
});
