import { describe, expect, it } from 'vitest';
import { errorKindOf, readFlow, readLogLine } from './mihomo-flow-log.js';

const line = (level: string, message: string): string => `time="2026-11-28T02:00:00Z" level=${level} msg=${message}`;

describe("mihomo's log", () => {
  it.each([
    [
      line('info', '"[TCP] 127.0.0.1:5000 --> a.example:80 match DomainSuffix(example) using PROXY[n1]"'),
      'PROXY',
      'n1',
    ],
    [
      line('info', '"[UDP] [::1]:5000 --> 192.0.2.1:53 match And(((NETWORK,udp) && (GeoIP,x))) using REJECT"'),
      'REJECT',
      'REJECT',
    ],
    [line('info', '"[TCP] 127.0.0.1:5000 --> a.example:80 match Match using DIRECT"'), 'DIRECT', 'DIRECT'],
    [line('info', '"[TCP] 127.0.0.1:5000 --> a.example:80 doesn\'t match any rule using DIRECT"'), 'DIRECT', 'DIRECT'],
    [line('info', '"[TCP] 127.0.0.1:5000 --> a.example:80 match Match using a \\"group\\"[n2]"'), 'a "group"', 'n2'],
  ])('reports flows: %s', (text, target, outbound) => {
    expect(readFlow(readLogLine(text).message)).toMatchObject({ target, outbound, error: null });
  });

  it('reports failures with the reason', () => {
    const text = line(
      'warning',
      '"[TCP] dial PROXY (match DstPort/80) 127.0.0.1:5000 --> a.example:80 error: connect error: dial tcp 127.0.0.1:9: connect: connection refused"',
    );
    expect(readFlow(readLogLine(text).message)).toEqual({
      network: 'tcp',
      source: '127.0.0.1:5000',
      destination: 'a.example:80',
      rule: { type: 'DstPort', payload: '80' },
      target: 'PROXY',
      outbound: 'PROXY',
      error: 'connect error: dial tcp 127.0.0.1:9: connect: connection refused',
    });
  });

  it.each(['Start initial configuration in progress', '[TCP] something else', ''])('has other lines: %s', (message) => {
    expect(readFlow(message)).toBeNull();
  });

  it('has lines that are no log lines', () => {
    expect(readLogLine('panic: oh')).toEqual({ level: 'warning', message: 'panic: oh' });
  });

  it.each([
    ['connect: connection refused', 'connection_refused'],
    ['dial tcp 192.0.2.1:9: i/o timeout', 'timeout'],
    ["couldn't find ip", 'dns_error'],
    ['tls: failed to verify certificate: x509: unknown authority', 'tls_error'],
    ['something', 'other'],
  ])('says %s, which is %s', (error, kind) => {
    expect(errorKindOf(error)).toBe(kind);
  });
});
