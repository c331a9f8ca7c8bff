import { describe, expect, it } from 'vitest';
import { JsonLogger, type LogRecord } from './json-logger.js';
import { redactText, redactValue } from './redact.js';
import { runInRequestContext } from './request-context.js';

function capture(level: 'debug' | 'info' | 'warn' | 'error' | 'silent' = 'debug'): {
  logger: JsonLogger;
  lines: string[];
} {
  const lines: string[] = [];
  return { logger: new JsonLogger({ service: 'test', level, write: (line) => void lines.push(line) }), lines };
}

const parse = (line: string | undefined): Record<string, unknown> =>
  JSON.parse(line ?? '{}') as Record<string, unknown>;

describe('JsonLogger', () => {
  it('writes one JSON object a line', () => {
    const { logger, lines } = capture();
    logger.log('started\non two lines', { port: 8080, nested: { list: [1, 2] } }, 'Service');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
    expect(parse(lines[0])).toMatchObject({
      level: 'info',
      service: 'test',
      context: 'Service',
      message: 'started\non two lines',
      port: 8080,
      nested: { list: [1, 2] },
    });
    expect(parse(lines[0])['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('filters by level', () => {
    const { logger, lines } = capture('warn');
    logger.debug('a');
    logger.log('b');
    logger.warn('c');
    logger.error('d');
    expect(lines.map((line) => parse(line)['message'])).toEqual(['c', 'd']);
    logger.setLevel('silent');
    logger.fatal('e');
    expect(lines).toHaveLength(2);
  });

  it('shows what Nest lists at every start, modules and routes, only to those who debug', () => {
    const list = (level: 'info' | 'debug'): string[] => {
      const { logger, lines } = capture(level);
      logger.log('Mapped {/api/v1/rules, GET} route', 'RouterExplorer');
      logger.log('listening', { port: 8080 }, 'Service');
      return lines.map((line) => String(parse(line)['context']));
    };
    expect(list('info')).toEqual(['Service']);
    expect(list('debug')).toEqual(['RouterExplorer', 'Service']);
  });

  it('carries the request id through asynchronous work', async () => {
    const { logger, lines } = capture();
    await runInRequestContext({ requestId: 'req-1' }, async () => {
      await Promise.resolve();
      logger.log('inside');
    });
    logger.log('outside');
    expect(parse(lines[0])['request_id']).toBe('req-1');
    expect(parse(lines[1])['request_id']).toBeUndefined();
  });

  it('accepts errors as Nest passes them', () => {
    const { logger, lines } = capture();
    logger.error('failed', 'Error: x\n    at here', 'Router');
    logger.error(new TypeError('broken', { cause: new Error('root') }), 'Router');
    expect(parse(lines[0])).toMatchObject({ message: 'failed', context: 'Router', stack: 'Error: x\n    at here' });
    expect(parse(lines[1])).toMatchObject({
      message: 'broken',
      context: 'Router',
      error: { name: 'TypeError', cause: { message: 'root' } },
    });
  });

  it('does not let a field replace a standard field of the line', () => {
    const { logger, lines } = capture();
    logger.log('true', { message: 'false', level: 'fatal', request_id: 'forged' });
    expect(parse(lines[0])).toMatchObject({ message: 'true', level: 'info', level_: 'fatal' });
    expect(parse(lines[0])['request_id']).toBeUndefined();
  });

  it('passes redacted records to a tap until it is removed', () => {
    const { logger } = capture();
    const records: LogRecord[] = [];
    const stop = logger.tap((record) => records.push(record));
    logger.warn('careful', { password: 'hunter2' }, 'Kernel');
    stop();
    logger.warn('unheard');
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ level: 'warn', context: 'Kernel', fields: { password: '***' } });
  });
});

describe('redaction', () => {
  it.each([
    ['authorization', 'Bearer abc'],
    ['Cookie', 'a=b'],
    ['set-cookie', 'a=b'],
    ['password', 'x'],
    ['new_password', 'x'],
    ['access_token', 'x'],
    ['apiKey', 'x'],
    ['api_key', 'x'],
    ['key', 'x'],
    ['clientSecret', 'x'],
    ['raw_config', 'ss://x'],
    ['share_link', 'ss://x'],
    ['privateKey', 'x'],
  ])('hides the field %s', (name, value) => {
    expect(redactValue({ deep: [{ [name]: value }] })).toEqual({ deep: [{ [name]: '***' }] });
  });

  it('shows harmless neighbours', () => {
    const fields = { keyword: 'a', monkey: 'b', has_password: true, token: null, kept: 3 };
    expect(redactValue(fields)).toEqual(fields);
  });

  it.each([
    ['GET https://a.test/path?token=abc#x failed', 'GET https://a.test/path?*** failed'],
    ['postgres://gate:hunter2@db:5432/x', 'postgres://***@db:5432/x'],
    ['bad link ss://YWVzOnB3@1.2.3.4:80#n end', 'bad link ss://*** end'],
    ['vmess://eyJhZGQiOiJ4In0=', 'vmess://***'],
    ['header was Bearer abcdefgh.ijkl', 'header was Bearer ***'],
    ['key gpk_0123456789abcdefghij0123456789 used', 'key gpk_*** used'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.abc-def here', 'jwt *** here'],
    ['nothing to hide here at all', 'nothing to hide here at all'],
  ])('cleans "%s"', (text, clean) => {
    expect(redactText(text)).toBe(clean);
  });

  it('cleans the message and stack of errors, and their causes', () => {
    const error = new Error('connect postgres://u:hunter2@h/d', { cause: new Error('Bearer hunter2hunter2') });
    expect(JSON.stringify(redactValue(error))).not.toContain('hunter2');
  });

  it('bounds depth, length and cycles', () => {
    const cycle: Record<string, unknown> = { text: 'x'.repeat(20_000), list: Array.from({ length: 1_000 }, () => 1) };
    cycle['self'] = cycle;
    expect(JSON.stringify(redactValue(cycle)).length).toBeLessThan(100_000);
  });
});

describe('a separate level for one context', () => {
  it('applies to taps only, and together with the general level to the output', () => {
    const lines: string[] = [];
    const tapped: string[] = [];
    const logger = new JsonLogger({ service: 's', level: 'info', write: (line) => lines.push(line) });
    logger.tap(({ message }) => tapped.push(message));
    logger.setContextLevel('Kernel', 'debug');
    logger.debug('one', 'Kernel');
    logger.debug('two', 'Other');
    logger.setContextLevel('Kernel', 'error');
    logger.warn('three', 'Kernel');
    logger.error('four', 'Kernel');
    logger.log('five', 'Other');
    logger.setLevel('silent');
    logger.error('six', 'Kernel');
    logger.error('seven', 'Other');
    expect(tapped).toEqual(['one', 'four', 'five', 'six']);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['four', 'five']);
  });
});
