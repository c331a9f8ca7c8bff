import { encodeSocksAddress, encodeSocksDatagram, SocksError } from '@gatehouse/net';
import { expect, it } from 'vitest';
import { decodeAddress, decodeDatagram } from './codec.js';

it('names are read in their normal form', () => {
  const bytes = encodeSocksAddress({ host: 'BÜCHER.de.', port: 80 });
  expect(decodeAddress(bytes)?.target).toEqual({ host: 'xn--bcher-kva.de', port: 80 });
  expect(() => decodeAddress(Buffer.from([3, 3, 97, 10, 97, 0, 80]))).toThrow(SocksError);
});

it('a datagram whose reserved bytes are not zero is dropped', () => {
  const datagram = encodeSocksDatagram({ host: '1.1.1.1', port: 80 }, Buffer.from('x'))!;
  expect(decodeDatagram(datagram)).toMatchObject({ target: { host: '1.1.1.1', port: 80 } });
  for (const at of [0, 1]) {
    const bytes = Buffer.from(datagram);
    bytes[at] = 1;
    expect(decodeDatagram(bytes)).toBeNull();
  }
});
