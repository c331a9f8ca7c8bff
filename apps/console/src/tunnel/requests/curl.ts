import type { HostMessageView, HostRequestDetail } from '@gatehouse/contracts';

/** Fields that curl makes itself. */
const OWN_FIELDS = /^(?:host|content-length|connection|transfer-encoding|accept-encoding|expect)$/i;

/**
 * The command for a POSIX shell that sends the request again. What was masked has to be filled in; a body that was not
 * kept is left out.
 */
export function curlOf({ method, scheme, host, path, request }: HostRequestDetail): string {
  const body = request?.body ?? null;
  const isText = body?.encoding !== 'base64';
  const parts = [
    ['curl', '--globoff', '--path-as-is', quoted(`${scheme}://${host}${path}`)].join(' '),
    ...(method === 'HEAD' ? ['--head'] : [`--request ${quoted(method)}`]),
    ...(asksForCoding(request) ? ['--compressed'] : []),
    ...fieldsOf(request),
    ...(body ? [isText ? `--data-raw ${quoted(body.content)}` : '--data-binary @-'] : []),
  ];
  const command = parts.join(' \\\n  ');
  return body && !isText ? `printf %s ${quoted(body.content)} | base64 -d | ${command}` : command;
}

function fieldsOf(request: HostMessageView | null): string[] {
  const headers = (request?.headers ?? []).filter(({ name }) => !OWN_FIELDS.test(name));
  const isTyped = headers.some(({ name }) => name.toLowerCase() === 'content-type');
  return [
    // An empty value needs another form: with a colon, curl leaves the field out.
    ...headers.map(({ name, value }) => `--header ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    // curl would add a type of its own to a body.
    ...(request?.body && !isTyped ? [`--header 'Content-Type:'`] : []),
  ];
}

function asksForCoding(request: HostMessageView | null): boolean {
  return request?.headers.some(({ name }) => name.toLowerCase() === 'accept-encoding') ?? false;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
