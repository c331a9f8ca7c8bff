import type { OpenAPIObject } from '@nestjs/swagger';

// The interface description as a collection of Postman, in its format 2.1. Of that format only what we use is described here.

interface Variable {
  readonly key: string;
  readonly value: string;
  readonly description?: string;
}

interface Header extends Variable {
  readonly disabled?: true;
}

interface Url {
  readonly raw: string;
  readonly host: readonly string[];
  readonly path: readonly string[];
  readonly query: readonly (Variable & { readonly disabled: boolean })[];
  readonly variable: readonly Variable[];
}

interface PostmanRequest {
  readonly method: string;
  readonly description: string;
  readonly header: readonly Header[];
  readonly url: Url;
  readonly body?: object;
}

interface Item {
  readonly name: string;
  readonly request: PostmanRequest;
  readonly response: readonly object[];
}

export interface PostmanCollection {
  readonly info: {
    readonly name: string;
    readonly description: string;
    readonly version: string;
    readonly schema: string;
  };
  readonly auth: object;
  readonly variable: readonly Variable[];
  readonly item: readonly { readonly name: string; readonly description: string; readonly item: readonly Item[] }[];
}

/** What of an operation is needed here. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly examples?: Examples }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly examples?: Examples }>> }>
  >;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly examples?: Examples;
}

type Examples = Readonly<Record<string, { readonly value: unknown }>>;

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const JSON_TYPE = 'application/json';
/** Where Postman takes the answer to a sign-in in the user's own browser. */
const CALLBACK = 'https://oauth.pstmn.io/v1/browser-callback';
const SCOPES = 'meta query unlock write vip';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The operations of the open API, in folders by tag. `baseUrl`: public address of the service. */
export function postmanCollection({ info, tags = [], paths }: OpenAPIObject, baseUrl: string): PostmanCollection {
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/open/'))
    .flatMap(([path, methods]) =>
      METHODS.flatMap((method) => found(path, method, methods[method] as Operation | undefined)),
    );
  const folders = tags.map(({ name, description = '' }) => ({
    name,
    description,
    item: operations.filter(({ tag }) => tag === name).map(({ item }) => item),
  }));
  return {
    info: { name: info.title, description: info.description ?? '', version: info.version, schema: SCHEMA },
    auth: signIn(),
    variable: variables(baseUrl),
    item: folders.filter(({ item }) => item.length > 0),
  };
}

function found(path: string, method: string, operation: Operation | undefined): { tag: string; item: Item }[] {
  if (operation === undefined) return [];
  const request = requestOf(path, method, operation);
  const item = { name: operation.summary, request, response: responsesOf(operation, request) };
  return [{ tag: operation.tags[0] ?? '', item }];
}

function requestOf(path: string, method: string, operation: Operation): PostmanRequest {
  const { parameters = [], requestBody, description } = operation;
  const [example] = Object.values(requestBody?.content[JSON_TYPE]?.examples ?? {});
  const body = example && {
    mode: 'raw',
    raw: JSON.stringify(example.value, null, 2),
    options: { raw: { language: 'json' } },
  };
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  return {
    method: method.toUpperCase(),
    description,
    header: [
      { key: 'X-API-Key', value: '{{clientSecret}}', description: 'Not for public and native applications' },
      ...(body === undefined ? [] : [{ key: 'Content-Type', value: JSON_TYPE }]),
      // Another one for each time that the request is sent.
      ...headers.map(({ name, description: about = '' }) => ({ key: name, value: '{{$guid}}', description: about })),
    ],
    url: urlOf(path, parameters),
    ...(body !== undefined && { body }),
  };
}

function urlOf(path: string, parameters: readonly Parameter[]): Url {
  const parts = path.slice(1).replaceAll(/\{(\w+)\}/g, ':$1');
  const named = (place: string): Parameter[] => parameters.filter((parameter) => parameter.in === place);
  return {
    raw: `{{baseUrl}}/${parts}`,
    host: ['{{baseUrl}}'],
    path: parts.split('/'),
    query: named('query').map((parameter) => ({ ...variableOf(parameter), disabled: parameter.required !== true })),
    variable: named('path').map(variableOf),
  };
}

function variableOf({ name, description = '', examples = {} }: Parameter): Variable {
  const value = Object.values(examples)[0]?.value ?? '';
  return { key: name, value: typeof value === 'string' ? value : JSON.stringify(value), description };
}

function responsesOf({ responses }: Operation, originalRequest: PostmanRequest): object[] {
  const examples = Object.entries(responses['200']?.content?.[JSON_TYPE]?.examples ?? {});
  return examples.map(([name, { value }]) => ({
    name,
    originalRequest,
    status: 'OK',
    code: 200,
    header: [{ key: 'Content-Type', value: JSON_TYPE }],
    body: JSON.stringify(value, null, 2),
  }));
}

/** Postman signs the user in, sends the token and refreshes it. */
function signIn(): object {
  const settings = {
    grant_type: 'authorization_code_with_pkce',
    challengeAlgorithm: 'S256',
    authUrl: '{{baseUrl}}/oauth2/authorize',
    accessTokenUrl: '{{baseUrl}}/oauth2/token',
    refreshTokenUrl: '{{baseUrl}}/oauth2/token',
    redirect_uri: '{{redirectUri}}',
    clientId: '{{clientId}}',
    clientSecret: '{{clientSecret}}',
    client_authentication: 'header',
    scope: '{{scope}}',
    tokenName: 'Gatehouse',
    addTokenTo: 'header',
    headerPrefix: 'Bearer',
  };
  const texts = Object.entries(settings).map(([key, value]) => ({ key, value, type: 'string' }));
  return { type: 'oauth2', oauth2: [...texts, { key: 'useBrowser', value: true, type: 'boolean' }] };
}

function variables(baseUrl: string): Variable[] {
  return [
    { key: 'baseUrl', value: baseUrl },
    { key: 'clientId', value: '', description: 'Of your application' },
    { key: 'clientSecret', value: '', description: 'Its secret; empty for public and native applications' },
    { key: 'redirectUri', value: CALLBACK, description: 'Register it as a redirect URI of the application' },
    { key: 'scope', value: SCOPES },
  ];
}
