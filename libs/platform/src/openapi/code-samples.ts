import { isSchema, type JsonSchema } from './json-schema.js';

/** Placeholder for the address of the service; the reference page replaces it. */
export const SAMPLE_ORIGIN = 'https://gatehouse.example';

/** A request of a sample. */
interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined without one. */
  readonly body: string | undefined;
}

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** An operation in curl, TypeScript, Python and Go, with the values of its first example. */
export function codeSamples(method: string, path: string, operation: JsonSchema, security: unknown): CodeSample[] {
  const request = sampleRequest(method, path, operation, operation['security'] ?? security);
  return [
    { lang: 'Shell', label: 'curl', source: curl(request) },
    { lang: 'TypeScript', label: 'TypeScript', source: typeScript(request) },
    { lang: 'Python', label: 'Python', source: python(request) },
    { lang: 'Go', label: 'Go', source: go(request) },
  ];
}

function sampleRequest(method: string, path: string, operation: JsonSchema, security: unknown): SampleRequest {
  const parameters = (operation['parameters'] ?? []) as JsonSchema[];
  const given = parameters.map((parameter) => ({
    name: String(parameter['name']),
    place: parameter['in'],
    value: exampleOf(parameter),
    isRequired: parameter['required'] === true,
  }));
  const filled = given
    .filter(({ place }) => place === 'path')
    .reduce(
      (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(textOf(value ?? `:${name}`))),
      path,
    );
  const query = new URLSearchParams();
  for (const { name, place, value, isRequired } of given) {
    if (place === 'query' && (value !== undefined || isRequired)) query.set(name, textOf(value ?? ''));
  }
  const content = contentOf(operation['requestBody']);
  const type = content === undefined ? undefined : content['application/json'] === undefined ? FORM : JSON_TYPE;
  const body = type === undefined ? undefined : bodyText(type, exampleOf(content?.[type]));
  return {
    method: method.toUpperCase(),
    url: `${SAMPLE_ORIGIN}${filled}${query.size > 0 ? `?${query.toString()}` : ''}`,
    headers: [...credentialsOf(security), ...(type === undefined ? [] : ([['Content-Type', type]] as const))],
    body,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';

function bodyText(type: string, value: unknown): string {
  if (type === JSON_TYPE) return JSON.stringify(value ?? {}, null, 2);
  return new URLSearchParams((value ?? {}) as Record<string, string>).toString();
}

function contentOf(holder: unknown): Record<string, JsonSchema> | undefined {
  const content = isSchema(holder) ? holder['content'] : undefined;
  return isSchema(content) ? (content as Record<string, JsonSchema>) : undefined;
}

/** The first of the examples at a place. */
function exampleOf(place: JsonSchema | undefined): unknown {
  if (place === undefined) return undefined;
  const [first] = Object.values((place['examples'] ?? {}) as Record<string, JsonSchema>);
  return first === undefined ? place['example'] : first['value'];
}

const CREDENTIALS: Readonly<Record<string, readonly [string, string]>> = {
  bearer: ['Authorization', 'Bearer TOKEN'],
  api_key: ['X-API-Key', 'KEY'],
};

/** Those of the last alternative for programs: if a key and a token can be combined, both. */
function credentialsOf(security: unknown): (readonly [string, string])[] {
  const ways = (Array.isArray(security) ? security : []) as Readonly<Record<string, unknown>>[];
  const known = ways.map((way) => Object.keys(way).flatMap((name) => (CREDENTIALS[name] ? [CREDENTIALS[name]] : [])));
  return known.reduce((best, way) => (way.length > best.length ? way : best), []);
}

function curl({ method, url, headers, body }: SampleRequest): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellQuoted(url)}`,
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellQuoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function typeScript({ method, url, headers, body }: SampleRequest): string {
  const isJson = headers.some(([, value]) => value === JSON_TYPE);
  const options = [
    method === 'GET' ? undefined : `  method: '${method}',`,
    headers.length === 0
      ? undefined
      : `  headers: {\n${headers.map(([name, value]) => `    '${name}': ${JSON.stringify(value)},\n`).join('')}  },`,
    body === undefined
      ? undefined
      : `  body: ${isJson ? `JSON.stringify(${indented(body, '  ')})` : JSON.stringify(body)},`,
  ].filter((line) => line !== undefined);
  const argument = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${JSON.stringify(url)}${argument});\nconsole.log(response.status, await response.text());`;
}

function python({ method, url, headers, body }: SampleRequest): string {
  const isJson = headers.some(([, value]) => value === JSON_TYPE);
  const sent = headers.filter(([name]) => !(isJson && name === 'Content-Type'));
  const lines = [
    `    ${JSON.stringify(url)},`,
    sent.length === 0
      ? undefined
      : `    headers={\n${sent.map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join('')}    },`,
    body === undefined
      ? undefined
      : isJson
        ? `    json=${indented(pythonic(body), '    ')},`
        : `    data=${JSON.stringify(body)},`,
  ].filter((line) => line !== undefined);
  return `import requests\n\nresponse = requests.${method.toLowerCase()}(\n${lines.join('\n')}\n)\nprint(response.status_code, response.text)`;
}

/** JSON as a literal of Python. Words inside texts are not changed: only whole values are replaced. */
function pythonic(json: string): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => words[token] ?? token);
}

function go({ method, url, headers, body }: SampleRequest): string {
  const reader = body === undefined ? 'nil' : `strings.NewReader(${goText(body)})`;
  const imports = ['fmt', 'io', 'net/http', ...(body === undefined ? [] : ['strings'])];
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
\trequest, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${reader})
\tif err != nil {
\t\tpanic(err)
\t}
${headers.map(([name, value]) => `\trequest.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})\n`).join('')}\tresponse, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tpanic(err)
\t}
\tdefer response.Body.Close()
\ttext, err := io.ReadAll(response.Body)
\tif err != nil {
\t\tpanic(err)
\t}
\tfmt.Println(response.StatusCode, string(text))
}`;
}

function goText(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
