/** One element in DER (X.690 8.1): tag, length, content of up to 64 KiB. */
export function der(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  if (body.length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, body.length]), body]);
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 0xff]), body]);
}
