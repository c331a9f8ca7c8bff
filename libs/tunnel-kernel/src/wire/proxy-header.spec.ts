import { describe, expect, it } from 'vitest';
import { proxyHeader } from './proxy-header.js';

const v4 = { address: '192.0.2.7', port: 56_324 };
const v6 = { address: '2001:db8::7', port: 443 };
const door = { address: '198.51.100.1', port: 443 };

describe('the header of the PROXY protocol', () => {
  it('has version 1 for IPv4 and IPv6', () => {
    expect(proxyHeader(1, v4, door).toString()).toBe('PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n');
    expect(proxyHeader(1, v6, v6).toString()).toBe('PROXY TCP6 2001:db8:0:0:0:0:0:7 2001:db8:0:0:0:0:0:7 443 443\r\n');
  });

  it('has version 2 for IPv4 and IPv6', () => {
    const signature = '0d0a0d0a000d0a515549540a';
    expect(proxyHeader(2, v4, door).toString('hex')).toBe(`${signature}2111000cc0000207c6336401dc0401bb`);
    const six = '20010db8000000000000000000000007';
    expect(proxyHeader(2, v6, v6).toString('hex')).toBe(`${signature}21210024${six}${six}01bb01bb`);
  });

  it('maps IPv4 into IPv6 if the families differ, and maps back', () => {
    expect(proxyHeader(1, v6, door).toString()).toContain('0:0:0:0:0:ffff:c633:6401');
    expect(proxyHeader(1, { address: '::ffff:192.0.2.7', port: 1 }, door).toString()).toContain('TCP4 192.0.2.7');
  });

  it('can say that the address is unknown', () => {
    const unknown = { address: '', port: 0 };
    expect(proxyHeader(1, unknown, door).toString()).toBe('PROXY UNKNOWN\r\n');
    expect(proxyHeader(2, unknown, door).toString('hex')).toMatch(/20000000$/);
  });
});
