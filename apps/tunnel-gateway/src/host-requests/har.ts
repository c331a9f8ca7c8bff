import { STATUS_CODES } from 'node:http';
import type { HarArchive, HarContent, HarEntry, HarNameValue, HarPostData, HarTimings } from '@gatehouse/contracts';
import type { RecordedDetail, RecordedMessage } from '@gatehouse/tunnel-kernel';
import { SERVICE_VERSION } from '../service-version.js';

/** Recorded requests in HTTP Archive 1.2, in the order that is given. Cookies are secrets, and stay out. */
export function toHar(records: readonly RecordedDetail[]): HarArchive {
  const creator = { name: 'Gatehouse tunnel-gateway', version: SERVICE_VERSION };
  return { log: { version: '1.2', creator, entries: records.map(toEntry) } };
}

function toEntry(record: RecordedDetail): HarEntry {
  const { id, method, target, asked, answered, endedMs, visitor } = record;
  const httpVersion = `HTTP/${record.version}`;
  const body = asked?.body ?? null;
  return {
    startedDateTime: new Date(record.startedAt).toISOString(),
    time: endedMs ?? record.answeredMs ?? 0,
    request: {
      method,
      url: `${record.scheme}://${record.authority}${target}`,
      httpVersion,
      cookies: [],
      headers: headersOf(asked),
      queryString: queryOf(target),
      ...(body && { postData: postDataOf(asked, body) }),
      headersSize: record.request.head,
      bodySize: record.request.body,
    },
    response: {
      status: record.status ?? 0,
      statusText: STATUS_CODES[record.status ?? 0] ?? '',
      httpVersion,
      cookies: [],
      headers: headersOf(answered),
      content: contentOf(record),
      redirectURL: fieldOf(answered, 'location'),
      headersSize: record.answer.head,
      bodySize: record.answer.body,
    },
    cache: {},
    timings: timingsOf(record),
    ...(endedMs === null && { comment: 'still running' }),
    _id: id,
    _visitor: visitor,
    _error: record.error ?? record.failure,
  };
}

function headersOf(message: RecordedMessage | null): HarNameValue[] {
  return message?.fields.map(([name, value]) => ({ name, value })) ?? [];
}

function fieldOf(message: RecordedMessage | null, name: string): string {
  return message?.fields.find(([field]) => field.toLowerCase() === name)?.[1] ?? '';
}

function queryOf(target: string): HarNameValue[] {
  const at = target.indexOf('?');
  if (at < 0) return [];
  return [...new URLSearchParams(target.slice(at + 1))].map(([name, value]) => ({ name, value }));
}

type Body = NonNullable<RecordedMessage['body']>;

function postDataOf(message: RecordedMessage | null, { content, encoding, truncated }: Body): HarPostData {
  // Unlike the body of an answer, that of a request has no field for its encoding.
  const notes = [...(encoding === 'base64' ? ['base64'] : []), ...(truncated ? ['truncated'] : [])];
  return {
    mimeType: fieldOf(message, 'content-type'),
    text: content,
    ...(notes.length > 0 && { comment: notes.join(', ') }),
  };
}

function contentOf({ answered, answer }: RecordedDetail): HarContent {
  const body = answered?.body;
  return {
    size: answer.body,
    mimeType: fieldOf(answered, 'content-type'),
    ...(body && { text: body.content }),
    ...(body?.encoding === 'base64' && { encoding: 'base64' as const }),
    ...(body?.truncated && { comment: 'truncated' }),
  };
}

/** What has not happened takes no time: `send`, `wait` and `receive` must be numbers. */
function timingsOf({ verifiedMs, sentMs, answeredMs, endedMs }: RecordedDetail): HarTimings {
  const verified = verifiedMs ?? 0;
  const sent = sentMs ?? verified;
  const answered = answeredMs ?? sent;
  return {
    blocked: verifiedMs ?? -1,
    connect: sentMs === null ? -1 : Math.max(0, sentMs - verified),
    send: 0,
    wait: Math.max(0, answered - sent),
    receive: Math.max(0, (endedMs ?? answered) - answered),
  };
}
