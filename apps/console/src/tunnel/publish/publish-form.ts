import type { HostView } from '@gatehouse/contracts';
import { numberOr } from '../clients/client-form.js';
import { usersOf } from '../policies/policy-form.js';

export const SERVICE_KINDS = ['web', 'tcp', 'udp', 'secret'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

/** Fields have the names of the API, so that its refusals find them. */
export interface PublishForm {
  kind: ServiceKind;
  client_id: string;
  target_addr: string;
  host: string;
  https: 'automatic' | 'gateway' | 'off';
  /** Empty: any free one. */
  listen_port: string;
  /** Of a tunnel; empty: none. */
  name: string;
  access: 'open' | 'password' | 'users';
  password: string;
  /** `name:password` lines. */
  users: string;
  countries: 'any' | 'only' | 'except';
  /** Codes of countries, the patterns of IP rules. */
  pattern: readonly string[];
  /** Of the client; empty: as they are. */
  rate_limit: string;
  max_conn: string;
}

export function emptyForm(clientId = '', kind: ServiceKind = 'web'): PublishForm {
  return {
    kind,
    client_id: clientId,
    target_addr: '',
    host: '',
    https: 'automatic',
    listen_port: '',
    name: '',
    access: 'open',
    password: '',
    users: '',
    countries: 'any',
    pattern: [],
    rate_limit: '',
    max_conn: '',
  };
}

/** What can protect a service of this kind: a port has no dialog that asks for names. */
export function accessChoices(kind: ServiceKind): readonly PublishForm['access'][] {
  if (kind === 'secret') return ['open'];
  return kind === 'web' ? ['open', 'password', 'users'] : ['open', 'password'];
}

export type StepName = 'create' | 'policy' | 'countries' | 'limits' | 'enable';

/** What has to be done to publish a service, in this order. Something protected is created disabled and enabled last. */
export function stepsOf(form: PublishForm): StepName[] {
  const isProtected = hasPolicy(form) || hasCountries(form);
  return [
    'create',
    ...(hasPolicy(form) ? (['policy'] as const) : []),
    ...(hasCountries(form) ? (['countries'] as const) : []),
    ...(form.rate_limit.trim() !== '' || form.max_conn.trim() !== '' ? (['limits'] as const) : []),
    ...(isProtected ? (['enable'] as const) : []),
  ];
}

function hasPolicy({ kind, access }: PublishForm): boolean {
  return access !== 'open' && accessChoices(kind).includes(access);
}

function hasCountries({ kind, countries, pattern }: PublishForm): boolean {
  return kind !== 'secret' && countries !== 'any' && pattern.length > 0;
}

/** `hosts` or `tunnels`, as the paths of the API name them. */
export function collectionOf({ kind }: Pick<PublishForm, 'kind'>): 'hosts' | 'tunnels' {
  return kind === 'web' ? 'hosts' : 'tunnels';
}

/** The host or tunnel to be created. */
export function serviceBody(form: PublishForm): Record<string, unknown> {
  const status = stepsOf(form).includes('enable') ? { status: 0 } : {};
  const common = { client_id: numberOr(form.client_id, 0), target_addr: form.target_addr.trim(), ...status };
  if (form.kind !== 'web') {
    const port = form.kind === 'secret' ? {} : { listen_port: numberOr(form.listen_port, 0) };
    const name = form.name.trim() === '' ? {} : { name: form.name.trim() };
    return { ...common, mode: form.kind, ...name, ...port };
  }
  const scheme: HostView['scheme'] = form.https === 'off' ? 'http' : 'all';
  return { ...common, host: form.host.trim(), scheme, auto_https: form.https === 'automatic' ? 1 : 0 };
}

/** @param id of the host or tunnel */
export function policyBody(form: PublishForm, id: number): Record<string, unknown> {
  const resource = { resource_type: form.kind === 'web' ? 'host' : 'tunnel', resource_id: id };
  return form.access === 'users'
    ? { ...resource, type: 'basic', users: usersOf(form.users) }
    : { ...resource, type: 'password', password: form.password };
}

/** One rule for each country. @param id of the host or tunnel */
export function ruleBodies(form: PublishForm, id: number): Record<string, unknown>[] {
  const scope = form.kind === 'web' ? 'host' : 'tunnel';
  const type = form.countries === 'only' ? 'allow' : 'deny';
  return form.pattern.map((pattern) => ({ scope, resource_id: id, type, pattern_kind: 'country', pattern }));
}

/** Changes of the client. */
export function limitsBody({ rate_limit: rate, max_conn: connections }: PublishForm): Record<string, unknown> {
  return {
    ...(rate.trim() !== '' && { rate_limit: numberOr(rate, 0) }),
    ...(connections.trim() !== '' && { max_conn: numberOr(connections, 0) }),
  };
}
