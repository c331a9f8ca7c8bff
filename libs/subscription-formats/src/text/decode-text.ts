/** Decodes a document. Byte order marks (UTF-8, UTF-16) are respected and removed; bad bytes become U+FFFD. */
export function decodeText(input: string | Uint8Array): string {
  const text = typeof input === 'string' ? input : decodeBytes(input);
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function decodeBytes(bytes: Uint8Array): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view[0] === 0xff && view[1] === 0xfe) return view.toString('utf16le');
  if (view[0] === 0xfe && view[1] === 0xff) {
    return Buffer.from(view.subarray(0, view.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  return view.toString('utf8');
}
