/** One message of a stream (WHATWG HTML, server-sent events). */
export interface StreamMessage {
  id: string;
  /** What kind of message it is. */
  event: string;
  data: string;
}

/** Longer lines are no messages of ours. */
const MAX_LINE = 1_048_576;

/** Reads a stream's messages; comments, pauses and other fields are passed over. Ends with the stream. */
export async function* readMessages(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  let id = '';
  let event = 'message';
  let data: string[] = [];
  for await (const line of readLines(stream)) {
    if (line === '') {
      if (data.length > 0) yield { id, event, data: data.join('\n') };
      data = [];
      event = 'message';
      continue;
    }
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new RangeError('a line of the stream is too long');
      yield* lines;
    }
  } finally {
    // A reader that stops ends the response, too.
    await reader.cancel().catch(() => undefined);
  }
}
