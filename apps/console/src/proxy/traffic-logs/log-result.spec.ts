import { describe, expect, it } from 'vitest';
import { PROBLEMS, resultOf, toneOf, withResult, type ResultFields } from './log-result.js';

const log = (changes: Partial<ResultFields>): ResultFields => ({
  status: 'ok',
  network: 'tcp',
  method: null,
  http_status: null,
  upload: 100,
  download: 200,
  error_kind: null,
  close_reason: 'remote_closed',
  ...changes,
});

describe('the result of a connection', () => {
  it.each([
    ['completed', log({})],
    ['completed', log({ close_reason: 'client_closed' })],
    ['completed', log({ network: 'udp', close_reason: 'idle' })],
    // An answer without a body.
    ['completed', log({ method: 'GET', http_status: 204, download: 0 })],
    ['noAnswer', log({ download: 0 })],
    ['noAnswer', log({ download: 0, upload: 0 })],
    // 200 is what this gateway has said to its client.
    ['noAnswer', log({ method: 'CONNECT', http_status: 200, download: 0 })],
    ['idle', log({ close_reason: 'idle' })],
    ['closed', log({ close_reason: 'user', download: 0 })],
    ['stopped', log({ close_reason: 'shutdown' })],
    ['rejected', log({ status: 'rejected', close_reason: 'rejected' })],
    ['refused', log({ status: 'failed', error_kind: 'connection_refused' })],
    ['timedOut', log({ status: 'failed', error_kind: 'timeout' })],
    ['dns', log({ status: 'failed', error_kind: 'dns_error' })],
    ['failed', log({ status: 'failed', error_kind: 'protocol_error' })],
    ['failed', log({ status: 'failed' })],
  ] as const)('is %s', (result, fields) => {
    expect(resultOf(fields)).toBe(result);
  });

  it('is green only where something came back', () => {
    expect(toneOf('completed')).toBe('good');
    expect(toneOf('noAnswer')).toBe('fair');
    expect(toneOf('refused')).toBe('bad');
  });

  it('narrows the list', () => {
    const rows = [log({}), log({ download: 0 }), log({ status: 'failed', error_kind: 'timeout' })];
    expect(withResult(rows, '')).toBe(rows);
    expect(withResult(rows, 'timedOut')).toEqual([rows[2]]);
    expect(withResult(rows, PROBLEMS)).toEqual(rows.slice(1));
  });
});
