import { describe, expect, it } from 'vitest';
import { readMessages, type StreamMessage } from './event-stream.js';

/** `size`: bytes of a chunk; otherwise each text is one. */
function streamOf(
  texts: readonly string[],
  size?: number,
): { stream: ReadableStream<Uint8Array>; isCancelled: () => boolean } {
  let cancelled = false;
  const encoder = new TextEncoder();
  const chunks = texts.map((text) => encoder.encode(text)).flatMap((bytes) => cut(bytes, size ?? bytes.length));
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => void (cancelled = true),
  });
  return { stream, isCancelled: () => cancelled };
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
}

async function allOf(texts: readonly string[], size?: number): Promise<StreamMessage[]> {
  const all: StreamMessage[] = [];
  for await (const message of readMessages(streamOf(texts, size).stream)) all.push(message);
  return all;
}

describe('a stream of events', () => {
  it('is read however it is cut', async () => {
    const text = ': hello\n\nid: 7\nevent: a.b\ndata: {"x":"ä"}\n\nretry: 10\n\nid: 8\r\ndata:1\r\ndata: 2\r\n\r\n';
    const expected = [
      { id: '7', event: 'a.b', data: '{"x":"ä"}' },
      { id: '8', event: 'message', data: '1\n2' },
    ];
    expect(await allOf([text])).toEqual(expected);
    for (const size of [1, 2, 7]) expect(await allOf([text], size)).toEqual(expected);
  });

  it('drops a message that was not finished', async () => {
    expect(await allOf(['id: 1\ndata: a\n\nid: 2\ndata: b\n'])).toEqual([{ id: '1', event: 'message', data: 'a' }]);
  });

  it('ends when its reader stops', async () => {
    const { stream, isCancelled } = streamOf(['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']);
    for await (const { data } of readMessages(stream)) if (data === '1') break;
    expect(isCancelled()).toBe(true);
  });

  it('does not keep a line without an end', async () => {
    await expect(allOf(['x'.repeat(600_000), 'x'.repeat(600_000), '\n'])).rejects.toThrow('too long');
  });
});
