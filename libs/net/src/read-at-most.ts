/** All bytes of a source that has at most `maxBytes`. Null: it has more; the rest is not read. @throws Error of the source */
export async function readAtMost(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of source) {
    size += part.length;
    if (size > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}
